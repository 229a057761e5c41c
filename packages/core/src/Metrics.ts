/**
 * The metrics of all clients of a process. No label contains an id, a key, a token or data of a person.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

/**
 * `idv_aml_checks` counts the checks, by these labels:
 *
 * - `outcome`: `NoMatch`, `DoubtfulNo`, `PotentialMatch`, the tag of the error, `Interrupted`, or `Defect`.
 * - `status`: the class of the HTTP status, `2xx` to `5xx`, or `none`.
 * - `sent`: whether the service may have performed the check: `no`, `unknown` or `answered`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const checks = Metric.counter("idv_aml_checks", { description: "AML checks", incremental: true })

/**
 * `idv_aml_requests` counts the AML requests that the service may have received, and so may bill, retries and replays
 * included. A request counts once its check has ended. One that certainly was not sent, for example because the
 * connection was refused, does not count. Only the `HttpClient` of `IdvHttp`, or one that wraps it, reports when it
 * sends a request. With any other, a request that still waits for its connection when the check ends counts too.
 *
 * @category metrics
 * @since 0.1.0
 */
export const checkRequests = Metric.counter("idv_aml_requests", {
  description: "AML requests that the service may have received, retries and replays included",
  incremental: true
})

/**
 * `idv_aml_check_duration_seconds` records the duration of checks, with the labels of {@link checks}.
 *
 * @category metrics
 * @since 0.1.0
 */
export const checkDuration = Metric.histogram(
  "idv_aml_check_duration_seconds",
  MetricBoundaries.fromIterable([0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
  "Duration of AML checks"
)

/**
 * `idv_token_requests` counts the token requests sent, retries included.
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokenRequests = Metric.counter("idv_token_requests", {
  description: "Token requests sent, retries included",
  incremental: true
})

/**
 * `idv_token_acquisitions` counts the acquisitions that sent a request, by `reason`:
 *
 * - `cold`: there was no token.
 * - `refresh_after`: the cached token was older than refresh-after. The acquisition runs in the background.
 * - `usable_until`: the cached token was past usable-until.
 * - `unauthorized`: the API rejected the cached token.
 * - `forced`: a caller called `refresh`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokenAcquisitions = Metric.counter("idv_token_acquisitions", {
  description: "Acquisitions that sent a request, by reason",
  incremental: true
})

/**
 * `idv_token_failures` counts the acquisitions that failed after a request, by `error`: the tag of the `TokenError`, or
 * `defect`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokenFailures = Metric.counter("idv_token_failures", {
  description: "Acquisitions that failed after a request, by error",
  incremental: true
})

/**
 * `idv_token_gets` counts the calls of `get` and `refresh`, by `outcome`:
 *
 * - `hit`: the call returned the cached token at once.
 * - `stale`: the same, with a token older than refresh-after.
 * - `wait`: the call waited for an acquisition.
 * - `failed`: the call failed.
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokenGets = Metric.counter("idv_token_gets", {
  description: "Requested tokens, by outcome",
  incremental: true
})

/**
 * `idv_token_warnings` counts the irregularities of accepted responses, by `warning`, see `AccessToken.Warning`. The
 * client also logs each.
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokenWarnings = Metric.counter("idv_token_warnings", {
  description: "Irregularities of accepted token responses, by warning",
  incremental: true
})

/**
 * `idv_token_store` counts the uses of the `TokenStore` by acquisitions, by `outcome`:
 *
 * - `hit`: the acquisition adopted a stored token at once.
 * - `miss`: the store had no usable token.
 * - `led`: the acquisition sent the request for all processes.
 * - `followed`: it adopted the token of a process that led.
 * - `failed`: an operation of the store failed or timed out.
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokenStore = Metric.counter("idv_token_store", {
  description: "Uses of the shared token store, by outcome",
  incremental: true
})

/**
 * `idv_token_age_seconds` records the age of a token each time it is returned.
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokenAge = Metric.histogram(
  "idv_token_age_seconds",
  MetricBoundaries.fromIterable([1, 60, 300, 600, 1200, 1800, 2400, 2700, 3000, 3300, 3570, 3600]),
  "Age of a token each time it is returned, in seconds"
)

/**
 * `idv_token_waiters` records how many callers waited for an acquisition that sent a request: 0 in the background.
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokenWaiters = Metric.histogram(
  "idv_token_waiters",
  MetricBoundaries.fromIterable([0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]),
  "Callers that waited for an acquisition"
)
