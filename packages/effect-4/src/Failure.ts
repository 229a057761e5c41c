/**
 * The errors of a check, and what to do about each of them, as data.
 *
 * @since 0.1.0
 */
import * as Failure3 from "@effect-idv/core/Failure"
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as AmlError from "./AmlError.ts"
import * as EngineFailure from "./internal/engine/engineFailure.ts"
import * as TokenError from "./TokenError.ts"

/**
 * Every error of `Person.make` and `AmlClient.check`.
 *
 * @category errors
 * @since 0.1.0
 */
export const Failure = Schema.Union([
  AmlError.AmlInputRejected,
  ...AmlError.AmlError.members,
  ...TokenError.TokenError.members
])

/**
 * @category errors
 * @since 0.1.0
 */
export type Failure = typeof Failure.Type

/**
 * What to do about a failure, as data.
 *
 * @category models
 * @since 0.1.0
 */
export interface Facts {
  /** Whether a later retry can succeed. */
  readonly isRetryable: boolean
  /**
   * Whether the service may have performed and billed the check: `no`, `answered` (a response arrived) or `unknown`.
   */
  readonly sent: AmlError.Sent
  /** How long the service asked to wait, if it did. */
  readonly retryAfter: Duration.Duration | undefined
  /**
   * What the failure depends on.
   *
   * - `person`: on this person or their data. Other checks are not affected.
   * - `service`: on a temporary state of the service. The next check may succeed.
   * - `everyone`: on a lasting cause, such as the configuration, the credentials or the certificate. Every later check
   *   fails too, until it changes.
   */
  readonly concerns: "person" | "service" | "everyone"
}

/**
 * Returns the facts of a failure.
 *
 * @category getters
 * @since 0.1.0
 */
export const facts = (error: Failure): Facts => ({
  ...Failure3.facts(EngineFailure.of(error)),
  retryAfter: "retryAfter" in error ? error.retryAfter : undefined
})
