import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { assertPrinted } from "./support/documentedOutput.ts"
import { outputOf, readme } from "./support/documents.ts"
import * as ExampleProcess from "./support/exampleProcess.ts"

const main = new URL("../src/rescreening/main.ts", import.meta.url)
const sample = fileURLToPath(new URL("../src/rescreening/people.csv", import.meta.url))

/** Without a variable, so with its own mock server. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(ExampleProcess.command(main, args, {}), ExampleProcess.run)

describe("rescreening", () => {
  it.scopedLive("screens the sample with the mock server, once a day, and writes the reports", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const directory = yield* files.makeTempDirectoryScoped({ prefix: "rescreening-" })
      const input = `${directory}/people.csv`
      yield* files.copyFile(sample, input)
      const first = yield* run(input)
      deepStrictEqual([first.stderr, Number(first.exitCode)], ["", 0])
      assertInclude(
        first.stdout,
        "No IDV_* variable is set: the mock server runs in this process at http://127.0.0.1:"
      )
      for (const line of ["3  no_match", "1  no_match_doubtful", "2  potential_match", "0  unknown", "4  wrong_row"]) {
        assertInclude(first.stdout, `       ${line}\n`)
      }
      const shown = "packages/examples/src/rescreening/people"
      assertPrinted(outputOf(readme("rescreening")), first.stdout.replaceAll(`${directory}/people`, shown))
      const report = yield* files.readFileString(`${directory}/people-report.csv`)
      deepStrictEqual(
        parse<Record<string, string>>(report, { columns: true }).map(({ codes, id, outcome }) => [id, outcome, codes]),
        [
          ["C-1001", "no_match", ""],
          ["C-1002", "potential_match", ""],
          ["C-1003", "potential_match", ""],
          ["C-1004", "no_match_doubtful", "name.family_name_first"],
          ["", "wrong_row", "date_of_birth.no_such_date"],
          ["", "wrong_row", "name.empty"],
          ["", "wrong_row", "id.repeated"],
          ["", "wrong_row", "columns"],
          ["C-1008", "no_match", ""],
          ["'=HYPERLINK(\"https://example.com\",\"C-1009\")", "no_match", ""]
        ]
      )
      assertInclude(yield* files.readFileString(`${directory}/people-report.html`), "<h1>Rescreening ")
      yield* run(input)
      strictEqual(yield* files.readFileString(`${directory}/people-report.csv`), report)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("says in one line how it is used", () =>
    Effect.gen(function*() {
      const { exitCode, stderr } = yield* run()
      deepStrictEqual([stderr, Number(exitCode)], ["Usage: rescreening <people.csv>\n", 1])
    }).pipe(Effect.provide(NodeContext.layer)))
})
