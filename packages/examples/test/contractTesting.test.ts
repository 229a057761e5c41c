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

/** Runs vitest, and returns its exit code, the files, and the names of the tests with a status. */
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
  const tests = testResults.flatMap(({ assertionResults, name }) =>
    assertionResults.map(({ fullName, status }) => ({ fullName, name, status }))
  )
  return {
    exitCode: Number(exitCode),
    // As vitest prints them, without the number of skipped tests.
    files: testResults.map(({ assertionResults, name }) =>
      `${name.split("/contract-testing/").at(-1)} (${assertionResults.length} tests`
    ).sort(),
    /** The names of the tests with this status, of all files or of those in a folder. */
    of: (status: string, folder = "") =>
      tests.filter((test) => test.status === status && test.name.includes(folder)).map(({ fullName }) => fullName)
  }
})

/** Runs the suite on a copy of the consumer for each defect, all in one process: in a folder with the index of the defect. */
const runWithDefects = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs.makeTempDirectoryScoped({ directory: examples, prefix: ".contract-testing-" })
  for (const [index, [, { replacement, text }]] of defects.entries()) {
    const copy = path.join(root, String(index))
    yield* fs.copy(path.join(examples, "src/contract-testing"), copy, { overwrite: true })
    const onboard = path.join(copy, "onboard.ts")
    const original = yield* fs.readFileString(onboard)
    const defective = original.replace(text, replacement)
    assertTrue(defective !== original)
    yield* fs.writeFileString(onboard, defective)
  }
  yield* fs.copyFile(path.join(examples, "src/contract-testing/vitest.config.ts"), path.join(root, "vitest.config.ts"))
  const files = defects.flatMap(([, { files }], index) =>
    files.map((file) => path.join(root, String(index), `${file}.test.ts`))
  )
  return yield* run(["run", "--root", root, ...files])
})

const failing = "Effect.succeed(fromFailure(failure))"
const welcome = "{ message: Message.Welcome(), entry: { next: \"open\" } }"

const welcomesAfter = (...tags: ReadonlyArray<string>) =>
  `Effect.succeed<Decision>(${JSON.stringify(tags)}.includes(failure._tag) ? ${welcome} : fromFailure(failure))`

const property = "An applicant is welcomed only after a complete No " +
  "and not if a part is missing, changed or truncated, or the status is not a success"

/** A change of the consumer that its suite must detect. */
interface Defect {
  /** The source text to replace. */
  readonly text: string
  readonly replacement: string
  /** The test files to run. */
  readonly files: ReadonlyArray<string>
  /** Some of the tests that must fail. */
  readonly detectedBy: ReadonlyArray<string>
}

const defects: ReadonlyArray<readonly [string, Defect]> = [
  ["welcomes an applicant after an outage or an invalid response", {
    text: failing,
    replacement: welcomesAfter("AmlUnavailable", "AmlResponseInvalid"),
    files: ["messages", "failures", "failClosed"],
    detectedBy: [
      "No failure welcomes an applicant: AmlUnavailable",
      "No failure welcomes an applicant: AmlResponseInvalid",
      "The message to an applicant is byte-identical for a potential match and for an outage of the service",
      property
    ]
  }],
  ["retries a check that the service may have performed", {
    text: "Effect.flatMap(aml.check)",
    replacement: "Effect.flatMap((person) => aml.check(person).pipe(AmlClient.withPolicy({ retry: \"always\" })))",
    files: ["messages", "wire"],
    detectedBy: ["A potential match never becomes a No over a connection that is reset before the response"]
  }]
]

describe("contract-testing", () => {
  it.scopedLive(
    "passes with the command in package.json, with every file and no skipped test",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { scripts } = yield* Schema.decode(Package)(yield* fs.readFileString(join(repository, "package.json")))
        const [command, ...args] = (scripts["contract-testing"] ?? "").split(" ")
        strictEqual(command, "vitest")
        const { exitCode, files, of } = yield* run(args)
        deepStrictEqual(of("failed"), [])
        // Cases that cannot apply to a test customer with an opaque token, such as those of a JWT.
        const skipped = [...of("skipped"), ...of("pending"), ...of("todo")]
        deepStrictEqual(skipped.filter((name) => !/(token|aml)\.(key|id|authorization|searched-on)\./.test(name)), [])
        assertTrue(skipped.length < 25, `${skipped.length} skipped`)
        // The README shows each file with its number of tests.
        const readme = yield* fs.readFileString(join(examples, "src/contract-testing/README.md"))
        const shown = Array.from(readme.matchAll(/✓ (\S+ \(\d+ tests)/g), ([, file]) => file)
        deepStrictEqual(files, shown.sort())
        deepStrictEqual(files.length, 8)
        const passed = of("passed")
        assertInclude(readme, `skipped (${passed.length + skipped.length})`)
        assertInclude(passed.join("\n"), "every documented claim was tested, and the service still responds")
        strictEqual(exitCode, 0)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("fails for each defect of the consumer, and names the tests that detect it", () =>
    Effect.gen(function*() {
      const { exitCode, of } = yield* runWithDefects
      for (const [index, [defect, { detectedBy }]] of defects.entries()) {
        const failed = of("failed", `/${index}/`)
        deepStrictEqual([defect, detectedBy.filter((name) => !failed.includes(name))], [defect, []])
        // Shows that the consumer failed, and not the copy.
        assertInclude(
          of("passed", `/${index}/`).join("\n"),
          "The message to an applicant is a welcome if the service returned No"
        )
      }
      strictEqual(exitCode, 1)
    }).pipe(Effect.provide(NodeContext.layer)))
})
