/**
 * Measures one workload in a process of its own, so that its compilation, garbage collection and caches
 * do not affect another.
 */
import { WorkerRunner } from "@effect/platform"
import { NodeRuntime, NodeWorkerRunner } from "@effect/platform-node"
import { Effect, Layer, Schema, type Scope } from "effect"
import { createHistogram } from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"
import { mean, median } from "simple-statistics"

/** The times of some calls. */
export class Measurement extends Schema.Class<Measurement>("Measurement")({
  calls: Schema.Number,
  /** Elapsed time of all calls. */
  seconds: Schema.Number,
  /** Microseconds per call, of all threads of the process. */
  cpu: Schema.Number,
  /** Percentiles of a call, in milliseconds. */
  p50: Schema.Number,
  p99: Schema.Number,
  max: Schema.Number,
  /** Bytes that a call allocates on the JavaScript heap. Buffers are not on this heap. 0 if calls are not recorded. */
  heap: Schema.Number
}) {}

/** Requests this number of calls, with this concurrency. With `seconds`, the run ends early after this time. */
export class Run extends Schema.TaggedRequest<Run>()("Run", {
  failure: Schema.String,
  success: Measurement,
  payload: { calls: Schema.Number, concurrency: Schema.Number, seconds: Schema.optional(Schema.Number) }
}) {}

/** Makes calls in sequence while `next` returns true, and records the milliseconds of each. */
export type CallLoop = (next: () => boolean, record: (millis: number) => void) => Effect.Effect<unknown, unknown>

const unexpected = (actual: unknown, expected: unknown) => new Error(`returned ${actual} instead of ${expected}`)

/** Calls an effect. Each call must return `expected`, because a failed call may be faster. */
export const fromEffect = <A, E>(call: Effect.Effect<A, E>, expected: A): CallLoop => (next, record) => {
  let startedAt = 0
  return Effect.whileLoop({
    while: next,
    body: () => {
      startedAt = performance.now()
      return call
    },
    step: (actual) => {
      if (actual !== expected) throw unexpected(actual, expected)
      record(performance.now() - startedAt)
    }
  })
}

/** As `fromEffect`, for an alternative without Effect. */
export const fromPromise = <A>(call: () => Promise<A>, expected: A): CallLoop => (next, record) => {
  const loop = (): Promise<void> => {
    if (!next()) return Promise.resolve()
    const startedAt = performance.now()
    return call().then((actual) => {
      if (actual !== expected) throw unexpected(actual, expected)
      record(performance.now() - startedAt)
      return loop()
    })
  }
  return Effect.tryPromise({ try: loop, catch: String })
}

/**
 * Sums how much the heap grows from sample to sample. A growth that contains a garbage collection is too low, and mostly
 * negative. So only the growths count that are at least half of the median.
 */
const makeHeapSampler = (callsPerSample: number) => {
  const growths: Array<number> = []
  let used = getHeapStatistics().used_heap_size
  let calls = 0
  return {
    count: (): void => {
      if (++calls % callsPerSample !== 0) return
      const now = getHeapStatistics().used_heap_size
      growths.push(now - used)
      used = now
    },
    bytesPerCall: (): number => {
      const positive = growths.filter((growth) => growth > 0)
      if (positive.length === 0) return 0
      const least = median(positive) / 2
      return mean(positive.filter((growth) => growth >= least)) / callsPerSample
    }
  }
}

/** Measures an effect that makes calls and records the milliseconds of each. `calls` is their number afterwards. */
export const measure = <E, R>(
  calls: number | (() => number),
  run: (record: (millis: number) => void) => Effect.Effect<unknown, E, R>
): Effect.Effect<Measurement, E, R> =>
  Effect.gen(function*() {
    const histogram = createHistogram({ highest: 3_600_000_000_000 })
    const heap = makeHeapSampler(50)
    let recorded = 0
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    yield* run((millis) => {
      histogram.record(Math.max(1, Math.round(millis * 1e6)))
      heap.count()
      recorded++
    })
    const seconds = (performance.now() - startedAt) / 1000
    const { system, user } = process.cpuUsage(cpuBefore)
    // A call that is too short is not recorded.
    const made = recorded > 0 ? recorded : typeof calls === "function" ? calls() : calls
    return new Measurement({
      calls: made,
      seconds,
      cpu: (user + system) / made,
      p50: histogram.percentile(50) / 1e6,
      p99: histogram.percentile(99) / 1e6,
      max: histogram.max / 1e6,
      heap: heap.bytesPerCall()
    })
  })

/** Returns whether to make another call: at most this number, and none once the time is over. */
export const limit = ({ calls, seconds = Infinity }: Pick<Run, "calls" | "seconds">): () => boolean => {
  let left = calls
  const end = performance.now() + seconds * 1000
  return () => left-- > 0 && (seconds === Infinity || performance.now() < end)
}

/** Runs a loop with the requested concurrency until all calls are made. */
export const concurrently = (loop: CallLoop) => (run: Run) => {
  const next = limit(run)
  return measure(
    run.calls,
    (record) =>
      Effect.all(Array.from({ length: run.concurrency }, () => loop(next, record)), {
        concurrency: "unbounded",
        discard: true
      })
  )
}

/** The main program of a workload, which handles each `Run` itself. */
export const mainWith = <E>(run: Effect.Effect<(run: Run) => Effect.Effect<Measurement, unknown>, E, Scope.Scope>) =>
  Effect.map(
    run,
    (run) => WorkerRunner.layerSerialized(Run, { Run: (payload) => Effect.mapError(run(payload), String) })
  ).pipe(
    Layer.unwrapScoped,
    Layer.provide(NodeWorkerRunner.layer),
    WorkerRunner.launch,
    NodeRuntime.runMain
  )

/** The main program of a workload that is a loop of calls. */
export const main = <E>(loop: Effect.Effect<CallLoop, E, Scope.Scope>) => mainWith(Effect.map(loop, concurrently))
