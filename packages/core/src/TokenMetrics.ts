/**
 * The metrics of all token providers of a process. No label contains an id, a key or a token.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

/**
 * Counts the token requests sent, retries included.
 *
 * @category metrics
 * @since 0.1.0
 */
export const requests = Metric.counter("idv_token_requests", {
  description: "Token requests sent, retries included",
  incremental: true
})

/**
 * Counts the acquisitions that sent a request, by `reason`:
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
export const acquisitions = Metric.counter("idv_token_acquisitions", {
  description: "Acquisitions that sent a request, by reason",
  incremental: true
})

/**
 * Counts the acquisitions that failed after a request, by `error`: the tag of the `TokenError`, or `defect`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const failures = Metric.counter("idv_token_failures", {
  description: "Acquisitions that failed after a request, by error",
  incremental: true
})

/**
 * Counts the calls of `get` and `refresh`, by `outcome`:
 *
 * - `hit`: the call returned the cached token at once.
 * - `stale`: the same, with a token older than refresh-after.
 * - `wait`: the call waited for an acquisition.
 * - `failed`: the call failed.
 *
 * @category metrics
 * @since 0.1.0
 */
export const gets = Metric.counter("idv_token_gets", {
  description: "Requested tokens, by outcome",
  incremental: true
})

/**
 * Counts the irregularities of accepted responses, by `warning`, see `AccessToken.Warning`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const warnings = Metric.counter("idv_token_warnings", {
  description: "Irregularities of accepted token responses, by warning",
  incremental: true
})

/**
 * Counts the uses of the `TokenStore` by acquisitions, by `outcome`:
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
export const store = Metric.counter("idv_token_store", {
  description: "Uses of the shared token store, by outcome",
  incremental: true
})

/**
 * Records the age of a token in seconds each time it is returned.
 *
 * @category metrics
 * @since 0.1.0
 */
export const age = Metric.histogram(
  "idv_token_age_seconds",
  MetricBoundaries.fromIterable([1, 60, 300, 600, 1200, 1800, 2400, 2700, 3000, 3300, 3570, 3600]),
  "Age of a token each time it is returned, in seconds"
)

/**
 * Records how many callers waited for an acquisition that sent a request: 0 in the background.
 *
 * @category metrics
 * @since 0.1.0
 */
export const waiters = Metric.histogram(
  "idv_token_waiters",
  MetricBoundaries.fromIterable([0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]),
  "Callers that waited for an acquisition"
)
