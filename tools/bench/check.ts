/** 1. What a check costs, beside the other ways to ask for one. */
import { Effect, Record } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import type { Measured } from "./support/Subject.ts"

const ways = {
  client: "@effect-idv/core: AmlClient.check",
  clientFromInput: "… and Person.make",
  bareEffect: "Effect HttpClient over Undici, span and schema",
  fetched: "fetch, and a token cache by hand",
  openIdClient: "openid-client, and fetch",
  undici: "undici.request and JSON.parse"
}

type Way = keyof typeof ways

const reason =
  "By its profile the difference is the steps of fibers (two fifths), decoding that fails closed, and the collector (a fifth)"

const calls = 800
const concurrency = 16
const rounds = 5

export const check = Effect.gen(function*() {
  const url = yield* Stub.start()
  const runs = yield* Effect.all(Record.map(ways, (_, way) => Program.subject("contenders/check.ts", way, url)), {
    concurrency: 2
  })
  yield* Effect.forEach(Object.values(runs), (run) => run(4 * calls, concurrency), { discard: true })
  const measured = yield* Rounds.run(rounds, Record.map(runs, (run) => run(calls, concurrency)))
  const of = (way: Way, what: (measured: Measured) => number) => measured[way].map(what)
  const cpu = ({ cpu }: Measured) => cpu
  const cpuRatio = (way: Way, other: Way) => Report.ratio(of(way, cpu), of(other, cpu))

  const report: Report.Report = {
    columns: ["one check", "CPU µs a call", "calls/s", "p50 ms", "p99 ms"],
    cells: Object.entries(ways).map(([way, title]) => [
      title,
      Report.range(Report.spread(of(way as Way, cpu))),
      Report.range(Report.spread(of(way as Way, ({ calls, seconds }) => calls / seconds))),
      Report.range(Report.spread(of(way as Way, ({ p50 }) => p50))),
      Report.range(Report.spread(of(way as Way, ({ p99 }) => p99)))
    ]),
    goals: [
      {
        what: "CPU a call, to the bare Effect call",
        measured: cpuRatio("client", "bareEffect"),
        is: "at most",
        limit: 1,
        unit: "×",
        reason
      },
      {
        what: "CPU a call, to fetch",
        measured: cpuRatio("client", "fetched"),
        is: "at most",
        limit: 0.9,
        unit: "×",
        reason
      },
      {
        what: "CPU a call, to raw Undici",
        measured: cpuRatio("client", "undici"),
        is: "at most",
        limit: 3,
        unit: "×",
        reason
      }
    ],
    notes: [
      `${rounds} rounds of ${calls} calls, ${concurrency} at a time, each way in a process of its own and in turns; the service is another process.`,
      "Bare Effect and raw Undici have a constant token, and no deadline."
    ]
  }
  return report
})
