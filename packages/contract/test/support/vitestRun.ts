/** Runs vitest as a process, as a team does that tests its own service. */
import { Command, FileSystem, Path } from "@effect/platform"
import { Effect, Schema } from "effect"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

const Results = Schema.parseJson(Schema.Struct({
  testResults: Schema.NonEmptyArray(Schema.Struct({
    name: Schema.String,
    assertionResults: Schema.Array(Schema.Struct({
      ancestorTitles: Schema.Array(Schema.String),
      fullName: Schema.String,
      title: Schema.String,
      status: Schema.String,
      failureMessages: Schema.optional(Schema.NullOr(Schema.Array(Schema.String)))
    }))
  }))
}))

/** The exit code, and each file with its tests. */
export const run = Effect.fn(function*(folder: string, args: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const results = path.join(yield* fs.makeTempDirectoryScoped(), "results.json")
  const exitCode = yield* Command.make(
    process.execPath,
    vitest,
    ...args,
    "--reporter=json",
    `--outputFile=${results}`
  ).pipe(Command.workingDirectory(folder), Command.exitCode)
  const { testResults } = yield* Schema.decode(Results)(yield* fs.readFileString(results))
  return { exitCode: Number(exitCode), files: testResults }
})
