/**
 * A program to be measured, in a process of its own: what one compiles, collects or caches is not
 * to the account of another.
 */
import { WorkerRunner } from "@effect/platform"
import { NodeRuntime, NodeWorkerRunner } from "@effect/platform-node"
import { Effect, Layer, Schema, type Scope } from "effect"
import { createHistogram } from "node:perf_hooks"

/**
 * What some calls took: `seconds` by the clock, `cpu` of all threads of the process in microseconds
 * a call, and the percentiles of a call in milliseconds.
 */
export class Measured extends Schema.Class<Measured>("Measured")({
  calls: Schema.Number,
  seconds: Schema.Number,
  cpu: Schema.Number,
  p50: Schema.Number,
  p99: Schema.Number,
  max: Schema.Number
}) {}

/** Makes `calls`, `concurrency` of them at a time. */
export class Run extends Schema.TaggedRequest<Run>()("Run", {
  failure: Schema.String,
  success: Measured,
  payload: { calls: Schema.Number, concurrency: Schema.Number }
}) {}

/** Makes calls one after the other while there is a `next`, and tells how many milliseconds each took. */
export type Lane = (next: () => boolean, took: (millis: number) => void) => Effect.Effect<unknown, unknown>

/** Of an effect, in a fiber. Each has to give what is `expected`, for a call that fails is fast. */
export const ofEffect = <A, E>(call: Effect.Effect<A, E>, expected: A): Lane => (next, took) => {
  let started = 0
  return Effect.whileLoop({
    while: next,
    body: () => {
      started = performance.now()
      return call
    },
    step: (got) => {
      if (got !== expected) throw new Error(`it gave ${got}, and not ${expected}`)
      took(performance.now() - started)
    }
  })
}

/** Of a function as those write it who do not use Effect. */
export const ofPromise = <A>(call: () => Promise<A>, expected: A): Lane => (next, took) => {
  const one = (): Promise<void> => {
    if (!next()) return Promise.resolve()
    const started = performance.now()
    return call().then((got) => {
      if (got !== expected) throw new Error(`it gave ${got}, and not ${expected}`)
      took(performance.now() - started)
      return one()
    })
  }
  return Effect.tryPromise({ try: one, catch: String })
}

/** Of what tells how many milliseconds each of the calls took. */
export const measure = <E, R>(
  calls: number,
  work: (took: (millis: number) => void) => Effect.Effect<unknown, E, R>
): Effect.Effect<Measured, E, R> =>
  Effect.gen(function*() {
    const histogram = createHistogram({ highest: 3_600_000_000_000 })
    const before = process.cpuUsage()
    const started = performance.now()
    yield* work((millis) => histogram.record(Math.max(1, Math.round(millis * 1e6))))
    const seconds = (performance.now() - started) / 1000
    const { system, user } = process.cpuUsage(before)
    return new Measured({
      calls,
      seconds,
      cpu: (user + system) / calls,
      p50: histogram.percentile(50) / 1e6,
      p99: histogram.percentile(99) / 1e6,
      max: histogram.max / 1e6
    })
  })

/** A whole run of as many lanes as `concurrency` says. */
export const lanes = (lane: Lane) => ({ calls, concurrency }: Run) => {
  let left = calls
  return measure(calls, (took) =>
    Effect.all(Array.from({ length: concurrency }, () => lane(() => left-- > 0, took)), {
      concurrency: "unbounded",
      discard: true
    }))
}

/** The main of a process with one subject, by what does a whole run. */
export const mainOf = <E>(run: Effect.Effect<(run: Run) => Effect.Effect<Measured, unknown>, E, Scope.Scope>) =>
  Effect.map(
    run,
    (run) => WorkerRunner.layerSerialized(Run, { Run: (payload) => Effect.mapError(run(payload), String) })
  ).pipe(
    Layer.unwrapScoped,
    Layer.provide(NodeWorkerRunner.layer),
    WorkerRunner.launch,
    NodeRuntime.runMain
  )

/** The main of a process with one subject. */
export const main = <E>(lane: Effect.Effect<Lane, E, Scope.Scope>) => mainOf(Effect.map(lane, lanes))
