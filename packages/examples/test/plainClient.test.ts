import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { documents } from "./support/documents.ts"

const main = fileURLToPath(new URL("../src/contract-testing/plain/main.ts", import.meta.url))

describe("The example of a client without Effect", () => {
  it.scopedLive(
    "passes its tests, which find each of six bugs, and the README shows the output",
    () =>
      Effect.gen(function*() {
        const text = yield* Command.string(Command.make(process.execPath, "--import", "tsx/esm", main))
        const shown = documents.find(({ path }) => path.endsWith("contract-testing/README.md"))?.snippets
          .find(({ code }) => code.includes("correct client"))
        deepStrictEqual(text.trimEnd(), shown?.code.trimEnd())
        deepStrictEqual(text.match(/^✓ correct client: /gm)?.length, 1)
        deepStrictEqual(text.match(/^✗ .+: found by the /gm)?.length, 6)
      }).pipe(Effect.provide(NodeContext.layer))
  )
})
