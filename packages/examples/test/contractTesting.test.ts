import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
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
        const of = (status: string) =>
          files.flatMap(({ assertionResults }) => assertionResults).filter((test) => test.status === status)
            .map(({ fullName }) => fullName)
        deepStrictEqual(of("failed"), [])
        // Cases that cannot apply to a test customer with an opaque token, such as those of a JWT.
        const skipped = [...of("skipped"), ...of("pending"), ...of("todo")]
        deepStrictEqual(skipped.filter((name) => !/(token|aml)\.(key|id|authorization|searched-on)\./.test(name)), [])
        assertTrue(skipped.length < 25, `${skipped.length} skipped`)
        // The README shows each file with its number of tests.
        const readme = yield* fs.readFileString(join(examples, "src/contract-testing/README.md"))
        const shown = Array.from(readme.matchAll(/✓ (\S+ \(\d+ tests)/g), ([, file]) => file)
        // As vitest prints them, without the number of skipped tests.
        const printed = files.map(({ assertionResults, name }) =>
          `${name.split("/contract-testing/").at(-1)} (${assertionResults.length} tests`
        )
        deepStrictEqual(printed.sort(), shown.sort())
        deepStrictEqual(files.length, 8)
        const passed = of("passed")
        assertInclude(readme, `skipped (${passed.length + skipped.length})`)
        assertInclude(passed.join("\n"), "every documented claim was tested, and the service still responds")
        strictEqual(exitCode, 0)
      }).pipe(Effect.provide(NodeContext.layer))
  )
})
