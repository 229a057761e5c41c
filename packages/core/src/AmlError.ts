/**
 * Why there is no screening result. A failure is never an outcome: none of these says anything
 * about the person, and none may be read as "No".
 *
 * None holds a request, a response, a header, a body, a name, a date of birth or a token.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Host, isRedirect, located } from "./internal/host.ts"
import { undisclosed } from "./internal/omittedWhenEncoded.ts"
import * as PersonInput from "./PersonInput.ts"
import * as TokenError from "./TokenError.ts"
import * as Violation from "./Violation.ts"

/**
 * @category type ids
 * @since 0.1.0
 */
export const TypeId = "~@effect-idv/core/AmlError"

/**
 * Whether the service may have performed, and billed, the check:
 *
 * - `no`: certainly not.
 * - `unknown`: the request left, no answer came.
 * - `answered`: the service answered.
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
 * The person cannot be sent as given. Nothing was sent; the same input fails the same way.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlInputRejected extends Schema.TaggedError<AmlInputRejected>("@effect-idv/core/AmlInputRejected")(
  "AmlInputRejected",
  { issues: Schema.NonEmptyArray(PersonInput.Issue) }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return `The person cannot be screened: ${this.issues.map(String).join("; ")}`
  }
}

/** What an answer that is an error says of itself, as far as it is safe to repeat. */
const told = {
  code: Schema.optionalWith(Schema.String, { exact: true }),
  detail: undisclosed(Schema.RedactedFromSelf(Schema.String))
}

const withWait = (retryAfter: Duration.Duration | undefined): string =>
  retryAfter === undefined
    ? ""
    : `; try again in ${Duration.format(Duration.seconds(Math.ceil(Duration.toSeconds(retryAfter))))}`

const withCode = (code: string | undefined): string => code === undefined ? "" : `, code ${code}`

/**
 * What became of renewing a token that was refused:
 *
 * - `replayed`: the request was sent again with a new one, which was refused as well.
 * - `same_token`: the token endpoint has no other, and the request was refused a second time with it.
 * - `paused`: renewal is paused, and the request was refused a second time with the same token. Either
 *   the token was new less than 30 seconds ago and refused as well, or two others were refused in the
 *   last 30 seconds.
 * - `unreplayable`: the next request will have a new one; this one cannot be sent twice.
 * - `none`: the challenge was for another scheme than Bearer.
 *
 * @category models
 * @since 0.1.0
 */
export const Renewal = Schema.Literal("replayed", "same_token", "paused", "unreplayable", "none")

/**
 * @category models
 * @since 0.1.0
 */
export type Renewal = typeof Renewal.Type

