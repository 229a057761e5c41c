/** Measures the first checks of a process, one and many concurrently. */
import { Duration, Effect, Record, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"

/** Milliseconds until the first and the last credential. */
const ColdStart = Schema.Struct({ first: Schema.Number, last: Schema.Number })

export interface ColdStart extends Schema.Schema.Type<typeof ColdStart> {}

const fibers = 10_000

const titles = {
  fetched: "fetch a token, fetch a check",
  client: "AmlClient.check, once",
  deep: "the same, over FetchHttpClient.layer, with deep imports",
  bundled: "the same, bundled",
  waiting: `${fibers} fibers that only wait for a timer`,
  many: `AmlClient.check in ${fibers} fibers`
}

type Alternative = keyof typeof titles

const rounds = 4
const manyRounds = 2

export const coldStart = Effect.gen(function*() {
  const url = yield* Stub.start()
  const runFetch = yield* Program.compileJsonProgram("workloads/coldStartFetch.ts", ColdStart)
  const run = yield* Program.compileJsonProgram("workloads/coldStart.ts", ColdStart)
  const runDeep = yield* Program.compileJsonProgram("workloads/coldStartDeep.ts", ColdStart)
  const runBundled = yield* Program.bundleJsonProgram("workloads/coldStartDeep.ts", ColdStart)
  const measure = <E, R>(run: Effect.Effect<ColdStart, E, R>) =>
    Effect.gen(function*() {
      const before = yield* Stub.counts(url)
      const [took, result] = yield* Effect.timed(run)
      const after = yield* Stub.counts(url)
      return { ...result, process: Duration.toMillis(took), tokens: after.tokens - before.tokens }
    })
  const once = {
    fetched: measure(runFetch(url)),
    client: measure(run("client", url, "1")),
    deep: measure(runDeep(url)),
    bundled: measure(runBundled(url))
  }
  const concurrent = {
    waiting: measure(run("waiting", url, String(fibers))),
    many: measure(run("client", url, String(fibers)))
  }
  // Warms the file cache.
  yield* Rounds.run(1, once)
  const measured = { ...(yield* Rounds.run(rounds, once)), ...(yield* Rounds.run(manyRounds, concurrent)) }
  type Field = "first" | "last" | "process" | "tokens"
  const values = (name: Alternative, field: Field) => measured[name].map((result) => result[field])
  const range = (name: Alternative, field: Field) => Report.range(Report.spread(values(name, field)))

  const report: Report.Report = {
    columns: [
      "in a new process",
      "first credential ms",
      "last credential ms",
      "whole process ms",
      "token requests"
    ],
    cells: Record.toEntries(titles).map(([name, title]) => [
      title,
      range(name, "first"),
      range(name, "last"),
      range(name, "process"),
      range(name, "tokens")
    ]),
    goals: [
      {
        what: "First credential of one check, relative to fetch, without imports",
        measured: Report.ratio(values("client", "first"), values("fetched", "first")),
        is: "at most",
        limit: 1.5,
        unit: "×",
        reason: "An earlier CPU profile: the first, uncompiled run of Effect's fiber runtime, layers and schemas"
      },
      {
        what: "The whole process with one check over fetch, with deep imports, relative to fetch",
        measured: Report.ratio(values("deep", "process"), values("fetched", "process")),
        is: "at most",
        limit: 3,
        unit: "×",
        reason: "importCost shows the time of the imports, most of which are modules of effect"
      },
      {
        what: "The same, bundled",
        measured: Report.ratio(values("bundled", "process"), values("fetched", "process")),
        is: "at most",
        limit: 1.6,
        unit: "×",
        reason: "An earlier CPU profile: the first, uncompiled run of Effect's fiber runtime, layers and schemas"
      },
      {
        what: `First credential of ${fibers} fibers, relative to as many that only wait for a timer`,
        measured: Report.ratio(values("many", "first"), values("waiting", "first")),
        is: "at most",
        limit: 2,
        unit: "×",
        reason: "Effect starts all fibers before a response is read"
      },
      {
        what: `Token requests of ${fibers} concurrent fibers`,
        measured: Report.spread(values("many", "tokens")),
        is: "at most",
        limit: 1,
        unit: "",
        isExact: true
      }
    ],
    notes: [
      `${rounds} interleaved rounds, ${manyRounds} with ${fibers} fibers. Each run is a new process. The time to a credential starts after all imports and includes building the layers. fetch has no imports.`,
      "At most 128 checks are in flight at once, the default of the option concurrency."
    ]
  }
  return report
})
