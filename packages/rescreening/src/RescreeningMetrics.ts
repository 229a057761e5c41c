/**
 * Metrics for a dashboard. They hold no key of a person.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"

/**
 * Rows that a worker brought to an outcome, by `outcome`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const outcomes = Metric.counter("idv_rescreen_outcomes_total", {
  description: "Rows brought to an outcome, by outcome",
  incremental: true
})

/**
 * How often a worker lost its lease, because it or the database was paused for too long.
 *
 * @category metrics
 * @since 0.1.0
 */
export const leasesLost = Metric.counter("idv_rescreen_leases_lost_total", {
  description: "Leases that ended before the worker renewed them",
  incremental: true
})

/**
 * How often the service asked all workers to wait.
 *
 * @category metrics
 * @since 0.1.0
 */
export const pauses = Metric.counter("idv_rescreen_pauses_total", {
  description: "Responses that asked all workers to wait",
  incremental: true
})

/**
 * Rows of a run by `state`, as `Rescreening.status` last read them.
 *
 * @category metrics
 * @since 0.1.0
 */
export const rows = Metric.gauge("idv_rescreen_rows", { description: "Rows of a run, by state" })
