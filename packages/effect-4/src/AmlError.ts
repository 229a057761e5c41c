/**
 * The errors of the AML check. None of them says anything about the person, and none may be treated as "No".
 *
 * None contains a request, a response, a header, a body, a name, a date of birth or a token.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as EngineFailure from "./internal/engine/engineFailure.ts"
import * as Fields from "./internal/fields.ts"
import * as PersonInput from "./internal/personInput.ts"
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
export const Sent = Schema.Literals(["no", "unknown", "answered"])

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
export class AmlInputRejected extends Schema.TaggedError<AmlInputRejected>("@effect-idv/effect-4/AmlInputRejected")(
  "AmlInputRejected",
  {
    /** Every reason, with its field and code, without the input. */
    issues: Schema.NonEmptyArray(PersonInput.Issue)
  }
) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The result of renewing a rejected token.
 *
 * - `replayed`: the request was sent again with a new token, which was rejected too.
 * - `same_token`: the token endpoint issued the same token again, which was rejected a second time.
 * - `paused`: renewal is paused, because other tokens were rejected shortly before. The request was rejected a second
 *   time with the same token.
 * - `none`: the response asks for another scheme than Bearer, so the token was not renewed.
 *
 * @category models
 * @since 0.1.0
 */
export const Renewal = Schema.Literals(["replayed", "same_token", "paused", "none"])

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
export class AmlUnauthorized extends Schema.TaggedError<AmlUnauthorized>("@effect-idv/effect-4/AmlUnauthorized")(
  "AmlUnauthorized",
  { status: Schema.Int, renewal: Renewal, ...Fields.errorBody }
) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * 403: the service does not allow these credentials to run the check. A new token does not change that.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlForbidden extends Schema.TaggedError<AmlForbidden>("@effect-idv/effect-4/AmlForbidden")(
  "AmlForbidden",
  { status: Schema.Int, ...Fields.errorBody }
) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * Any other 4xx: the service refused the request. A retry can succeed only after a 408 or a 425.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlRequestRejected extends Schema.TaggedError<AmlRequestRejected>(
  "@effect-idv/effect-4/AmlRequestRejected"
)("AmlRequestRejected", {
  status: Schema.Int,
  /** How long the service asked to wait, with 408 or 425. */
  retryAfter: Fields.RetryAfter,
  ...Fields.errorBody
}) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * 429: the service received too many requests, and did not perform the check.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlRateLimited extends Schema.TaggedError<AmlRateLimited>("@effect-idv/effect-4/AmlRateLimited")(
  "AmlRateLimited",
  {
    /** How long the service asked to wait, if it did. */
    retryAfter: Fields.RetryAfter,
    ...Fields.errorBody
  }
) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The service responded with 5xx or could not be reached. Before a retry, look at `sent`: with `unknown` the service
 * may have performed and billed the check.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlUnavailable extends Schema.TaggedError<AmlUnavailable>("@effect-idv/effect-4/AmlUnavailable")(
  "AmlUnavailable",
  {
    reason: TokenError.Reason,
    /** The `host:port` of `baseUrl`. */
    host: Fields.Host,
    /** The HTTP status, if one was received: of the service, or with `reason: "proxy"` of the proxy. */
    status: Schema.optionalKey(Schema.Int),
    sent: Sent,
    /** How long the service asked to wait, if it did. */
    retryAfter: Fields.RetryAfter,
    ...Fields.errorBody
  }
) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The check exceeded its deadline, which covers the token, all requests and the whole response.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlTimeout extends Schema.TaggedError<AmlTimeout>("@effect-idv/effect-4/AmlTimeout")(
  "AmlTimeout",
  {
    sent: Sent,
    deadline: Fields.NonNegativeDuration,
    /** The `host:port` of `baseUrl`. Absent if the grace period of a `Screening` ended the check. */
    host: Fields.Host
  }
) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The response breaks the contract (service document, section 2.3, and rules 1 and 2 of section 4.2), so no part of it
 * is used.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlResponseInvalid extends Schema.TaggedError<AmlResponseInvalid>(
  "@effect-idv/effect-4/AmlResponseInvalid"
)("AmlResponseInvalid", Fields.invalidResponse) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The response is a valid credential about another person.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlResponseMismatch extends Schema.TaggedError<AmlResponseMismatch>(
  "@effect-idv/effect-4/AmlResponseMismatch"
)("AmlResponseMismatch", { fields: Schema.NonEmptyArray(Schema.Literals(["name", "birth_year"])) }) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The errors of the AML endpoint. `AmlClient.check` can also fail with a `TokenError`, and `Person.make` with
 * {@link AmlInputRejected}.
 *
 * @category errors
 * @since 0.1.0
 */
export const AmlError = Schema.Union([
  AmlUnauthorized,
  AmlForbidden,
  AmlRequestRejected,
  AmlRateLimited,
  AmlUnavailable,
  AmlTimeout,
  AmlResponseInvalid,
  AmlResponseMismatch
])

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
  Schema.Union([AmlInputRejected, ...AmlError.members])
)
