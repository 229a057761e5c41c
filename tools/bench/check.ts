/** Measures a check, and compares it with alternatives. */
import { Effect, Record } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import * as WarmUp from "./support/WarmUp.ts"
import type { Measurement } from "./support/Workload.ts"

const alternatives = {
  undici: "undici.request and JSON.parse",
  bareEffect: "Effect HttpClient over Undici, span and schema",
  fetched: "fetch, with a hand-written token cache and deadline",
  check: "AmlClient.check over NodeHttpClient.layerUndici",
  checkFetch: "AmlClient.check over FetchHttpClient.layer",
  checkIdvHttp: "AmlClient.check over IdvHttp.layerUndici"
}

type Alternative = keyof typeof alternatives

const reason =
  "An earlier CPU profile: the fiber runtime takes a third, garbage collection a sixth, and all code of this library a tenth"

const calls = 1200
const warmUpCalls = 500
const concurrency = 64
const rounds = 4

export const check = Effect.gen(function*() {
  const url = yield* Stub.start()
  const runs = yield* Effect.all(
    Record.map(alternatives, (_, name) => Program.startWorkload("workloads/check.ts", name, url))
  )
  const warmUps = yield* Effect.all(Record.map(runs, (run) => WarmUp.run(run, warmUpCalls, concurrency)))
  const measured = yield* Rounds.run(rounds, Record.map(runs, (run) => run(calls, concurrency)))
  const values = (name: Alternative, value: (measurement: Measurement) => number) => measured[name].map(value)
  const range = (name: Alternative, value: (measurement: Measurement) => number) =>
    Report.range(Report.spread(values(name, value)))
  const cpu = ({ cpu }: Measurement) => cpu
  const goal = (name: Alternative, other: Alternative, limit: number): Report.Goal => ({
    what: `CPU per call: ${alternatives[name]}, relative to ${alternatives[other]}`,
    measured: Report.ratio(values(name, cpu), values(other, cpu)),
    is: "at most",
    limit,
    unit: "×",
    reason
  })

  const report: Report.Report = {
    columns: ["one check", "CPU µs: first second", "CPU µs: steady", "heap KiB", "calls/s", "p50 ms", "p99 ms"],
    cells: Record.toEntries(alternatives).map(([name, title]) => [
      title,
      Report.number(warmUps[name].firstSecond.cpu),
      range(name, cpu),
      range(name, ({ heap }) => heap / 1024),
      range(name, ({ calls, seconds }) => calls / seconds),
      range(name, ({ p50 }) => p50),
      range(name, ({ p99 }) => p99)
    ]),
    goals: [
      goal("check", "bareEffect", 1.1),
      goal("checkFetch", "fetched", 1.4),
      goal("check", "fetched", 0.9),
      goal("checkIdvHttp", "bareEffect", 0.55),
      goal("checkIdvHttp", "check", 0.67),
      goal("checkIdvHttp", "undici", 2.2)
    ],
    notes: [
      `${rounds} rounds of ${calls} calls, ${concurrency} concurrently. Each alternative and the service run in separate processes; the rounds are interleaved.`,
      `Warm-up: ${WarmUp.describe(Object.values(warmUps))}.`,
      "Bare Effect and raw Undici use a constant token, and no deadline. fetch uses the installed Undici."
    ]
  }
  return report
})
