/**
 * The errors of a check, and what to do about each of them, as data.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as AmlError from "./AmlError.ts"
import { isLasting, isRedirect } from "./internal/schema/fields.ts"
import * as TokenError from "./TokenError.ts"

/**
 * Every error of `Person.make`, `AmlClient.check` and `TokenProvider.get`.
 *
 * @category errors
 * @since 0.1.0
 */
export const Failure = Schema.Union(
  AmlError.AmlInputRejected,
  ...AmlError.AmlError.members,
  ...TokenError.TokenError.members
)

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
  isRetryable: error.isRetryable,
  retryAfter: "retryAfter" in error ? error.retryAfter : undefined,
  ...factsByTag(error)
})

const makeFacts = (sent: Facts["sent"], concerns: Facts["concerns"]) => ({ sent, concerns })

/** The code does not compile until it has the facts of a new error. */
const factsByTag = (error: Failure): Pick<Facts, "concerns" | "sent"> => {
  switch (error._tag) {
    case "AmlInputRejected":
      return makeFacts("no", "person")
    case "AmlUnauthorized":
    case "AmlForbidden":
      return makeFacts("answered", "everyone")
    case "AmlRequestRejected":
      return makeFacts("answered", statusConcerns(error.status))
    case "AmlRateLimited":
      return makeFacts("answered", "service")
    case "AmlUnavailable":
      return makeFacts(error.sent, isLasting(error) ? "everyone" : "service")
    case "AmlTimeout":
      return makeFacts(error.sent, "service")
    case "AmlResponseInvalid":
      return makeFacts("answered", isRedirect(error.status) ? "everyone" : "service")
    case "AmlResponseMismatch":
      return makeFacts("answered", "person")
    case "TokenEndpointUnavailable":
      return makeFacts("no", isLasting(error) ? "everyone" : "service")
    case "TokenTimeout":
      return makeFacts("no", "service")
    case "TokenRejected":
    case "TokenResponseInvalid":
    case "TokenProviderClosed":
      return makeFacts("no", "everyone")
    // A wrapper of a service that is not typed may fail with another error, also after the request was sent.
    default:
      error satisfies never
      return makeFacts("unknown", "service")
  }
}

/**
 * The 4xx statuses that concern what all checks share: the address, the method, the media type, the proxy or the
 * account. The other 4xx statuses concern the content of one request.
 */
const sharedStatuses: ReadonlySet<number> = new Set([402, 404, 405, 406, 407, 410, 415, 421, 426])

/** 408 and 425 concern the connection. */
const statusConcerns = (status: number): Facts["concerns"] =>
  status === 408 || status === 425 ? "service" : sharedStatuses.has(status) ? "everyone" : "person"
