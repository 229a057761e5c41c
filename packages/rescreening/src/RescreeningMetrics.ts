/**
 * Metrics for a dashboard. They hold no key of a person.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"

/**
 * Counts the rows that reached an outcome, by `outcome`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const outcomes = Metric.counter("idv_rescreen_outcomes_total", {
  description: "Rows that reached an outcome, by outcome",
  incremental: true
})

/**
 * Counts the leases that workers lost, because the worker or the database paused for too long.
 *
 * @category metrics
 * @since 0.1.0
 */
export const leasesLost = Metric.counter("idv_rescreen_leases_lost_total", {
  description: "Leases that ended before the worker renewed them",
  incremental: true
})

/**
 * Counts the responses that paused all workers, such as 429.
 *
 * @category metrics
 * @since 0.1.0
 */
export const pauses = Metric.counter("idv_rescreen_pauses_total", {
  description: "Responses that paused all workers",
  incremental: true
})

/**
 * Rows of a run by `state`, as `Rescreening.work` or `Rescreening.status` last read them in this process. The value
 * remains when the process no longer works on the run. If several processes report a run, the values of the process with
 * the fewest rows `pending`, `claimed` and `sent` are the newest, unless `Rescreening.resume` made rows pending again.
 *
 * @category metrics
 * @since 0.1.0
 */
export const rows = Metric.gauge("idv_rescreen_rows", { description: "Rows of a run, by state" })
