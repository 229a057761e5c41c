/** `bench [name…] [--people number] [--json file]`: runs all benchmarks, or the named ones. */
import { type CommandExecutor, FileSystem } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Data, Duration, Effect, identity, Schema, type Scope } from "effect"
import { cpus, loadavg } from "node:os"
import { parseArgs } from "node:util"
import { check } from "./check.ts"
import { coldStart } from "./coldStart.ts"
import { jobEngines } from "./engines.ts"
import { importCost } from "./importCost.ts"
import { mockServer, mockServerMemory, mockServerPages, mockServerPeers } from "./mockServer.ts"
import { refresh } from "./refresh.ts"
import { rescreening, rescreeningWorkers } from "./rescreening.ts"
import { People, screening } from "./screening.ts"
import * as Report from "./support/Report.ts"
import { tokenRead } from "./tokenRead.ts"

const benchmarks = { check, tokenRead, coldStart, refresh, screening, importCost, mockServer }

/** Run only by name, because they take a minute or more, or need programs that npm does not have. */
const others = { mockServerPeers, mockServerMemory, mockServerPages, rescreening, rescreeningWorkers, jobEngines }

class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

const all = { ...benchmarks, ...others }

const usage = `Usage: bench [${Object.keys(all).join("|")}]… [--people number] [--json file]`

const isKnown = (name: string): name is keyof typeof all => name in all

const options = { json: { type: "string" }, people: { type: "string" } } as const

/** Decodes the number of people in the long run of `screening`. */
const decodePeople = Schema.decode(Schema.UndefinedOr(
  Schema.compose(Schema.NumberFromString, Schema.Int.pipe(Schema.greaterThanOrEqualTo(10)))
))

const parsedArguments = Effect.try(() => parseArgs({ allowPositionals: true, options })).pipe(
  Effect.flatMap(({ positionals, values: { json, people } }) =>
    Effect.map(decodePeople(people), (people) => ({
      names: positionals.length === 0 ? Object.keys(benchmarks) : positionals,
      json,
      people
    }))
  ),
  Effect.filterOrFail(({ names }) => names.every(isKnown)),
  Effect.mapError(() => new UsageError({ message: usage }))
)

const machine = () =>
  `Node ${process.version} on ${cpus().length} cores of ${cpus()[0]?.model ?? "an unknown processor"}`

/** The processes that wanted a core before the benchmarks started, per core, above which there are no verdicts. */
const maxLoad = 0.5

Effect.gen(function*() {
  const { json, names, people } = yield* parsedArguments
  const [load = 0] = loadavg()
  const isBusy = load > maxLoad * cpus().length
  yield* Console.log(
    `${machine()}, with a load of ${Report.number(load)} before${isBusy ? ": too busy for a verdict" : ""}
Median of the rounds (minimum–maximum). Compare only figures of the same run.`
  )
  const reports = yield* Effect.forEach(
    names.filter(isKnown),
    (name) =>
      Effect.scoped<Report.Report, unknown, Scope.Scope | CommandExecutor.CommandExecutor | FileSystem.FileSystem>(
        all[name]
      ).pipe(
        Effect.timed,
        Effect.tap(([took, report]) =>
          Console.log(
            `\n${name} (${Math.round(Duration.toSeconds(took))} s)\n${Report.print(report, isBusy)}`
          )
        ),
        Effect.map(([, report]) => ({ name, ...report }))
      )
  ).pipe(people === undefined ? identity : Effect.provideService(People, people))
  yield* Console.log(`\n${Report.printGoals(reports, isBusy)}`)
  if (json === undefined) return
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(json, JSON.stringify({ machine: machine(), load, reports }, undefined, 2))
}).pipe(
  Effect.provide(NodeContext.layer),
  Effect.tapErrorCause((cause) => {
    const error = Cause.squash(cause)
    return Console.error(error instanceof UsageError ? error.message : Cause.pretty(cause))
  }),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
