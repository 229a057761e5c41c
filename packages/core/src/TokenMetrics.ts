/**
 * What the token providers of a process count. None has an id, a key or a token in it.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

/**
 * Token requests that were sent, retries included.
 *
 * @category metrics
 * @since 0.1.0
 */
export const requests = Metric.counter("idv_token_requests", {
  description: "Token requests sent, retries included",
  incremental: true
})

/**
 * Acquisitions that sent a request, by `reason`: `cold` (there was no token), `soft` (in the
 * background), `hard` (too old), `unauthorized` (refused by the API), `forced` (`refresh`).
 *
 * @category metrics
 * @since 0.1.0
 */
export const flights = Metric.counter("idv_token_flights", {
  description: "Acquisitions that sent a request, by reason",
  incremental: true
})

/**
 * Acquisitions that failed after a request, by `error`: the tag of the `TokenError`, or `defect`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const failures = Metric.counter("idv_token_failures", {
  description: "Acquisitions that failed after a request, by error",
  incremental: true
})

/**
 * Tokens asked for, by `outcome`: `hit` (given at once), `stale` (given at once, past the soft
 * point), `wait` (given after an acquisition), `failed` (not given).
 *
 * @category metrics
 * @since 0.1.0
 */
export const gets = Metric.counter("idv_token_gets", {
  description: "Tokens asked for, by outcome",
  incremental: true
})

/**
 * Responses that were odd and yet accepted, by `warning`, see `AccessToken.Warning`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const warnings = Metric.counter("idv_token_warnings", {
  description: "Token responses that were odd and yet accepted, by warning",
  incremental: true
})

/**
 * The age of a token in seconds, each time it is given out.
 *
 * @category metrics
 * @since 0.1.0
 */
export const age = Metric.histogram(
  "idv_token_age_seconds",
  MetricBoundaries.fromIterable([1, 60, 300, 600, 1200, 1800, 2400, 2700, 3000, 3300, 3570, 3600]),
  "Age of a token each time it is given out, in seconds"
)

/**
 * How many callers waited for an acquisition that sent a request; 0 in the background.
 *
 * @category metrics
 * @since 0.1.0
 */
export const waiters = Metric.histogram(
  "idv_token_waiters",
  MetricBoundaries.fromIterable([0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]),
  "Callers that waited for an acquisition"
)
