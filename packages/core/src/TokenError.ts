/**
 * The errors of the token provider. If a check fails with one of them, the service did not perform it: either the check
 * was not sent, or the service rejected it with 401 and the client could not replace the token.
 *
 * None contains a request, a response, a header, a body, a key or a token.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { describeInvalid, Host, invalidResponse, isLasting, withHost, withWait } from "./internal/schema/fields.ts"

/**
 * Why a service is not available.
 *
 * - `status`: it responded with an error status.
 * - `unreachable`: it did not accept the connection.
 * - `dns`: its host name cannot be resolved.
 * - `tls`: the TLS connection failed, for example because it supports neither TLS 1.2 nor 1.3, or only HTTP/2, or
 *   requires a client certificate.
 * - `certificate`: its certificate is not trusted.
 * - `proxy`: a proxy refused to connect to it, or could not be reached. Nothing was sent.
 * - `broken`: the connection was lost, or the response was not complete. A service that requires a client certificate may
 *   close the connection as well.
 *
 * @category models
 * @since 0.1.0
 */
export const Reason = Schema.Literal("status", "unreachable", "dns", "tls", "certificate", "proxy", "broken")

/**
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * Describes a reason in words.
 *
 * @category destructors
 * @since 0.1.0
 */
export const describeReason = (reason: Reason, status: number | undefined): string => {
  switch (reason) {
    case "status":
      return `it responded with status ${status}`
    case "unreachable":
      return "it does not accept the connection (unreachable)"
    case "dns":
      return "its host name cannot be resolved (dns)"
    case "tls":
      return "the TLS connection failed: check that it supports TLS 1.2 or 1.3 and HTTP/1.1, " +
        "and whether it requires a client certificate (tls)"
    case "certificate":
      return "its certificate is not trusted (certificate)"
    case "proxy":
      return status === undefined
        ? "the client could not connect to the proxy: check its address in HTTPS_PROXY or HTTP_PROXY, and its certificate if it has one (proxy)"
        : `the proxy refused the connection with status ${status}${
          status === 407 ? ": check the user and password in HTTPS_PROXY or HTTP_PROXY" : ""
        } (proxy)`
    case "broken":
      return status === undefined
        ? "the connection was lost before a response: if this repeats, check whether it requires a client certificate (broken)"
        : "the response was not complete, or its content coding was not valid (broken)"
  }
}

/**
 * The service refused the credentials or the request (service document, section 4.1): a 4xx, or an OAuth `error` under
 * a 2xx. A retry with the same credentials cannot succeed.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenRejected extends Schema.TaggedError<TokenRejected>("@effect-idv/core/TokenRejected")(
  "TokenRejected",
  {
    status: Schema.Int,
    /** The OAuth error code, such as `invalid_client`, if the response has one. */
    code: Schema.optionalWith(Schema.String, { exact: true })
  }
) {
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
 * The token endpoint could not be reached, or responded with 408, 429 or 5xx. The reason `credentials` means that the
 * effect in the option `credentials` failed or returned invalid credentials. Retryable, except if the
 * certificate is not trusted or a proxy responds with a 4xx other than 408 and 429.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenEndpointUnavailable extends Schema.TaggedError<TokenEndpointUnavailable>(
  "@effect-idv/core/TokenEndpointUnavailable"
)("TokenEndpointUnavailable", {
  reason: Schema.Literal(...Reason.literals, "credentials"),
  /** How many requests were sent. */
  attempts: Schema.Int,
  /** The `host:port` of `authUrl`. */
  host: Host,
  /** The HTTP status of the last response, with `reason: "status"`, or that of a proxy, with `reason: "proxy"`. */
  status: Schema.optionalWith(Schema.Int, { exact: true }),
  /** How long the service asked to wait, at most one hour. No token request is sent until then. */
  retryAfter: Schema.optionalWith(Schema.DurationFromMillis, { exact: true })
}) {
  get isRetryable(): boolean {
    return !isLasting(this)
  }
  override get message() {
    if (this.reason === "credentials") return "The credentials for the token endpoint are not available"
    const requests = this.attempts === 0 ? "no request sent" : `requests: ${this.attempts}`
    const endpoint = withHost("The token endpoint", this.host)
    return `${endpoint} is not available: ${describeReason(this.reason, this.status)} (${requests}${
      withWait(this.retryAfter)
    })`
  }
}

/**
 * The response of the token endpoint is not a valid token response (service document, section 2.2).
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenResponseInvalid extends Schema.TaggedError<TokenResponseInvalid>(
  "@effect-idv/core/TokenResponseInvalid"
)("TokenResponseInvalid", invalidResponse) {
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return describeInvalid(this, { name: "The token endpoint", option: "authUrl", problem: "is not a token response" })
  }
}

/**
 * The acquisition exceeded its deadline. A retry may succeed.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenTimeout extends Schema.TaggedError<TokenTimeout>("@effect-idv/core/TokenTimeout")(
  "TokenTimeout",
  {
    deadline: Schema.DurationFromMillis,
    /** The `host:port` of `authUrl`. Absent if the effect `credentials` did not end in time. */
    host: Host
  }
) {
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
 * The scope of the token provider was closed before the token was acquired.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenProviderClosed extends Schema.TaggedError<TokenProviderClosed>(
  "@effect-idv/core/TokenProviderClosed"
)("TokenProviderClosed", {}) {
  get isRetryable(): boolean {
    return false
  }
  override get message() {
    return "The token provider is closed"
  }
}

/**
 * The errors of `TokenProvider.get`.
 *
 * @category errors
 * @since 0.1.0
 */
export const TokenError = Schema.Union(
  TokenRejected,
  TokenEndpointUnavailable,
  TokenResponseInvalid,
  TokenTimeout,
  TokenProviderClosed
)

/**
 * @category errors
 * @since 0.1.0
 */
export type TokenError = typeof TokenError.Type

/**
 * Whether a value is a {@link TokenError}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTokenError: (u: unknown) => u is TokenError = Schema.is(TokenError)
