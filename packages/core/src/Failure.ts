/**
 * Every way in which somebody is not screened, and what to do about it.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Match from "effect/Match"
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
 * - `concerns`: whom the failure says something about. `person`: this person, or their data; others
 *   are not affected. `service`: not the person; the next check may go better. `everyone`: every
 *   later check fails too, until somebody changes the configuration, the credentials or the service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Facts {
  readonly isRetryable: boolean
  readonly sent: AmlError.Sent
  readonly retryAfter: Duration.Duration | undefined
  readonly concerns: "person" | "service" | "everyone"
}

/**
 * The facts of a failure.
 *
 * @category getters
 * @since 0.1.0
 */
export const facts = (error: Failure): Facts => ({
  isRetryable: error.isRetryable,
  retryAfter: "retryAfter" in error ? error.retryAfter : undefined,
  ...ofTag(error)
})

const of = (sent: Facts["sent"], concerns: Facts["concerns"]) => ({ sent, concerns })

/** A record of all tags: a new error does not compile until it is decided. */
const ofTag = Match.typeTags<Failure>()({
  AmlInputRejected: () => of("no", "person"),
  AmlUnauthorized: () => of("answered", "everyone"),
  AmlForbidden: () => of("answered", "everyone"),
  AmlRequestRejected: ({ status }) => of("answered", concernsOfStatus(status)),
  AmlRateLimited: () => of("answered", "service"),
  AmlUnavailable: ({ reason, sent }) => of(sent, concernsOfReason(reason)),
  AmlTimeout: ({ sent }) => of(sent, "service"),
  AmlAnswerInvalid: ({ status }) => of("answered", isRedirect(status) ? "everyone" : "service"),
  AmlAnswerMismatch: () => of("answered", "person"),
  TokenRejected: () => of("no", "everyone"),
  TokenEndpointUnavailable: ({ reason }) => of("no", concernsOfReason(reason)),
  TokenResponseInvalid: () => of("no", "everyone"),
  TokenTimeout: () => of("no", "service"),
  TokenProviderClosed: () => of("no", "everyone")
})

/** A certificate is the same for every request; a connection is not. */
const concernsOfReason = (reason: TokenError.TokenEndpointUnavailable["reason"]): Facts["concerns"] =>
  reason === "certificate" ? "everyone" : "service"

const isRedirect = (status: number): boolean => status >= 300 && status < 400

/**
 * The 4xx that are about the address, the method, the media type, the proxy or the account, which all
 * checks share. The other ones are about the content of one request.
 */
const statusesOfEveryone: ReadonlySet<number> = new Set([402, 404, 405, 406, 407, 410, 415, 421, 426])

/** 408 and 425 are about the connection. */
const concernsOfStatus = (status: number): Facts["concerns"] =>
  status === 408 || status === 425 ? "service" : statusesOfEveryone.has(status) ? "everyone" : "person"
