/** The outcomes that a worker counts. */
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
