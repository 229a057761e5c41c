/** Measures `Screening` of many people. */
import { Context, Effect, Record, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import * as WarmUp from "./support/WarmUp.ts"
import type { Measurement } from "./support/Workload.ts"

/** The times of a long run, and the heap in MiB after 10 % (`early`) and 90 % (`late`) of the outcomes. */
const LongRun = Schema.Struct({
  seconds: Schema.Number,
  cpu: Schema.Number,
  p50: Schema.Number,
  p99: Schema.Number,
  early: Schema.Number,
  late: Schema.Number,
  resident: Schema.Number
})

export interface LongRun extends Schema.Schema.Type<typeof LongRun> {}

/** The number of people in the long run. */
export class People extends Context.Reference<People>()("bench/People", { defaultValue: () => 5000 }) {}

const latency = 50
const concurrency = 200
const calls = 2000
const rounds = 3

const alternatives = {
  screening: "Screening.summary",
  loop: `AmlClient.checkWithEvidence in ${concurrency} fibers`,
  undici: `undici.request and JSON.parse, ${concurrency} concurrently`
}

type Alternative = keyof typeof alternatives

/** The maximum number of people per second if a response takes only the latency. */
const ideal = concurrency / latency * 1000
const share = 0.95

const reason =
  "CPU profile: a fiber for each person, with about a hundred steps. A long run is faster, once its code is compiled"

const single = (value: number): Report.Spread => ({ median: value, min: value, max: value })

export const screening = Effect.gen(function*() {
  const people = yield* People
  const url = yield* Stub.start({ latency })
  const runs = yield* Effect.all(
    Record.map(alternatives, (_, name) => Program.startWorkload("workloads/screening.ts", name, url))
  )
  // Until the CPU time of each is stable, in a few seconds.
  yield* Effect.forEach(Object.values(runs), (run) => WarmUp.run(run, calls, concurrency), { discard: true })
  const measured = yield* Rounds.run(rounds, Record.map(runs, (run) => run(calls, concurrency)))
  const runLong = yield* Program.compileJsonProgram("workloads/screening.ts", LongRun)
  const long = yield* runLong("heap", url, String(people), String(concurrency))

  const throughput = ({ calls, seconds }: Measurement) => calls / seconds
  const values = (name: Alternative, value: (measurement: Measurement) => number) => measured[name].map(value)
  const spread = (name: Alternative, value: (measurement: Measurement) => number) => Report.spread(values(name, value))
  const machineLimit = spread("loop", throughput).median
  const isMachineLimited = machineLimit < share * ideal
  const limits = values("loop", (measurement) => Math.min(share * ideal, throughput(measurement)))
  const limit = isMachineLimited
    ? `the machine's limit (${Report.number(machineLimit)}/s for the same checks without Screening)`
    : `${share} × concurrency ÷ latency (${share * ideal}/s)`

  const report: Report.Report = {
    columns: ["people", "people/s", "CPU µs per person", "p50 ms", "p99 ms"],
    cells: [
      ...Record.toEntries(alternatives).map(([name, title]) => [
        title,
        Report.range(spread(name, throughput)),
        Report.range(spread(name, ({ cpu }) => cpu)),
        Report.range(spread(name, ({ p50 }) => p50)),
        Report.range(spread(name, ({ p99 }) => p99))
      ]),
      [`Screening.summary of ${people}`, ...[people / long.seconds, long.cpu, long.p50, long.p99].map(Report.number)]
    ],
    goals: [
      {
        what: "CPU per person, relative to the same checks without Screening",
        measured: Report.ratio(values("screening", ({ cpu }) => cpu), values("loop", ({ cpu }) => cpu)),
        is: "at most",
        limit: 1.1,
        unit: "×",
        reason
      },
      {
        what: `People per second, relative to ${limit}`,
        measured: Report.ratio(values("screening", throughput), limits),
        is: "at least",
        limit: 1,
        unit: "×",
        reason
      },
      {
        what: `The same, for ${people} people in one run`,
        measured: single(people / long.seconds / Math.min(share * ideal, machineLimit)),
        is: "at least",
        limit: 1,
        unit: "×",
        reason
      },
      {
        what: `Heap after 90 % of ${people} people, relative to after 10 % (${Report.number(long.early)} MiB)`,
        measured: single(long.late / long.early),
        is: "at most",
        limit: 1.05,
        unit: "×"
      }
    ],
    notes: [
      `${rounds} interleaved rounds of ${calls} people, ${concurrency} concurrently, and then ${people} in one run. The service responds after ${latency} ms.`,
      `A million people take at least ${Math.ceil(1e6 / ideal)} s: bench screening --people 1000000.`,
      `Concurrency ÷ latency is ${ideal}/s. The heap is measured after garbage collection. At the end ${
        Report.number(long.resident)
      } MiB were resident.`
    ]
  }
  return report
})
