/** 5. Many people through `Screening`. */
import { Context, Effect, Record, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import type { Measured } from "./support/Subject.ts"

/** What a long run took, and the heap after a tenth and nine tenths of the outcomes, in MiB. */
const Long = Schema.Struct({
  seconds: Schema.Number,
  cpu: Schema.Number,
  p50: Schema.Number,
  p99: Schema.Number,
  early: Schema.Number,
  late: Schema.Number,
  resident: Schema.Number
})

export interface Long extends Schema.Schema.Type<typeof Long> {}

/** How many are screened in the long run. A million takes four minutes at least, by the latency alone. */
export class People extends Context.Reference<People>()("bench/People", { defaultValue: () => 5000 }) {}

const ways = {
  screening: "Screening.summary",
  loop: "AmlClient.checkWithEvidence in as many fibers",
  undici: "undici.request and JSON.parse, as many"
}

type Way = keyof typeof ways

const latency = 50
const concurrency = 200
const calls = 1500
const rounds = 3

/** As many as there can be in a second if an answer takes nothing but the latency. */
const ideal = concurrency / latency * 1000
const share = 0.95

const reason =
  "By its profile a fiber for each person, and its hundred steps. A long run is faster, once all is compiled"

const only = (value: number): Report.Spread => ({ median: value, min: value, max: value })

export const screening = Effect.gen(function*() {
  const people = yield* People
  const url = yield* Stub.start({ latency })
  const subjects = yield* Effect.all(
    Record.map(ways, (_, way) => Program.subject("contenders/screening.ts", way, url))
  )
  yield* Effect.forEach(Object.values(subjects), (run) => run(calls / 2, concurrency), { discard: true })
  const measured = yield* Rounds.run(rounds, Record.map(subjects, (run) => run(calls, concurrency)))
  const runLong = yield* Program.answering("contenders/screening.ts", Long)
  const long = yield* runLong("heap", url, String(people), String(concurrency))

  const throughput = ({ calls, seconds }: Measured) => calls / seconds
  const of = (way: Way, what: (measured: Measured) => number) => measured[way].map(what)
  const spread = (way: Way, what: (measured: Measured) => number) => Report.spread(of(way, what))
  const machine = spread("loop", throughput).median
  const isMachine = machine < share * ideal
  const limits = of("loop", (measured) => Math.min(share * ideal, throughput(measured)))
  const limit = isMachine
    ? `the machine's limit, ${Report.number(machine)}/s for the same checks without Screening`
    : `${share} × concurrency ÷ latency, ${share * ideal}/s`

  const report: Report.Report = {
    columns: ["people", "people/s", "CPU µs each", "p50 ms", "p99 ms"],
    cells: [
      ...Object.entries(ways).map(([name, title]) => {
        const way = name as Way
        return [
          title,
          Report.range(spread(way, throughput)),
          Report.range(spread(way, ({ cpu }) => cpu)),
          Report.range(spread(way, ({ p50 }) => p50)),
          Report.range(spread(way, ({ p99 }) => p99))
        ]
      }),
      [`Screening.summary of ${people}`, ...[people / long.seconds, long.cpu, long.p50, long.p99].map(Report.number)]
    ],
    goals: [
      {
        what: `People a second, to ${limit}`,
        measured: Report.ratio(of("screening", throughput), limits),
        is: "at least",
        limit: 1,
        unit: "×",
        reason
      },
      {
        what: `The same, of ${people} in one run`,
        measured: only(people / long.seconds / Math.min(share * ideal, machine)),
        is: "at least",
        limit: 1,
        unit: "×",
        reason
      },
      {
        what: `Heap after 90 % of ${people}, to after 10 % (${Report.number(long.early)} MiB)`,
        measured: only(long.late / long.early),
        is: "at most",
        limit: 1.05,
        unit: "×"
      }
    ],
    notes: [
      `${rounds} rounds of ${calls} people, ${concurrency} at a time, in turns, and then ${people} in one run; the service takes ${latency} ms.`,
      `A million takes ${Math.ceil(1e6 / ideal)} s at best: bench screening --people 1000000.`,
      `Concurrency ÷ latency is ${ideal}/s. The heap is what is used once garbage is collected; ${
        Report.number(long.resident)
      } MiB were resident at the end.`
    ]
  }
  return report
})
