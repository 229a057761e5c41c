/** Measures the read of a cached token, and compares it with the read of a `Ref`. */
import { Effect, Record } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import * as WarmUp from "./support/WarmUp.ts"
import type { Measurement } from "./support/Workload.ts"

const alternatives = {
  token: "TokenProvider.get, from the cache",
  clocks: "both clocks, in one step of a fiber",
  ref: "Ref.get",
  nothing: "Effect.void: the loop alone"
}

type Alternative = keyof typeof alternatives

const calls = 100_000
const rounds = 5

const reason = "The two clocks alone take the time in their row"

const nanos = ({ cpu }: Measurement) => cpu * 1000

export const tokenRead = Effect.gen(function*() {
  const url = yield* Stub.start()
  const runs = yield* Effect.all(
    Record.map(alternatives, (_, name) => Program.startWorkload("workloads/tokenRead.ts", name, url))
  )
  const warmUps = yield* Effect.all(Record.map(runs, (run) => WarmUp.run(run, calls, 1)))
  const measured = yield* Rounds.run(rounds, Record.map(runs, (run) => run(calls, 1)))
  const values = (name: Alternative) => measured[name].map(nanos)

  const report: Report.Report = {
    columns: ["one read", "CPU ns: first second", "CPU ns: steady"],
    cells: Record.toEntries(alternatives).map(([name, title]) => [
      title,
      Report.number(nanos(warmUps[name].firstSecond)),
      Report.range(Report.spread(values(name)))
    ]),
    goals: [
      {
        what: "A cached token",
        measured: Report.spread(values("token").map((nanos) => nanos / 1000)),
        is: "at most",
        limit: 1,
        unit: " µs",
        reason
      }
    ],
    notes: [
      `Warm-up: ${WarmUp.describe(Object.values(warmUps))}.`,
      `${rounds} rounds of ${calls} reads in one fiber, in separate processes, interleaved. All include the loop.`
    ]
  }
  return report
})
