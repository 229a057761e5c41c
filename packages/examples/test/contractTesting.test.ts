import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Schema } from "effect"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as VitestRun from "../../contract/test/support/vitestRun.ts"

const examples = fileURLToPath(new URL("..", import.meta.url))
const repository = fileURLToPath(new URL("../../..", import.meta.url))

const Package = Schema.parseJson(
  Schema.Struct({ scripts: Schema.Record({ key: Schema.String, value: Schema.String }) })
)

describe("contract-testing", () => {
  it.scopedLive(
    "passes with the command in package.json, with every file and no skipped test",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { scripts } = yield* Schema.decode(Package)(yield* fs.readFileString(join(repository, "package.json")))
        const [command, ...args] = (scripts["contract-testing"] ?? "").split(" ")
        strictEqual(command, "vitest")
        const { exitCode, files } = yield* VitestRun.run(repository, args)
        const tests = files.flatMap(({ assertionResults }) => assertionResults)
        deepStrictEqual(tests.filter(({ status }) => status !== "passed").map(({ fullName }) => fullName), [])
        // The README shows each file with its number of tests.
        const readme = yield* fs.readFileString(join(examples, "src/contract-testing/README.md"))
        const shown = Array.from(readme.matchAll(/✓ (\S+ \(\d+ tests)/g), ([, file]) => file)
        const printed = files.map(({ assertionResults, name }) =>
          `${name.split("/contract-testing/").at(-1)} (${assertionResults.length} tests`
        )
        deepStrictEqual(printed.sort(), shown.sort())
        deepStrictEqual(files.length, 8)
        assertInclude(readme, `Tests  ${tests.length} passed (${tests.length})`)
        assertInclude(
          tests.map(({ fullName }) => fullName).join("\n"),
          "every documented claim was tested, and the service still responds"
        )
        strictEqual(exitCode, 0)
      }).pipe(Effect.provide(NodeContext.layer))
  )
})
