/** The test persons of a sandbox, and what a run with them plans. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Effect, Either } from "effect"
import { captured } from "../../mock-server/test/support/captured.ts"
import { main } from "../src/main.ts"

const words = ["verify", "--target", "sandbox", "--auth-url", "http://127.0.0.1:1", "--dry-run"]

const run = (...more: ReadonlyArray<string>) =>
  Effect.map(captured(Effect.either(main([...words, ...more], "0"))), ({ stderr, stdout, value }) => ({
    stdout: stdout.join("\n"),
    stderr: stderr.join("\n"),
    error: Either.isLeft(value) && value.left instanceof Error ? value.left.message : ""
  })).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(
    new Map([["IDV_CUSTOMER_ID", "customer"], ["IDV_CUSTOMER_KEY", "canary-key"]])
  )))

const withFile = (text: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/persons.yaml`
    yield* fs.writeFileString(path, text)
    const { error, stdout } = yield* run("--persons", path)
    return { stdout, error: error.replace(path, "persons.yaml") }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

const listed = "- { name: Vera Canary, dob: 1990-02-01, match_found: Potential match }\n"

describe("verify --dry-run", () => {
  it.live("prints the plan and sends nothing", () =>
    Effect.gen(function*() {
      const { error, stderr, stdout } = yield* run()
      deepStrictEqual([error, stderr], ["", ""])
      assert(
        /^Plan: at most 60 requests, \d+ checks that may be billed, 2 wrong credentials, 12 bad tokens, about 30 s\n/
          .test(
            stdout
          ),
        stdout
      )
      assertInclude(stdout, "cases: needs a listed test person (--person)\n")
    }))

  it.live("counts the test persons of the flags, and names none", () =>
    Effect.gen(function*() {
      const { error, stdout } = yield* run(
        "--person",
        "Vera Canary|1990-02-01|Potential match",
        "--person",
        "Karl|30-11-1985|No"
      )
      strictEqual(error, "")
      assertInclude(stdout, "about 2 test persons of yours, and fictional people")
      strictEqual(/needs a listed|Canary|1990/.test(stdout), false)
    }))

  it.live("accepts a file of test persons", () =>
    Effect.gen(function*() {
      const { error, stdout } = yield* withFile(
        `# ours\n${listed}- name: Karl\n  dob: "30-11-1985"\n  match_found: "No"\n`
      )
      strictEqual(error, "")
      assertInclude(stdout, "about 2 test persons of yours")
    }))
})

describe("A wrong test person", () => {
  const row = "\"Name|1990-02-01|Potential match\" or \"Name|1990-02-01|No\""
  it.live.each<[string, string]>([
    ["Canary|1990-02-01", `--person should be ${row}`],
    ["Canary|1990-02-31|No", "--person dob is invalid: expected a date of birth such as 1990-02-01"],
    ["Canary|01/02/1990|No", "--person dob is invalid: expected a date of birth such as 1990-02-01"],
    ["Canary|1990-02-01|Yes", "--person match_found is invalid: expected one of Potential match, No"],
    ["|1990-02-01|No", "--person name is invalid: expected a name"],
    [
      "Canary|1990-02-01|No",
      "--person: no match_found is Potential match, and without a listed person nothing about it can be tested"
    ]
  ])(
    "%s is named by its field",
    ([person, message]) => Effect.map(run("--person", person), ({ error }) => strictEqual(error, message))
  )

  it.live("is in a file that can be read", () =>
    Effect.map(
      run("--persons", "/no/such.yaml"),
      ({ error }) => strictEqual(error, "--persons: the file does not exist")
    ))

  it.live.each<[string, string]>([
    [
      `${listed}- { name: Canary, dob: 1990-13-01, match_found: "No" }\n`,
      "line 2: dob is invalid: expected a date of birth such as 1990-02-01"
    ],
    [
      `${listed}\n\n- { name: Canary, dob: 1990-12-01, match_found: No match }\n`,
      "line 4: match_found is invalid: expected one of Potential match, No"
    ],
    [
      `${listed}- name: Canary\n  match_found: "No"\n`,
      "line 2: dob is missing: expected a date of birth such as 1990-02-01"
    ],
    [`${listed}- { name: Canary, dob: 1990-12-01, match_found: "No", note: x }\n`, "line 2: note is unexpected"],
    ["- [\n", "should be a YAML list of persons, each with name, dob and match_found"],
    [
      `${listed}- { name: Vera Canary, dob: 01-02-1990, match_found: "No" }\n`,
      "line 2: match_found differs from that of the same person before"
    ],
    ["[]\n", ": no match_found is Potential match, and without a listed person nothing about it can be tested"]
  ])("of a file is named by its line and field: %#", ([text, message]) =>
    Effect.map(withFile(text), ({ error }) => {
      assertInclude(error, "--persons persons.yaml")
      assertInclude(error, message)
      strictEqual(/canary|1990-1/i.test(error), false)
    }))
})