/**
 * 401: the access token was refused (API document, section 5). `renewal` says what became of
 * renewing it; `code` and `detail` as in {@link AmlRequestRejected}.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlUnauthorized extends Schema.TaggedError<AmlUnauthorized>("@effect-idv/core/AmlUnauthorized")(
  "AmlUnauthorized",
  { status: Schema.Int, renewal: Renewal, ...told }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return `The service did not accept the access token (renewal: ${this.renewal}${withCode(this.code)})`
  }
}

/**
 * 403: these credentials may not run the check. A new token does not change that. `code` and
 * `detail` as in {@link AmlRequestRejected}.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlForbidden extends Schema.TaggedError<AmlForbidden>("@effect-idv/core/AmlForbidden")(
  "AmlForbidden",
  { status: Schema.Int, ...told }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return `The service does not allow these credentials to run the check: status ${this.status}${withCode(this.code)}`
  }
}

/**
 * Another 4xx: the service refused the request. Trying again can help after a 408 or a 425 only.
 *
 * - `code`: what the answer calls it (OAuth `error`, the `type` of a problem, `code`), if that is a
 *   word of a harmless alphabet and no part of the person or of the token. A name in other letters
 *   than Latin is not recognised in it, nor the name of anybody else.
 * - `detail`: what the answer says in free text, at most 1000 characters. It may repeat the person,
 *   so it is not shown, and it is left out when the error is encoded.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlRequestRejected extends Schema.TaggedError<AmlRequestRejected>(
  "@effect-idv/core/AmlRequestRejected"
)("AmlRequestRejected", { status: Schema.Int, ...told }) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return this.status === 408 || this.status === 425
  }
  override get message() {
    const option = this.status === 404 || this.status === 405 ? " (check baseUrl)" : ""
    return `The service refused the request: status ${this.status}${withCode(this.code)}${option}`
  }
}

/**
 * 429: too many requests. `retryAfter` is how long the service asked to wait, where it did; `code`
 * and `detail` as in {@link AmlRequestRejected}.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlRateLimited extends Schema.TaggedError<AmlRateLimited>("@effect-idv/core/AmlRateLimited")(
  "AmlRateLimited",
  { retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true }), ...told }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return true
  }
  override get message() {
    return `Too many requests${withCode(this.code)}${withWait(this.retryAfter)}`
  }
}

/**
 * The service answered 5xx or could not be reached. Look at `sent` before trying again: a check
 * with `sent: "unknown"` may have been performed and billed.
 *
 * - `reason`: see `TokenError.Reason`.
 * - `host`: the `host:port` of `baseUrl`.
 * - `status`: the HTTP status, where one was received.
 * - `retryAfter`: how long the service asked to wait, where it did.
 * - `code`, `detail`: as in {@link AmlRequestRejected}.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlUnavailable extends Schema.TaggedError<AmlUnavailable>("@effect-idv/core/AmlUnavailable")(
  "AmlUnavailable",
  {
    reason: TokenError.Reason,
    host: Host,
    status: Schema.optionalWith(Schema.Int, { exact: true }),
    sent: Sent,
    retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true }),
    ...told
  }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return this.reason !== "certificate"
  }
  override get message() {
    const reason = TokenError.describeReason(this.reason, this.status)
    const wait = withWait(this.retryAfter)
    return `${located("The service", this.host)} is not available: ${reason} (sent: ${this.sent}${
      withCode(this.code)
    }${wait})`
  }
}

/**
 * No credential within the deadline, which covers the token, the request and the whole answer.
 *
 * - `host`: the `host:port` of `baseUrl`; absent if the grace period of a `Screening` ended the check.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlTimeout extends Schema.TaggedError<AmlTimeout>("@effect-idv/core/AmlTimeout")(
  "AmlTimeout",
  { sent: Sent, deadline: Schema.DurationFromMillis, host: Host }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return true
  }
  override get message() {
    const sent = this.sent === "no" ? "no: it waited for a token, or to try again" : this.sent
    return `${this.host === undefined ? "No answer" : `No answer from ${this.host}`} within ${
      Duration.format(this.deadline)
    } (sent: ${sent})`
  }
}

/**
 * The answer breaks the contract (API document, section 2.3 and rules 1 and 2 of section 4.2), so
 * nothing in it is believed.
 *
 * - `host`: the `host:port` of `baseUrl`.
 * - `status`, `contentType`, `length` (bytes): what is safe to say of the answer.
 * - `violations`: the fields that are wrong, without their values.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlAnswerInvalid extends Schema.TaggedError<AmlAnswerInvalid>("@effect-idv/core/AmlAnswerInvalid")(
  "AmlAnswerInvalid",
  {
    host: Host,
    status: Schema.Int,
    contentType: Schema.optionalWith(Schema.String, { exact: true }),
    length: Schema.Int,
    violations: Schema.Array(Violation.Violation)
  }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    const service = located("The service", this.host)
    if (isRedirect(this.status)) {
      return `${service} answered ${
        this.status === 0 ? "with a redirect" : this.status
      }, which is not followed (check baseUrl)`
    }
    const { contentType = "no content type", length, status, violations } = this
    const answer = `${status} (${contentType}, ${length} bytes)`
    return `${service} answered ${answer}, which breaks the contract: ${Violation.format(violations)}`
  }
}

/**
 * The answer is a valid credential about somebody else.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlAnswerMismatch extends Schema.TaggedError<AmlAnswerMismatch>("@effect-idv/core/AmlAnswerMismatch")(
  "AmlAnswerMismatch",
  { fields: Schema.NonEmptyArray(Schema.Literal("name", "birth_year")) }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return `The answer is about somebody else: ${this.fields.join(" and ")} differ${
      this.fields.length === 1 ? "s" : ""
    } from what was sent`
  }
}

/**
 * What the AML endpoint can fail with. `AmlClient.check` can also fail with a `TokenError`, and
 * `Person.make` with {@link AmlInputRejected}.
 *
 * @category errors
 * @since 0.1.0
 */
export type AmlError =
  | AmlUnauthorized
  | AmlForbidden
  | AmlRequestRejected
  | AmlRateLimited
  | AmlUnavailable
  | AmlTimeout
  | AmlAnswerInvalid
  | AmlAnswerMismatch

/**
 * @category guards
 * @since 0.1.0
 */
export const isAmlError = (u: unknown): u is AmlError | AmlInputRejected => Predicate.hasProperty(u, TypeId)
