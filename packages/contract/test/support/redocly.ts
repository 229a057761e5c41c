/** Runs Redocly's command without network access beyond this machine. */
import { Command, FileSystem } from "@effect/platform"
import { Effect, Schema, Stream } from "effect"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import * as Contract from "../../src/Contract.ts"

const require = createRequire(import.meta.url)

/** The package does not export its command. */
const cli = join(dirname(require.resolve("@redocly/cli/package.json")), "bin/cli.js")

const offline = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1", CI: "true" }

/** The folder of the contract. It has the configuration of Redocly, and the command runs there. */
export const folder = dirname(Contract.pathOf("openapi.yaml"))

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

/** Runs the command until it ends, for at most 4 minutes. */
export const run = (...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const process = yield* Command.start(
      Command.make("node", cli, ...args).pipe(Command.env(offline), Command.workingDirectory(folder))
    )
    return yield* Effect.all(
      { stdout: text(process.stdout), stderr: text(process.stderr), exitCode: process.exitCode },
      { concurrency: "unbounded" }
    )
  })).pipe(
    Effect.timeoutFail({ duration: "4 minutes", onTimeout: () => new Error(`redocly ${args[0]} did not end`) })
  )

const Check = Schema.Struct({
  name: Schema.String,
  status: Schema.Literal("success", "error", "warn", "skipped"),
  condition: Schema.optional(Schema.String)
})

const Step = Schema.Struct({ stepId: Schema.String, checks: Schema.Array(Check) })

const Workflow = Schema.Struct({
  workflowId: Schema.String,
  status: Schema.Literal("success", "error", "warn"),
  executedSteps: Schema.Array(Step)
})

const Respected = Schema.parseJson(Schema.Struct({
  files: Schema.Record({ key: Schema.String, value: Schema.Struct({ executedWorkflows: Schema.Array(Workflow) }) })
}))

/** The result of one workflow. `failed` lists the failed checks with their steps. */
export interface Outcome {
  readonly workflow: string
  readonly isGreen: boolean
  readonly checks: number
  readonly failed: ReadonlyArray<string>
}

const outcomeOf = ({ executedSteps, status, workflowId }: typeof Workflow.Type): Outcome => ({
  workflow: workflowId,
  isGreen: status === "success",
  checks: executedSteps.flatMap(({ checks }) => checks).length,
  failed: executedSteps.flatMap(({ checks, stepId }) =>
    checks.filter(({ status }) => status === "error").map(({ condition, name }) => `${stepId}: ${condition ?? name}`)
  )
})

/** A scenario and the server to run it against. */
export interface Target {
  readonly scenario: string
  readonly url: string
}

/** Copies a scenario with other names of its servers, so that scenarios of one run can have different servers. */
const copied = (scenario: string, path: string, suffix: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const yaml = yield* fs.readFileString(Contract.pathOf(`scenarios/${scenario}.arazzo.yaml`))
    yield* fs.writeFileString(
      path,
      yaml.replaceAll(/(name: |\$sourceDescriptions\.)(idv|control)\b/g, `$1$2${suffix}`).replaceAll(
        /url: (\.{1,2}\/\S+)/g,
        (_, document: string) => `url: ${join(Contract.pathOf("scenarios"), document)}`
      )
    )
  })

/**
 * Runs scenarios in one process and returns the workflows of each. `options` are passed to the command, which can write a HAR of one scenario only.
 */
export const respect = (targets: ReadonlyArray<Target>, ...options: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const named = targets.map(({ scenario, url }, i) => ({
      scenario,
      path: `${folder}/${i}.arazzo.yaml`,
      suffix: String(i),
      url
    }))
    yield* Effect.forEach(named, ({ path, scenario, suffix }) => copied(scenario, path, suffix))
    const { exitCode, stderr, stdout } = yield* run(
      "respect",
      ...named.map(({ path }) => path),
      "--server",
      named.flatMap(({ suffix, url }) => [`idv${suffix}=${url}`, `control${suffix}=${url}`]).join(","),
      "--json-output",
      `${folder}/respect.json`,
      ...options
    )
    const { files } = yield* Effect.mapError(
      Effect.flatMap(fs.readFileString(`${folder}/respect.json`), Schema.decode(Respected)),
      (error) => new Error(`redocly respect gave no report: ${error.message}\n${stdout}${stderr}`)
    )
    const outcomes = named.map(({ path }) =>
      Object.entries(files).filter(([name]) => name.endsWith(basename(path)))
        .flatMap(([, { executedWorkflows }]) => executedWorkflows.map(outcomeOf))
    )
    return { exitCode: Number(exitCode), outcomes }
  }))

const Problem = Schema.Struct({
  ruleId: Schema.String,
  path: Schema.String,
  status: Schema.Number,
  occurrences: Schema.Number,
  dataPath: Schema.optional(Schema.String),
  details: Schema.optional(Schema.Struct({ keyword: Schema.optional(Schema.String) }))
})

const Drift = Schema.parseJson(Schema.Struct({
  run: Schema.Struct({ totalExchanges: Schema.Number, documentedExchanges: Schema.Number }),
  problems: Schema.Array(Problem)
}))

const Part = Schema.Struct({
  kind: Schema.Literal("operation", "property", "response", "parameter"),
  target: Schema.optional(Schema.Literal("request", "response")),
  status: Schema.optional(Schema.String),
  path: Schema.optional(Schema.String)
})

const Coverage = Schema.parseJson(Schema.Struct({
  operations: Schema.Array(Schema.Struct({
    operationId: Schema.String,
    covered: Schema.Array(Part),
    missing: Schema.Array(Part)
  }))
}))

/**
 * Compares traffic, a HAR file or a folder of them, with `openapi.yaml`. Returns the problems, with equal ones
 * counted once, and the coverage of the document.
 */
export const drift = (traffic: string, url: string) =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const coverage = `${yield* fs.makeTempDirectoryScoped()}/coverage.json`
    const { stdout } = yield* run(
      "drift",
      traffic,
      ...["--api", "openapi.yaml", "--server", url, "--format", "json", "--coverage-output", coverage]
    )
    return {
      ...yield* Schema.decode(Drift)(stdout),
      ...yield* Effect.flatMap(fs.readFileString(coverage), Schema.decode(Coverage))
    }
  }))
