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
import * as Struct from "effect/Struct"
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
 * What can be wrong with a person, in words.
 *
 * @category models
 * @since 0.1.0
 */
export const inputReasons = {
  empty: "there is nothing in it",
  too_long: "it has more than 255 characters",
  no_letter: "it has no letter",
  control_character: "a control character or line break",
  bidi_control: "a character that overrides the direction of writing",
  invisible_character: "an invisible character",
  lone_surrogate: "half a character (broken UTF-16)",
  replacement_character: "U+FFFD, which stands for text that was lost",
  private_use_character: "a private use character",
  unassigned_character: "a code point that is no character",
  format: "it is not year-month-day, as 1990-02-01",
  no_such_date: "that day does not exist",
  other_calendar: "the year looks like one of the Hijri, Persian or Buddhist calendar",
  in_future: "that day has not begun anywhere on earth",
  too_long_ago: "it is more than 130 years ago"
} as const

/**
 * What is wrong with one field of a person.
 *
 * - `field`: `name` or `dateOfBirth`.
 * - `code`: what is wrong, for a machine; {@link inputReasons} has it in words.
 * - `index`: where, as an offset in UTF-16 units into the text as given.
 *
 * @category models
 * @since 0.1.0
 */
export class InputIssue extends Schema.Class<InputIssue>("@effect-idv/core/InputIssue")({
  field: Schema.Literal("name", "dateOfBirth"),
  code: Schema.Literal(...Struct.keys(inputReasons)),
  index: Schema.optionalWith(Schema.Int, { exact: true })
}) {
  /** `name at 3: an invisible character (invisible_character)` */
  override toString(): string {
    return `${this.field}${this.index === undefined ? "" : ` at ${this.index}`}: ${
      inputReasons[this.code]
    } (${this.code})`
  }
}

/**
 * The person cannot be sent as given. Nothing was sent; the same input fails the same way.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlInputRejected extends Schema.TaggedError<AmlInputRejected>("@effect-idv/core/AmlInputRejected")(
  "AmlInputRejected",
  { issues: Schema.NonEmptyArray(InputIssue) }
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

/**
 * What became of renewing a token that was refused:
 *
 * - `replayed`: the request was sent again with a new one, which was refused as well.
 * - `same_token`: the token endpoint has no other.
 * - `paused`: it was new itself less than 30 seconds ago, and never accepted. Another would be no
 *   better, and is not asked for yet.
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
 * renewing it.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlUnauthorized extends Schema.TaggedError<AmlUnauthorized>("@effect-idv/core/AmlUnauthorized")(
  "AmlUnauthorized",
  { status: Schema.Int, renewal: Renewal }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return `The service did not accept the access token (renewal: ${this.renewal})`
  }
}

/**
 * 403: these credentials may not run the check. A new token does not change that.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlForbidden extends Schema.TaggedError<AmlForbidden>("@effect-idv/core/AmlForbidden")(
  "AmlForbidden",
  { status: Schema.Int }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return "The service does not allow these credentials to run the check"
  }
}

/**
 * Another 4xx: the service refused the request.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlRequestRejected extends Schema.TaggedError<AmlRequestRejected>(
  "@effect-idv/core/AmlRequestRejected"
)("AmlRequestRejected", { status: Schema.Int }) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return `The service refused the request: status ${this.status}`
  }
}

/**
 * 429: too many requests. `retryAfter` is how long the service asked to wait, where it did.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlRateLimited extends Schema.TaggedError<AmlRateLimited>("@effect-idv/core/AmlRateLimited")(
  "AmlRateLimited",
  { retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true }) }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return true
  }
  override get message() {
    return `Too many requests${this.retryAfter === undefined ? "" : `: wait ${this.retryAfter}`}`
  }
}

/**
 * The service answered 5xx or could not be reached. Look at `sent` before trying again: a check
 * with `sent: "unknown"` may have been performed and billed.
 *
 * - `reason`: see `TokenError.Reason`.
 * - `status`: the HTTP status, where one was received.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlUnavailable extends Schema.TaggedError<AmlUnavailable>("@effect-idv/core/AmlUnavailable")(
  "AmlUnavailable",
  {
    reason: TokenError.Reason,
    status: Schema.optionalWith(Schema.Int, { exact: true }),
    sent: Sent,
    retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true })
  }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return this.reason !== "certificate"
  }
  override get message() {
    return `The service is not available: ${TokenError.describeReason(this.reason, this.status)} (sent: ${this.sent})`
  }
}

/**
 * No credential within the deadline, which covers the token, the request and the whole answer.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlTimeout extends Schema.TaggedError<AmlTimeout>("@effect-idv/core/AmlTimeout")(
  "AmlTimeout",
  { sent: Sent, deadline: Schema.DurationFromMillis }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return true
  }
  override get message() {
    return `No answer within ${Duration.format(this.deadline)} (sent: ${this.sent})`
  }
}

/**
 * The answer breaks the contract (API document, section 2.3 and rules 1 and 2 of section 4.2), so
 * nothing in it is believed.
 *
 * - `status`, `contentType`, `length` (bytes): what is safe to say of the answer.
 * - `violations`: the fields that are wrong, without their values.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlAnswerInvalid extends Schema.TaggedError<AmlAnswerInvalid>("@effect-idv/core/AmlAnswerInvalid")(
  "AmlAnswerInvalid",
  {
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
    return `The answer breaks the contract: ${Violation.format(this.violations)}`
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
