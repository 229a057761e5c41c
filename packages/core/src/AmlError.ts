/**
 * The errors of the AML check. None of them says anything about the person, and none may be treated as "No".
 *
 * None contains a request, a response, a header, a body, a name, a date of birth or a token.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as PersonInput from "./internal/names/personInput.ts"
import {
  describeInvalid,
  Host,
  invalidResponse,
  isLasting,
  omittedWhenEncoded,
  withHost,
  withWait
} from "./internal/schema/fields.ts"
import * as TokenError from "./TokenError.ts"

/**
 * Whether the service may have performed and billed the check.
 *
 * - `no`: certainly not.
 * - `unknown`: the request was sent and no response arrived.
 * - `answered`: at least the headers of a response arrived. The response may show whether the check was performed.
 *
 * @category models
 * @since 0.1.0
 */
export const Sent = Schema.Literal("no", "unknown", "answered")

/**
 * @category models
 * @since 0.1.0
 */
export type Sent = typeof Sent.Type

/**
 * The input cannot be sent. Nothing was sent, and the same input will fail again.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlInputRejected extends Schema.TaggedError<AmlInputRejected>("@effect-idv/core/AmlInputRejected")(
  "AmlInputRejected",
  {
    /** Every reason, with its field and code, without the input. */
    issues: Schema.NonEmptyArray(PersonInput.Issue)
  }
) {
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return `The person cannot be screened: ${this.issues.map(String).join("; ")}`
  }
}

/** The fields of an error that come from the body of the error response. */
const errorBodyFields = {
  /**
   * The error code of the response (OAuth `error`, the `type` of a problem, or `code`), if it matches a safe-character
   * pattern and repeats no part of the person or the token. The comparison does not detect the name of another person,
   * or a Latin spelling of a name in another script.
   */
  code: Schema.optionalWith(Schema.String, { exact: true }),
  /**
   * The free text of the response, at most 1000 characters. It may contain personal data, so it is redacted, and
   * omitted when the error is encoded.
   */
  detail: omittedWhenEncoded(Schema.RedactedFromSelf(Schema.String))
}

const withCode = (code: string | undefined): string => code === undefined ? "" : `, code ${code}`

/**
 * The result of renewing a rejected token.
 *
 * - `replayed`: the request was sent again with a new token, which was rejected too.
 * - `same_token`: the token endpoint issued the same token again, which was rejected a second time.
 * - `paused`: renewal is paused, and the request was rejected a second time with the same token. Renewal is paused if
 *   the token of the request replaced a rejected one less than 30 seconds ago, or if two other tokens were rejected in
 *   the last 30 seconds.
 * - `none`: the response asks for another scheme than Bearer, so the token was not renewed.
 *
 * @category models
 * @since 0.1.0
 */
export const Renewal = Schema.Literal("replayed", "same_token", "paused", "none")

/**
 * @category models
 * @since 0.1.0
 */
export type Renewal = typeof Renewal.Type

/**
 * 401: the service rejected the access token (service document, section 5). `renewal` is the result of renewing it.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlUnauthorized extends Schema.TaggedError<AmlUnauthorized>("@effect-idv/core/AmlUnauthorized")(
  "AmlUnauthorized",
  { status: Schema.Int, renewal: Renewal, ...errorBodyFields }
) {
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    const check = "check that authUrl and baseUrl belong to the same environment"
    return `The service rejected the access token (renewal: ${this.renewal}${withCode(this.code)}; ${check})`
  }
}

/**
 * 403: the service does not allow these credentials to run the check. A new token does not change that.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlForbidden extends Schema.TaggedError<AmlForbidden>("@effect-idv/core/AmlForbidden")(
  "AmlForbidden",
  { status: Schema.Int, ...errorBodyFields }
) {
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    const status = `status ${this.status}${withCode(this.code)}`
    return `The service does not allow these credentials to run the check: ${status} (ask it to allow this customer)`
  }
}

/**
 * Any other 4xx: the service refused the request. A retry can succeed only after a 408 or a 425.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlRequestRejected extends Schema.TaggedError<AmlRequestRejected>(
  "@effect-idv/core/AmlRequestRejected"
)("AmlRequestRejected", {
  status: Schema.Int,
  /** How long the service asked to wait, with 408 or 425. */
  retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true }),
  ...errorBodyFields
}) {
  get isRetryable(): boolean {
    return this.status === 408 || this.status === 425
  }
  override get message() {
    const hint = this.status === 404 || this.status === 405 ? " (check baseUrl)" : ""
    return `The service refused the request: status ${this.status}${withCode(this.code)}${hint}`
  }
}

