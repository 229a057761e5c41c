/** The suite of the example by its command, and against its consumer with a defect: a minute of processor time. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Schema } from "effect"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as VitestRun from "../../contract/test/support/vitestRun.ts"

const examples = fileURLToPath(new URL("..", import.meta.url))
const repository = fileURLToPath(new URL("../../..", import.meta.url))

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
  return yield* VitestRun.run(repository, ["run", "--root", root, ...files])
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

  it.scopedLive("fails for each defect of the consumer, and names the tests that detect it", () =>
    Effect.gen(function*() {
      const { exitCode, files } = yield* runWithDefects
      const of = (status: string, folder: string) =>
        files.filter(({ name }) => name.includes(folder)).flatMap(({ assertionResults }) => assertionResults)
          .filter((test) => test.status === status).map(({ fullName }) => fullName)
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
