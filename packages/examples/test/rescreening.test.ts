import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertFalse, assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { counted, directory, header, noVariables, run, service, withTsx } from "./support/rescreeningRuns.ts"

const sample = readFileSync(new URL("../src/rescreening/people.csv", import.meta.url))

const file = (...rows: ReadonlyArray<string>) => [header, ...rows, ""].join("\n")

const ada = "1,Ada Testclear,1990-02-01"
const zoe = "2,Zoë Testpep,1957-03-14"

describe("rescreening", () => {
  it.scopedLive("as a command, without variables, screens the sample with its own mock server", () =>
    Effect.gen(function*() {
      const at = yield* directory(sample)
      const { exitCode, stderr, stdout } = yield* run([at.input], noVariables, withTsx)
      strictEqual(stderr, "")
      assertInclude(stdout, "No IDV_* variable is set: this is the mock server, in this process, at http://127.0.0.1:")
      assertInclude(stdout, "Reconciliation of 10 rows:")
      strictEqual(counted(stdout, "no match"), 3)
      strictEqual(counted(stdout, "no match, of a doubtful name"), 1)
      strictEqual(counted(stdout, "potential match"), 2)
      strictEqual(counted(stdout, "wrong rows"), 4)
      strictEqual(counted(stdout, "checks begun"), 6)
      strictEqual(exitCode, 2)
      deepStrictEqual(
        (yield* at.csv).map(({ codes, id, line, match_found, outcome }) => [line, id, outcome, match_found, codes]),
        [
          ["2", "C-1001", "no_match", "No", ""],
          ["3", "C-1002", "potential_match", "Potential match", ""],
          ["4", "C-1003", "potential_match", "Potential match", ""],
          ["5", "C-1004", "no_match_doubtful", "No", "name.family_name_first"],
          ["6", "", "wrong_row", "", "date_of_birth.no_such_date"],
          ["7", "", "wrong_row", "", "name.empty"],
          ["8", "", "wrong_row", "", "id.repeated"],
          ["9", "", "wrong_row", "", "columns"],
          ["10", "C-1008", "no_match", "No", ""],
          ["11", "'=HYPERLINK(\"https://example.com\",\"C-1009\")", "no_match", "No", ""]
        ]
      )
      deepStrictEqual(yield* at.listing, [
        "people-report.csv",
        "people-report.jsonl",
        "people-report.record.jsonl",
        "people.csv"
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.each<[string, string, number]>([
    ["nobody is a match", file(ada), 0],
    ["there is a potential match", file(ada, zoe), 10],
    ["there is no match of a doubtful name", file(ada, "2,\"Testclear, Bob\",1990-02-01"), 10],
    ["somebody has no result, whatever else there is", file(ada, zoe, "3,Bo Test500,1990-02-01"), 2],
    ["there is a wrong row, whatever else there is", file(ada, zoe, "3,Bo,1990-02-31"), 2]
  ])("the exit code says whether %s", ([, csv, expected]) =>
    Effect.gen(function*() {
      const at = yield* directory(csv)
      const { variables } = yield* service()
      const { exitCode, stdout } = yield* run([at.input], variables)
      assertInclude(stdout, "Written: ")
      strictEqual(exitCode, expected)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("each wrong row is told with its line and its code, and stops nobody else", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<readonly [string, string]> = [
        ["1,Ada Testclear,1990-02-01", ""],
        ["2,Ada Testclear,01.02.1990", "date_of_birth.format"],
        ["3,Ada Testclear,1990-02-31", "date_of_birth.no_such_date"],
        ["4,Ada Testclear,2990-02-01", "date_of_birth.in_future"],
        ["5,,1990-02-01", "name.empty"],
        ["6,\"  \",", "name.empty date_of_birth.format"],
        ["7,N/A,1990-02-01", "name.placeholder"],
        ["8,Ada\u0007,1990-02-01", "name.control_character"],
        ["9,Ada Testclear", "columns"],
        ["10,Ada,Testclear,1990-02-01", "columns"],
        ["11;Ada Testclear;1990-02-01", "columns"],
        ["12,\"Ada Testclear,1990-02-01", "quotes"],
        ["13,Ada \"T\" Testclear,1990-02-01", "quotes"],
        ["14,\"Ada\" Testclear,1990-02-01", "quotes"],
        [",Ada Testclear,1990-02-01", "id.empty"],
        ["1,Ada Testclear,1990-02-01", "id.repeated"],
        [`${"9".repeat(256)},Ada Testclear,1990-02-01`, "id.too_long"],
        ["18,Ada Testclear\u001a,1990-02-01", "name.control_character"],
        ["19,Ada Testclear,1990-02-01\u001a", "date_of_birth.format"],
        ["Testpep, Zoë,1957-03-14", "id.format"],
        ["Zoë Testpep 2,Zoë,1957-03-14", "id.format"],
        ["=SUM(A),Ada Testclear,1990-02-01", "id.format"],
        [" 20 , \"Ada \"\"T\"\" Testclear\" , 1990-02-01 ", ""],
        ["", ""],
        ["21,Last Testclear,1990-02-01", ""]
      ]
      const text = [`\ufeff${header}`, ...rows.map(([row]) => row), "\u001a"].join("\r\n")
      const at = yield* directory(text)
      const { asked, variables } = yield* service()
      const { exitCode, stdout } = yield* run([at.input], variables)
      strictEqual(exitCode, 2)
      deepStrictEqual(
        (yield* at.csv).map(({ codes, line, outcome }) => [line, outcome, codes]),
        rows.map(([row, codes], index) => [String(index + 2), codes === "" ? "no_match" : "wrong_row", codes, row])
          .filter(([, , , row]) => row !== "").map((row) => row.slice(0, 3))
      )
      deepStrictEqual(asked.names.toSorted(), ["Ada \"T\" Testclear", "Ada Testclear", "Last Testclear"])
      assertInclude(stdout, "Reconciliation of 24 rows:")
      strictEqual(counted(stdout, "wrong rows"), 21)
      strictEqual(counted(stdout, "no match"), 3)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("the last person is not lost to the 0x1A that ends the file", () =>
    Effect.gen(function*() {
      const at = yield* directory(`${header}\r\n${zoe}\u001a`)
      const { variables } = yield* service()
      strictEqual((yield* run([at.input], variables)).exitCode, 10)
      deepStrictEqual((yield* at.csv).map(({ id, outcome }) => [id, outcome]), [["2", "potential_match"]])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("a quote that is never closed costs its own line, and not those after it", () =>
    Effect.gen(function*() {
      const at = yield* directory(file(`1,"Ada Testclear,1990-02-01`, `2,Zoë Testpep,1957-03-14`, `3,"Bob,1990-02-01`))
      const { asked, variables } = yield* service()
      yield* run([at.input], variables)
      deepStrictEqual(asked.names, ["Zoë Testpep"])
      deepStrictEqual((yield* at.csv).map(({ outcome }) => outcome), ["wrong_row", "potential_match", "wrong_row"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.each<[string, string, string]>([
    ["is not there", "1,Canary Testpep,1957-03-14\n", "the first line should be id,name,date_of_birth"],
    [
      "has other columns",
      "id,date_of_birth,name\n1,1957-03-14,Canary\n",
      "the first line should be id,name,date_of_birth"
    ],
    [
      "has another separator",
      "id;name;date_of_birth\n1;Canary;1957\n",
      "the first line should be id,name,date_of_birth"
    ],
    ["belongs to an empty file", "", "the first line should be id,name,date_of_birth"],
    ["has nobody after it", `${header}\r\n\r\n\u001a`, "there is nobody in it"]
  ])("a header that %s is one line, before anything is sent or written", ([, csv, expected]) =>
    Effect.gen(function*() {
      const at = yield* directory(csv)
      const { asked, variables } = yield* service()
      const { exitCode, stderr, stdout } = yield* run([at.input], variables)
      strictEqual(stderr, `${at.input}: ${expected}\n`)
      strictEqual(stdout, "")
      strictEqual(exitCode, 1)
      deepStrictEqual([asked.tokens, asked.names], [0, []])
      deepStrictEqual(yield* at.listing, ["people.csv"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("no cell of the CSV report begins a formula, and the JSON lines have the id as it is", () =>
    Effect.gen(function*() {
      const ids = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "=HYPERLINK(A)"]
      const at = yield* directory(file(...ids.map((id) => `${id},Ada Testclear,1990-02-01`)))
      const { variables } = yield* service()
      yield* run([at.input, "--id-pattern", ".*"], variables)
      deepStrictEqual((yield* at.csv).map(({ id }) => id), ids.map((id) => `'${id}`))
      deepStrictEqual(
        (yield* at.jsonl).trim().split("\n").map((line) => /"id":"(.*?)"/.exec(line)?.[1]),
        ids
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.each<[string, ReadonlyArray<string>]>([
    ["no file", []],
    ["two files", ["a.csv", "b.csv"]],
    ["an unknown option", ["a.csv", "--canary"]],
    ["a concurrency of 0", ["a.csv", "--concurrency", "0"]],
    ["a rate that is no number", ["a.csv", "--rate", "fast"]]
  ])("%s is one line of usage", ([, args]) =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run(args, noVariables)
      strictEqual(
        stderr,
        "Usage: rescreening <people.csv> [--out <path>] [--concurrency 10] [--rate 50] [--stop-after 50] " +
          "[--id-pattern <regex>]\n"
      )
      strictEqual(stdout, "")
      strictEqual(exitCode, 1)
    }))

  it.scopedLive("what is there already is not overwritten, be it the input", () =>
    Effect.gen(function*() {
      const at = yield* directory(file(ada))
      const { asked, variables } = yield* service()
      const overInput = yield* run([at.input, "--out", `${at.path}/people`], variables)
      strictEqual(overInput.stderr, `The report would overwrite ${at.input}: choose another --out\n`)
      yield* at.files.writeFileString(`${at.path}/people-report.csv`, "mine")
      const overOther = yield* run([at.input], variables)
      strictEqual(overOther.stderr, `${at.path}/people-report.csv is there already: choose another --out\n`)
      deepStrictEqual([overInput.exitCode, overOther.exitCode, asked.names.length], [1, 1, 0])
      strictEqual(yield* at.csvText, "mine")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("neither names nor dates of birth are in anything that is written or printed", () =>
    Effect.gen(function*() {
      const people = ["Testclear", "Testpep", "Test500", "Testecho", "Testempty", "Testreset", "Testunknown"]
      const at = yield* directory(file(
        ...people.map((lastWord, index) => `${index},Canary${index} ${lastWord},1977-06-05`),
        "Canary8 Testpep,1977-06-05",
        "9,Canary9 \"x\" Testpep,1977-06-05",
        "10,Canary10 Testpep,05.06.1977",
        "11,Canary11\u0007,1977-06-05",
        "Canary, Testpep,1977-06-05",
        "1977-06-05,Canary Testpep,12"
      ))
      const { asked, variables } = yield* service()
      const { stderr, stdout } = yield* run([at.input], variables)
      strictEqual(asked.names.length, people.length)
      const written = [yield* at.csvText, yield* at.jsonl, yield* at.record, stdout, stderr].join("\n")
      for (const canary of ["anary", "1977-06-05", "05-06-1977", "05.06.1977", "demo-key"]) {
        assertFalse(written.includes(canary), `${canary} is told`)
      }
    }).pipe(Effect.provide(NodeContext.layer)))
})
