/**
 * Measures one workload in a process of its own, so that its compilation, garbage collection and caches
 * do not affect another.
 */
import { WorkerRunner } from "@effect/platform"
import { NodeRuntime, NodeWorkerRunner } from "@effect/platform-node"
import { Effect, Layer, Schema, type Scope } from "effect"
import { createHistogram } from "node:perf_hooks"

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
  max: Schema.Number
}) {}

/** Requests this number of calls, with this concurrency. */
export class Run extends Schema.TaggedRequest<Run>()("Run", {
  failure: Schema.String,
  success: Measurement,
  payload: { calls: Schema.Number, concurrency: Schema.Number }
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

/** Measures an effect that makes this number of calls and records the milliseconds of each. */
export const measure = <E, R>(
  calls: number,
  run: (record: (millis: number) => void) => Effect.Effect<unknown, E, R>
): Effect.Effect<Measurement, E, R> =>
  Effect.gen(function*() {
    const histogram = createHistogram({ highest: 3_600_000_000_000 })
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    yield* run((millis) => histogram.record(Math.max(1, Math.round(millis * 1e6))))
    const seconds = (performance.now() - startedAt) / 1000
    const { system, user } = process.cpuUsage(cpuBefore)
    return new Measurement({
      calls,
      seconds,
      cpu: (user + system) / calls,
      p50: histogram.percentile(50) / 1e6,
      p99: histogram.percentile(99) / 1e6,
      max: histogram.max / 1e6
    })
  })

/** Runs a loop with the requested concurrency until all calls are made. */
export const concurrently = (loop: CallLoop) => ({ calls, concurrency }: Run) => {
  let left = calls
  return measure(
    calls,
    (record) =>
      Effect.all(Array.from({ length: concurrency }, () => loop(() => left-- > 0, record)), {
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
