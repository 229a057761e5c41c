/**
 * Every way in which somebody is not screened, and what to do about it.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as AmlError from "./AmlError.ts"
import type * as TokenError from "./TokenError.ts"

/**
 * Every way in which somebody is not screened.
 *
 * @category errors
 * @since 0.1.0
 */
export type Failure = AmlError.AmlError | AmlError.AmlInputRejected | TokenError.TokenError

/**
 * What to do about a failure, as data.
 *
 * - `isRetryable`: whether trying again, later, can help.
 * - `sent`: whether the service may have performed, and billed, the check.
 * - `retryAfter`: how long the service asked to wait.
 * - `concerns`: this `person`, or `everyone`: the same would happen to all others, until somebody
 *   mends the credentials.
 *
 * @category models
 * @since 0.1.0
 */
export interface Facts {
  readonly isRetryable: boolean
  readonly sent: AmlError.Sent
  readonly retryAfter: Duration.Duration | undefined
  readonly concerns: "person" | "everyone"
}

/**
 * @category getters
 * @since 0.1.0
 */
export const facts = (error: Failure): Facts => ({
  isRetryable: error.isRetryable,
  sent: "sent" in error ? error.sent : neverSent.has(error._tag) ? "no" : "answered",
  retryAfter: "retryAfter" in error ? error.retryAfter : undefined,
  concerns: ofEveryone.has(error._tag) ? "everyone" : "person"
})

const neverSent: ReadonlySet<Failure["_tag"]> = new Set([
  "AmlInputRejected",
  "TokenRejected",
  "TokenEndpointUnavailable",
  "TokenResponseInvalid",
  "TokenTimeout",
  "TokenProviderClosed"
])

const ofEveryone: ReadonlySet<Failure["_tag"]> = new Set([
  "TokenRejected",
  "TokenProviderClosed",
  "AmlUnauthorized",
  "AmlForbidden"
])