/**
 * 429: the service received too many requests, and did not perform the check.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlRateLimited extends Schema.TaggedError<AmlRateLimited>("@effect-idv/core/AmlRateLimited")(
  "AmlRateLimited",
  {
    /** How long the service asked to wait, if it did. */
    retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true }),
    ...errorBodyFields
  }
) {
  get isRetryable(): boolean {
    return true
  }
  override get message() {
    return `Too many requests${withCode(this.code)}${withWait(this.retryAfter)}`
  }
}

/**
 * The service responded with 5xx or could not be reached. Before a retry, look at `sent`: with `unknown` the service
 * may have performed and billed the check.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlUnavailable extends Schema.TaggedError<AmlUnavailable>("@effect-idv/core/AmlUnavailable")(
  "AmlUnavailable",
  {
    reason: TokenError.Reason,
    /** The `host:port` of `baseUrl`. */
    host: Host,
    /** The HTTP status, if one was received: of the service, or with `reason: "proxy"` of the proxy. */
    status: Schema.optionalWith(Schema.Int, { exact: true }),
    sent: Sent,
    /** How long the service asked to wait, if it did. */
    retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true }),
    ...errorBodyFields
  }
) {
  get isRetryable(): boolean {
    return !isLasting(this)
  }
  override get message() {
    const reason = TokenError.describeReason(this.reason, this.status)
    const wait = withWait(this.retryAfter)
    return `${withHost("The service", this.host)} is not available: ${reason} (sent: ${this.sent}${
      withCode(this.code)
    }${wait})`
  }
}

/**
 * The check exceeded its deadline, which covers the token, all requests and the whole response.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlTimeout extends Schema.TaggedError<AmlTimeout>("@effect-idv/core/AmlTimeout")(
  "AmlTimeout",
  {
    sent: Sent,
    deadline: Schema.DurationFromMillis,
    /** The `host:port` of `baseUrl`. Absent if the grace period of a `Screening` ended the check. */
    host: Host
  }
) {
  get isRetryable(): boolean {
    return true
  }
  override get message() {
    const sent = this.sent === "no"
      ? "no: the check waited for a place (concurrency), a token, a connection or a retry"
      : this.sent
    return `${this.host === undefined ? "No response" : `No response from ${this.host}`} within ${
      Duration.format(this.deadline)
    } (sent: ${sent})`
  }
}

/**
 * The response breaks the contract (service document, section 2.3, and rules 1 and 2 of section 4.2), so no part of it
 * is used.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlResponseInvalid extends Schema.TaggedError<AmlResponseInvalid>("@effect-idv/core/AmlResponseInvalid")(
  "AmlResponseInvalid",
  invalidResponse
) {
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return describeInvalid(this, { name: "The service", option: "baseUrl", problem: "breaks the contract" })
  }
}

/**
 * The response is a valid credential about another person.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlResponseMismatch
  extends Schema.TaggedError<AmlResponseMismatch>("@effect-idv/core/AmlResponseMismatch")(
    "AmlResponseMismatch",
    { fields: Schema.NonEmptyArray(Schema.Literal("name", "birth_year")) }
  )
{
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    const verb = this.fields.length === 1 ? "differs" : "differ"
    return `The response is about another person: ${this.fields.join(" and ")} ${verb} from the request`
  }
}

/**
 * The errors of the AML endpoint. `AmlClient.check` can also fail with a `TokenError`, and `Person.make` with
 * {@link AmlInputRejected}.
 *
 * @category errors
 * @since 0.1.0
 */
export const AmlError = Schema.Union(
  AmlUnauthorized,
  AmlForbidden,
  AmlRequestRejected,
  AmlRateLimited,
  AmlUnavailable,
  AmlTimeout,
  AmlResponseInvalid,
  AmlResponseMismatch
)

/**
 * @category errors
 * @since 0.1.0
 */
export type AmlError = typeof AmlError.Type

/**
 * Whether a value is an {@link AmlError} or an {@link AmlInputRejected}: every error of this module.
 *
 * @category guards
 * @since 0.1.0
 */
export const isAmlError: (u: unknown) => u is AmlError | AmlInputRejected = Schema.is(
  Schema.Union(AmlError, AmlInputRejected)
)
