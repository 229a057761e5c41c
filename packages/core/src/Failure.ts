/**
 * The errors of a check, and what to do about each of them, as data.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Match from "effect/Match"
import type * as AmlError from "./AmlError.ts"
import type * as TokenError from "./TokenError.ts"

/**
 * Every error of `Person.make`, `AmlClient.check` and `TokenProvider.get`.
 *
 * @category errors
 * @since 0.1.0
 */
export type Failure = AmlError.AmlError | AmlError.AmlInputRejected | TokenError.TokenError

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
  isRetryable: error.isRetryable,
  retryAfter: "retryAfter" in error ? error.retryAfter : undefined,
  ...byTag(error)
})

const of = (sent: Facts["sent"], concerns: Facts["concerns"]) => ({ sent, concerns })

/** A total record over the tags: a new error does not compile until its facts are decided. */
const byTag = Match.typeTags<Failure>()({
  AmlInputRejected: () => of("no", "person"),
  AmlUnauthorized: () => of("answered", "everyone"),
  AmlForbidden: () => of("answered", "everyone"),
  AmlRequestRejected: ({ status }) => of("answered", statusConcerns(status)),
  AmlRateLimited: () => of("answered", "service"),
  AmlUnavailable: ({ reason, sent }) => of(sent, reasonConcerns(reason)),
  AmlTimeout: ({ sent }) => of(sent, "service"),
  AmlAnswerInvalid: ({ status }) => of("answered", isRedirect(status) ? "everyone" : "service"),
  AmlAnswerMismatch: () => of("answered", "person"),
  TokenRejected: () => of("no", "everyone"),
  TokenEndpointUnavailable: ({ reason }) => of("no", reasonConcerns(reason)),
  TokenResponseInvalid: () => of("no", "everyone"),
  TokenTimeout: () => of("no", "service"),
  TokenProviderClosed: () => of("no", "everyone")
})

/** A bad certificate affects every check; a failed connection may affect only this one. */
const reasonConcerns = (reason: TokenError.TokenEndpointUnavailable["reason"]): Facts["concerns"] =>
  reason === "certificate" ? "everyone" : "service"

const isRedirect = (status: number): boolean => status >= 300 && status < 400

/**
 * The 4xx that concern the address, the method, the media type, the proxy or the account, which all checks share. The
 * others concern the content of one request.
 */
const sharedStatuses: ReadonlySet<number> = new Set([402, 404, 405, 406, 407, 410, 415, 421, 426])

/** 408 and 425 concern the connection. */
const statusConcerns = (status: number): Facts["concerns"] =>
  status === 408 || status === 425 ? "service" : sharedStatuses.has(status) ? "everyone" : "person"
