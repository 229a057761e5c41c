/**
 * Why there is no access token. With each of these no check was performed: none was sent, or the
 * one that was sent was refused with 401 and its token could not be replaced.
 *
 * None holds a request, a response, a header, a body, a key or a token.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Host, isRedirect, located } from "./internal/host.ts"
import * as Violation from "./Violation.ts"

/**
 * @category type ids
 * @since 0.1.0
 */
export const TypeId = "~@effect-idv/core/TokenError"

/**
 * Why a service is not available: it answered with a `status` that says so, nobody accepted the
 * connection (`unreachable`), its name is not known (`dns`), it does not speak TLS (`tls`), its
 * certificate is not trusted (`certificate`), or the connection was lost (`broken`).
 *
 * @category models
 * @since 0.1.0
 */
export const Reason = Schema.Literal("status", "unreachable", "dns", "tls", "certificate", "broken")

/**
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * A reason in words.
 *
 * @category destructors
 * @since 0.1.0
 */
export const describeReason = (reason: Reason, status: number | undefined): string => {
  switch (reason) {
    case "status":
      return `it answered with status ${status}`
    case "unreachable":
      return "nobody accepts the connection (unreachable)"
    case "dns":
      return "its host name is not known (dns)"
    case "tls":
      return "it does not speak TLS (tls)"
    case "certificate":
      return "its certificate is not trusted (certificate)"
    case "broken":
      return "the connection was lost (broken)"
  }
}

/**
 * The service refused the credentials or the request (API document, section 4.1): a 4xx, or an
 * OAuth `error` under a 2xx. Trying again with the same credentials cannot help.
 *
 * - `status`: the HTTP status.
 * - `code`: the OAuth error code such as `invalid_client`, where the answer had one.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenRejected extends Schema.TaggedError<TokenRejected>("@effect-idv/core/TokenRejected")(
  "TokenRejected",
  { status: Schema.Int, code: Schema.optionalWith(Schema.String, { exact: true }) }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    const code = this.code === undefined ? "" : `, code ${this.code}`
    const option = this.status === 404 || this.status === 405 ? "authUrl" : "customerId and customerKey"
    return `The token endpoint refused the request: status ${this.status}${code} (check ${option})`
  }
}

/**
 * The token endpoint could not be reached, or answered 408, 429 or 5xx; or, with the reason
 * `credentials`, the effect that gives the credentials failed or gave some that cannot be used.
 * Trying again may help, but for a certificate.
 *
 * - `reason`: see {@link Reason}.
 * - `attempts`: how many requests were sent before giving up.
 * - `host`: the `host:port` of `authUrl`.
 * - `status`: the HTTP status of the last, with `reason: "status"`.
 * - `retryAfter`: how long the service asked to wait, an hour at most. Nothing is sent to it before.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenEndpointUnavailable extends Schema.TaggedError<TokenEndpointUnavailable>(
  "@effect-idv/core/TokenEndpointUnavailable"
)("TokenEndpointUnavailable", {
  reason: Schema.Literal(...Reason.literals, "credentials"),
  attempts: Schema.Int,
  host: Host,
  status: Schema.optionalWith(Schema.Int, { exact: true }),
  retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true })
}) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return this.reason !== "certificate"
  }
  override get message() {
    if (this.reason === "credentials") return "The credentials for the token endpoint are not available"
    const requests = this.attempts === 0 ? "not asked again yet" : `requests: ${this.attempts}`
    const wait = this.retryAfter === undefined
      ? ""
      : `; try again in ${Duration.format(Duration.seconds(Math.ceil(Duration.toSeconds(this.retryAfter))))}`
    const endpoint = located("The token endpoint", this.host)
    return `${endpoint} is not available: ${describeReason(this.reason, this.status)} (${requests}${wait})`
  }
}

/**
 * The token endpoint answered something that is no token response (API document, section 2.2).
 *
 * - `host`: the `host:port` of `authUrl`.
 * - `status`, `contentType`, `length` (bytes): what is safe to say of the answer.
 * - `violations`: the fields that are wrong, without their values.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenResponseInvalid extends Schema.TaggedError<TokenResponseInvalid>(
  "@effect-idv/core/TokenResponseInvalid"
)("TokenResponseInvalid", {
  host: Host,
  status: Schema.Int,
  contentType: Schema.optionalWith(Schema.String, { exact: true }),
  length: Schema.Int,
  violations: Schema.Array(Violation.Violation)
}) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    const endpoint = located("The token endpoint", this.host)
    if (isRedirect(this.status)) {
      return `${endpoint} answered ${
        this.status === 0 ? "with a redirect" : this.status
      }, which is not followed (check authUrl)`
    }
    const { contentType = "no content type", length, status, violations } = this
    const answer = `${status} (${contentType}, ${length} bytes)`
    return `${endpoint} answered ${answer} with something that is no token: ${Violation.format(violations)}`
  }
}

/**
 * No token within the deadline. Trying again may help.
 *
 * - `host`: the `host:port` of `authUrl`; absent if the credentials were not there in time.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenTimeout extends Schema.TaggedError<TokenTimeout>("@effect-idv/core/TokenTimeout")(
  "TokenTimeout",
  { deadline: Schema.DurationFromMillis, host: Host }
) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return true
  }
  override get message() {
    return `${this.host === undefined ? "No token" : `No token from ${this.host}`} within ${
      Duration.format(this.deadline)
    }`
  }
}

/**
 * The scope of the token provider was closed before there was a token.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenProviderClosed extends Schema.TaggedError<TokenProviderClosed>(
  "@effect-idv/core/TokenProviderClosed"
)("TokenProviderClosed", {}) {
  get [TypeId]() {
    return TypeId
  }
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return "The token provider is closed"
  }
}

/**
 * Everything `TokenProvider.get` can fail with.
 *
 * @category errors
 * @since 0.1.0
 */
export type TokenError =
  | TokenRejected
  | TokenEndpointUnavailable
  | TokenResponseInvalid
  | TokenTimeout
  | TokenProviderClosed

/**
 * @category guards
 * @since 0.1.0
 */
export const isTokenError = (u: unknown): u is TokenError => Predicate.hasProperty(u, TypeId)
