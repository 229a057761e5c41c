/** Measures `Screening` of many people. */
import { Context, Effect, Record, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import * as WarmUp from "./support/WarmUp.ts"
import type { Measurement } from "./support/Workload.ts"

/** The heap in MiB after 10 % (`early`) and 90 % (`late`) of the outcomes of one run. */
const HeapRun = Schema.Struct({
  early: Schema.Number,
  late: Schema.Number,
  resident: Schema.Number
})

export interface HeapRun extends Schema.Schema.Type<typeof HeapRun> {}

/** The number of people in each run. */
export class People extends Context.Reference<People>()("bench/People", { defaultValue: () => 1500 }) {}

const latency = 50
const concurrency = 200
const warmUpCalls = 500
/** Runs of many people differ little, and take long. */
const roundsOf = (people: number) => people > 20_000 ? 1 : 3

const alternatives = {
  screening: "Screening.summary",
  loop: `AmlClient.check in ${concurrency} fibers`,
  undici: `undici.request and JSON.parse, ${concurrency} concurrently`
}

type Alternative = keyof typeof alternatives

/** The maximum number of people per second if a response takes only the latency. */
const ideal = concurrency / latency * 1000
const share = 0.95

const reason = "A CPU profile: a fiber for each person, with about a hundred steps"

export const screening = Effect.gen(function*() {
  const people = yield* People
  const url = yield* Stub.start({ latency })
  const runs = yield* Effect.all(
    Record.map(alternatives, (_, name) => Program.startWorkload("workloads/screening.ts", name, url))
  )
  const warmUps = yield* Effect.forEach(Object.values(runs), (run) => WarmUp.run(run, warmUpCalls, concurrency))
  const rounds = roundsOf(people)
  const measured = yield* Rounds.run(rounds, Record.map(runs, (run) => run(people, concurrency)))
  const runOnce = yield* Program.compileJsonProgram("workloads/screening.ts", HeapRun)
  const { early, late, resident } = yield* runOnce("heap", url, String(people), String(concurrency))

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
    cells: Record.toEntries(alternatives).map(([name, title]) => [
      title,
      Report.range(spread(name, throughput)),
      Report.range(spread(name, ({ cpu }) => cpu)),
      Report.range(spread(name, ({ p50 }) => p50)),
      Report.range(spread(name, ({ p99 }) => p99))
    ]),
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
        what: `Heap after 90 % of ${people} people, relative to after 10 % (${Report.number(early)} MiB)`,
        measured: Report.single(late / early),
        is: "at most",
        limit: 1.05,
        unit: "×"
      }
    ],
    notes: [
      `Interleaved rounds (${rounds}) of ${people} people, ${concurrency} concurrently. The service responds after ${latency} ms.`,
      `Warm-up: ${WarmUp.describe(warmUps)}.`,
      `A million people take at least ${Math.ceil(1e6 / ideal)} s: bench screening --people 1000000.`,
      `Concurrency ÷ latency is ${ideal}/s. The heap is that of one more run in a new process, after garbage collection. At its end ${
        Report.number(resident)
      } MiB were resident.`
    ]
  }
  return report
})
