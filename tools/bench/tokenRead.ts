/** 2. What it takes to read the token from the cache, beside the read of a `Ref`. */
import { Effect, Record } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import type { Measured } from "./support/Subject.ts"

const ways = {
  token: "TokenProvider.get, from the cache",
  ref: "Ref.get",
  nothing: "Effect.void: what the loop takes"
}

type Way = keyof typeof ways

const calls = 200_000
const rounds = 7

const reason =
  "By taking parts out: two clocks, for either may lie, a histogram and a counter take 100 ns each on this kind of machine, and a second step of the fiber as much as a Ref.get"

const nanos = ({ cpu }: Measured) => cpu * 1000

export const tokenRead = Effect.gen(function*() {
  const url = yield* Stub.start()
  const runs = yield* Effect.all(Record.map(ways, (_, way) => Program.subject("contenders/tokenRead.ts", way, url)))
  yield* Effect.forEach(Object.values(runs), (run) => run(calls, 1), { discard: true })
  const measured = yield* Rounds.run(rounds, Record.map(runs, (run) => run(calls, 1)))
  const of = (way: Way) => measured[way].map(nanos)

  const report: Report.Report = {
    columns: ["one read", "CPU ns"],
    cells: Object.entries(ways).map(([way, title]) => [title, Report.range(Report.spread(of(way as Way)))]),
    goals: [
      {
        what: "A cached token",
        measured: Report.spread(of("token").map((nanos) => nanos / 1000)),
        is: "at most",
        limit: 1,
        unit: " µs",
        reason
      },
      {
        what: "A cached token, to Ref.get, each with the loop",
        measured: Report.ratio(of("token"), of("ref")),
        is: "at most",
        limit: 2,
        unit: "×",
        reason
      }
    ],
    notes: [
      `${rounds} rounds of ${calls} reads in one fiber, each way in a process of its own and in turns. All three include the loop.`
    ]
  }
  return report
})
