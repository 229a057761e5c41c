/** The status of a run, and the gauge of its rows. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Ledger from "../../Ledger.ts"
import * as Metrics from "../../RescreeningMetrics.ts"
import * as Run from "../../Run.ts"

/**
 * A run and its counts.
 *
 * @category models
 * @since 0.1.0
 */
export interface Status {
  readonly run: Run.Run
  readonly counts: Run.Counts
  /** The remaining time of the pause that the service asked for; zero if there is none. */
  readonly servicePause: Duration.Duration
  /** The number of pauses since the service last accepted a check. */
  readonly pauses: number
}

/** Reads the status, and sets the gauge. */
export const current = (id: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = yield* ledger.run(id)
    const counts = run.erasedCounts === null
      ? yield* ledger.counts(id)
      : Run.State.literals.reduce<Run.Counts>(
        (all, state) => ({ ...all, [state]: run.erasedCounts?.[state] ?? 0 }),
        Run.noCounts
      )
    for (const state of Run.State.literals) {
      yield* Metric.set(Metric.tagged(Metric.tagged(Metrics.rows, "run", id), "state", state), counts[state])
    }
    const state = yield* ledger.workerState(id, run.service)
    return {
      run,
      counts,
      servicePause: Duration.millis(Option.match(state, { onNone: () => 0, onSome: ({ pausedFor }) => pausedFor })),
      pauses: Option.match(state, { onNone: () => 0, onSome: ({ pauses }) => pauses })
    }
  })

/** Keeps the gauge current while `work` runs, and once more if it fails. A count that fails is not repeated. */
export const updating = <A, E, R>(ledger: Ledger.Service, run: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    // The worker itself reports that the database failed.
    const update = Effect.ignore(Effect.provideService(current(run), Ledger.Ledger, Ledger.Ledger.of(ledger)))
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(
      Effect.timed(update),
      // Each worker counts, and a large run takes long to count.
      ([taken]) => Effect.sleep(Duration.max("10 seconds", Duration.times(taken, 100)))
    )))
    return yield* Effect.tapError(work, () => update)
  }).pipe(Effect.scoped)
