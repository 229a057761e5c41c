/** The metrics of a worker. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Metrics from "../../RescreeningMetrics.ts"
import type * as Ledger from "../ledger/service.ts"

const outcomesOf = (outcome: Ledger.Outcome["state"]) => Metric.tagged(Metrics.outcomes, "outcome", outcome)

/** Made once, because each call of `Metric.tagged` takes longer than an increment. */
export const outcomes: Readonly<Record<Ledger.Outcome["state"], typeof Metrics.outcomes>> = {
  no_match: outcomesOf("no_match"),
  no_match_doubtful: outcomesOf("no_match_doubtful"),
  potential_match: outcomesOf("potential_match"),
  not_screened: outcomesOf("not_screened"),
  unknown: outcomesOf("unknown")
}

/** Counts the rows that become unknown because the lease of their worker ended. */
export const countingExpired = (ledger: Ledger.Service): Ledger.Service => ({
  ...ledger,
  expire: (run) => Effect.tap(ledger.expire(run), (rows) => Metric.incrementBy(outcomes.unknown, rows.unknown))
})

/** Repeats `update`, which counts the rows and sets their gauge, while `work` runs, and once more if it fails. */
export const updatingRows = <A, E, R, B, E2, R2>(work: Effect.Effect<A, E, R>, update: Effect.Effect<B, E2, R2>) =>
  Effect.gen(function*() {
    const updates = Effect.forever(Effect.flatMap(
      // The worker itself reports that the database failed.
      Effect.timed(Effect.ignore(update)),
      // Each worker counts, and a large run takes long to count.
      ([taken]) => Effect.sleep(Duration.max("10 seconds", Duration.times(taken, 100)))
    ))
    yield* Effect.forkScoped(updates)
    return yield* Effect.tapError(work, () => Effect.ignore(update))
  }).pipe(Effect.scoped)
