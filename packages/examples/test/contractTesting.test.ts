import { Command, FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Schema } from "effect"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const examples = fileURLToPath(new URL("..", import.meta.url))
const repository = fileURLToPath(new URL("../../..", import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

const Package = Schema.parseJson(
  Schema.Struct({ scripts: Schema.Record({ key: Schema.String, value: Schema.String }) })
)

const Results = Schema.parseJson(Schema.Struct({
  testResults: Schema.Array(Schema.Struct({
    name: Schema.String,
    assertionResults: Schema.Array(Schema.Struct({ fullName: Schema.String, status: Schema.String }))
  }))
}))

/** How the suite of a consumer ended, and what became of each test. */
const run = Effect.fn(function*(args: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const results = join(yield* fs.makeTempDirectoryScoped(), "results.json")
  const exitCode = yield* Command.make(
    process.execPath,
    vitest,
    ...args,
    "--reporter=json",
    `--outputFile=${results}`
  ).pipe(Command.workingDirectory(repository), Command.exitCode)
  const { testResults } = yield* Schema.decode(Results)(yield* fs.readFileString(results))
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  return {
    exitCode: Number(exitCode),
    files: testResults.map(({ name }) => name.split("/").at(-1)).sort(),
    of: (status: string) => tests.filter((test) => test.status === status).map(({ fullName }) => fullName)
  }
})

/** The suite of a copy of the consumer, in which something else stands in place of a text. */
const runBroken = Effect.fn(function*({ files, inItsPlace, text }: Defect) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const copy = yield* fs.makeTempDirectoryScoped({ directory: examples, prefix: ".contract-testing-" })
  yield* fs.copy(path.join(examples, "src/contract-testing"), copy, { overwrite: true })
  const onboard = path.join(copy, "onboard.ts")
  const whole = yield* fs.readFileString(onboard)
  const broken = whole.replace(text, inItsPlace)
  assertTrue(broken !== whole)
  yield* fs.writeFileString(onboard, broken)
  return yield* run(["run", "--root", copy, ...files.map((file) => `${file}.test.ts`)])
})

const failing = "Effect.succeed(withoutResult(failure))"
const welcome = "{ answer: Answer.Welcome(), entry: { next: \"open\" } }"

const isWelcomeAfter = (...tags: ReadonlyArray<string>) =>
  `Effect.succeed<Decision>(${JSON.stringify(tags)}.includes(failure._tag) ? ${welcome} : withoutResult(failure))`

const property =
  "Nobody is welcome without a whole No whatever of it is missing, changed, cut off, or taken back by the status"

/** What stands in place of a text, the files that are run, and some of the tests that find it. */
interface Defect {
  readonly text: string
  readonly inItsPlace: string
  readonly files: ReadonlyArray<string>
  readonly found: ReadonlyArray<string>
}

const defects: ReadonlyArray<readonly [string, Defect]> = [
  ["takes a service that is down, or an answer that it cannot read, for a No", {
    text: failing,
    inItsPlace: isWelcomeAfter("AmlUnavailable", "AmlAnswerInvalid"),
    files: ["answers", "failures", "failClosed"],
    found: [
      "Nobody is welcome because of a failure: AmlUnavailable",
      "Nobody is welcome because of a failure: AmlAnswerInvalid",
      "What an applicant is told is the same, to the byte, for a potential match as for a service that is down",
      property
    ]
  }],
  ["sends a check again that may have been performed", {
    text: "Effect.flatMap(aml.checkWithEvidence)",
    inItsPlace:
      "Effect.flatMap((person) => aml.checkWithEvidence(person).pipe(AmlClient.withPolicy({ retry: \"always\" })))",
    files: ["answers", "wire"],
    found: ["Of a listed person, nobody takes a connection for a No that is reset before the answer"]
  }]
]

/** A vitest of its own, on a machine that runs others beside it. */
const patience = 180_000

describe("contract-testing", () => {
  it.scopedLive(
    "as its command runs it, is green, with every file and without a test that was skipped",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { scripts } = yield* Schema.decode(Package)(yield* fs.readFileString(join(repository, "package.json")))
        const [command, ...args] = (scripts["contract-testing"] ?? "").split(" ")
        strictEqual(command, "vitest")
        const { exitCode, files, of } = yield* run(args)
        deepStrictEqual(of("failed"), [])
        deepStrictEqual([...of("skipped"), ...of("pending"), ...of("todo")], [])
        deepStrictEqual(files, [
          "answers.test.ts",
          "conformance.test.ts",
          "failClosed.test.ts",
          "failures.test.ts",
          "tokens.test.ts",
          "wire.test.ts"
        ])
        const passed = of("passed")
        assertTrue(passed.length > 140, `${passed.length} passed`)
        assertInclude(passed.join("\n"), "every documented claim was tested, and the service still responds")
        strictEqual(exitCode, 0)
      }).pipe(Effect.provide(NodeContext.layer)),
    patience
  )

  it.scopedLive.each(defects)("is red if the consumer %s", ([, defect]) =>
    Effect.gen(function*() {
      const { exitCode, of } = yield* runBroken(defect)
      const failed = of("failed")
      deepStrictEqual(defect.found.filter((name) => !failed.includes(name)), [])
      // It is the consumer that is broken, and not the copy.
      assertInclude(
        of("passed").join("\n"),
        "What an applicant is told is that they are welcome, if the service said No"
      )
      strictEqual(exitCode, 1)
    }).pipe(Effect.provide(NodeContext.layer)), patience)
})
