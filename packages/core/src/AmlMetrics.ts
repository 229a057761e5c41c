/**
 * The metrics of the AML client, with these labels:
 *
 * - `outcome`: `NoMatch`, `DoubtfulNo`, `PotentialMatch`, the tag of the error, `Interrupted`, or `Defect`.
 * - `status`: the class of the HTTP status, `2xx` to `5xx`, or `none`.
 * - `sent`: whether the service may have performed the check: `no`, `unknown` or `answered`.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

/**
 * Counts the checks, by `outcome`, `status` and `sent`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const checks = Metric.counter("idv_aml_checks", { description: "AML checks", incremental: true })

/**
 * Counts the AML requests that the service may have received, and so may bill, retries and replays included. A request
 * counts once its check has ended. One that certainly was not sent, for example because the connection was refused, does
 * not count. Only the `HttpClient` of `IdvHttp`, or one that wraps it, reports when it sends a request. With any other, a
 * request that still waits for its connection when the check ends counts too.
 *
 * @category metrics
 * @since 0.1.0
 */
export const requests = Metric.counter("idv_aml_requests", {
  description: "AML requests that the service may have received, retries and replays included",
  incremental: true
})

/**
 * Records the duration of checks in seconds, with the labels of {@link checks}.
 *
 * @category metrics
 * @since 0.1.0
 */
export const duration = Metric.histogram(
  "idv_aml_check_duration_seconds",
  MetricBoundaries.fromIterable([0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
  "Duration of AML checks"
)
