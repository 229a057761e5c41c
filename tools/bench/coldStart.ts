/** Measures the first checks of a process, one and many concurrently. */
import { Effect, Record, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"

/** Milliseconds until the first and the last credential. */
const ColdStart = Schema.Struct({ first: Schema.Number, last: Schema.Number })

export interface ColdStart extends Schema.Schema.Type<typeof ColdStart> {}

const fibers = 10_000

const alternatives = {
  fetched: { title: "fetch a token, fetch a check", program: "fetched", checks: 1 },
  client: { title: "AmlClient.check, once", program: "client", checks: 1 },
  idvHttp: { title: "the same, over IdvHttp.layerUndici", program: "idvHttp", checks: 1 },
  many: { title: `AmlClient.check in ${fibers} fibers`, program: "client", checks: fibers }
}

type Alternative = keyof typeof alternatives

const rounds = 5

const reason = "CPU profile: the first, uncompiled run of Effect's fiber runtime, layers and schemas"
const manyReason = "All fibers start, and the first requests of all places are sent, before a response is read"

const relativeToOne = (many: ReadonlyArray<number>, one: Array<number>) =>
  Report.spread(many.map((value) => value / Report.spread(one).median))

export const coldStart = Effect.gen(function*() {
  const url = yield* Stub.start()
  const run = yield* Program.compileJsonProgram("workloads/coldStart.ts", ColdStart)
  const runOnce = ({ checks, program }: typeof alternatives[Alternative]) =>
    Effect.gen(function*() {
      const before = yield* Stub.counts(url)
      const result = yield* run(program, url, String(checks))
      const after = yield* Stub.counts(url)
      return { ...result, tokens: after.tokens - before.tokens }
    })
  const { client, fetched, idvHttp, many } = alternatives
  // Warms the file cache.
  yield* runOnce(fetched)
  const measured = {
    ...(yield* Rounds.run(rounds, { client: runOnce(client), fetched: runOnce(fetched), idvHttp: runOnce(idvHttp) })),
    many: [yield* runOnce(many)]
  }
  type Field = "first" | "last" | "tokens"
  const values = (name: Alternative, field: Field) => measured[name].map((result) => result[field])
  const range = (name: Alternative, field: Field) => Report.range(Report.spread(values(name, field)))

  const report: Report.Report = {
    columns: ["in a new process", "first credential ms", "relative to fetch", "last credential ms", "token requests"],
    cells: Record.toEntries(alternatives).map(([name, { title }]) => {
      const relative = Report.range(Report.ratio(values(name, "first"), values("fetched", "first")))
      return [title, range(name, "first"), relative, range(name, "last"), range(name, "tokens")]
    }),
    goals: [
      {
        what: "First credential of one check, relative to fetch",
        measured: Report.ratio(values("client", "first"), values("fetched", "first")),
        is: "at most",
        limit: 1.5,
        unit: "×",
        reason
      },
      {
        what: `First credential of ${fibers} fibers, relative to one check`,
        measured: relativeToOne(values("many", "first"), values("client", "first")),
        is: "at most",
        limit: 3,
        unit: "×",
        reason: manyReason
      },
      {
        what: `Token requests of ${fibers} concurrent fibers`,
        measured: Report.spread(values("many", "tokens")),
        is: "at most",
        limit: 1,
        unit: ""
      }
    ],
    notes: [
      `${rounds} interleaved rounds, and one run with ${fibers} fibers. Each run is a new process. Its time starts after all imports and includes building the layers.`,
      "At most 128 checks are in flight at once, the default of the option concurrency."
    ]
  }
  return report
})
