/** 3. The first checks of a process, when many come at once. */
import { Effect, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"

/** After how many milliseconds the first and the last credential were there. */
const Cold = Schema.Struct({ first: Schema.Number, last: Schema.Number })

export interface Cold extends Schema.Schema.Type<typeof Cold> {}

const fibers = 10_000

const ways = {
  fetched: { title: "fetch a token, fetch a check", program: "fetched", checks: 1 },
  client: { title: "AmlClient.check, once", program: "client", checks: 1 },
  many: { title: `AmlClient.check in ${fibers} fibers`, program: "client", checks: fibers }
}

type Way = keyof typeof ways

const rounds = 3

export const coldStart = Effect.gen(function*() {
  const url = yield* Stub.start()
  const run = yield* Program.answering("contenders/coldStart.ts", Cold)
  const cold = ({ checks, program }: typeof ways[Way]) =>
    Effect.gen(function*() {
      const before = yield* Stub.counts(url)
      const cold = yield* run(program, url, String(checks))
      const after = yield* Stub.counts(url)
      return { ...cold, tokens: after.tokens - before.tokens }
    })
  yield* cold(ways.fetched)
  const { client, fetched } = ways
  const measured = {
    ...(yield* Rounds.run(rounds, { client: cold(client), fetched: cold(fetched) })),
    many: [yield* cold(ways.many)]
  }
  const of = (way: Way, what: "first" | "last" | "tokens") => measured[way].map((cold) => cold[what])
  const spread = (way: Way, what: "first" | "last" | "tokens") => Report.range(Report.spread(of(way, what)))

  const report: Report.Report = {
    columns: ["in a new process", "first credential ms", "to fetch + fetch", "last credential ms", "token requests"],
    cells: Object.entries(ways).map(([name, { title }]) => {
      const way = name as Way
      const toFetched = Report.range(Report.ratio(of(way, "first"), of("fetched", "first")))
      return [title, spread(way, "first"), toFetched, spread(way, "last"), spread(way, "tokens")]
    }),
    goals: [
      {
        what: `Token requests of ${fibers} fibers at once`,
        measured: Report.spread(of("many", "tokens")),
        is: "at most",
        limit: 1,
        unit: ""
      }
    ],
    notes: [
      `${rounds} rounds in turns, and the ${fibers} once; a new process each time, timed once everything is imported; layers are built within the time.`,
      "With many at once the first credential is late because all of them are begun before an answer is read, as with fetch; and Undici does not limit its connections by default."
    ]
  }
  return report
})
