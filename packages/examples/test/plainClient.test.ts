import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../src/contract-testing/plain/main.ts", import.meta.url))

describe("The example of a client without Effect", () => {
  it.scopedLive(
    "has one green run, and a red one for each of six bugs that its own check catches",
    () =>
      Effect.gen(function*() {
        const text = yield* Command.string(Command.make(process.execPath, "--import", "tsx/esm", main))
        const [first, ...others] = text.trimEnd().split("\n")
        deepStrictEqual(first, "✓ green  correct client: all six checks pass")
        deepStrictEqual(others.length, 6)
        const missed = others.filter((line) => {
          const [, bug = "", caughtBy = ""] = /^✗ red {2}(.+): caught by (.+)$/.exec(line) ?? []
          return bug === "" || !caughtBy.split(", ").includes(bug)
        })
        deepStrictEqual(missed, [])
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )
})
