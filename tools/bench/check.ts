/** Measures a check, and compares it with alternatives. */
import { Effect, Record } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import type { Measurement } from "./support/Workload.ts"

const alternatives = {
  client: "@effect-idv/core: AmlClient.check",
  clientFromInput: "the same, with Person.make",
  bareEffect: "Effect HttpClient over Undici, span and schema",
  fetched: "fetch, with a hand-written token cache",
  openIdClient: "fetch, with openid-client",
  undici: "undici.request and JSON.parse"
}

type Alternative = keyof typeof alternatives

const reason =
  "CPU profile: the difference is fiber steps (two fifths), fail-closed decoding, and garbage collection (one fifth)"

const calls = 800
const concurrency = 16
const rounds = 5

export const check = Effect.gen(function*() {
  const url = yield* Stub.start()
  const runs = yield* Effect.all(
    Record.map(alternatives, (_, name) => Program.startWorkload("workloads/check.ts", name, url)),
    {
      concurrency: 2
    }
  )
  yield* Effect.forEach(Object.values(runs), (run) => run(4 * calls, concurrency), { discard: true })
  const measured = yield* Rounds.run(rounds, Record.map(runs, (run) => run(calls, concurrency)))
  const values = (name: Alternative, value: (measurement: Measurement) => number) => measured[name].map(value)
  const cpu = ({ cpu }: Measurement) => cpu
  const cpuRatio = (name: Alternative, other: Alternative) => Report.ratio(values(name, cpu), values(other, cpu))

  const report: Report.Report = {
    columns: ["one check", "CPU µs per call", "calls/s", "p50 ms", "p99 ms"],
    cells: Record.toEntries(alternatives).map(([name, title]) => [
      title,
      Report.range(Report.spread(values(name, cpu))),
      Report.range(Report.spread(values(name, ({ calls, seconds }) => calls / seconds))),
      Report.range(Report.spread(values(name, ({ p50 }) => p50))),
      Report.range(Report.spread(values(name, ({ p99 }) => p99)))
    ]),
    goals: [
      {
        what: "CPU per call, relative to the bare Effect call",
        measured: cpuRatio("client", "bareEffect"),
        is: "at most",
        limit: 1,
        unit: "×",
        reason
      },
      {
        what: "CPU per call, relative to fetch",
        measured: cpuRatio("client", "fetched"),
        is: "at most",
        limit: 0.9,
        unit: "×",
        reason
      },
      {
        what: "CPU per call, relative to raw Undici",
        measured: cpuRatio("client", "undici"),
        is: "at most",
        limit: 3,
        unit: "×",
        reason
      }
    ],
    notes: [
      `${rounds} rounds of ${calls} calls, ${concurrency} concurrently. Each alternative and the service run in separate processes; the rounds are interleaved.`,
      "Bare Effect and raw Undici use a constant token and no deadline."
    ]
  }
  return report
})
