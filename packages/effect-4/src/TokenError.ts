/**
 * The errors of the token provider. If a check fails with one of them, the service did not perform it: either the check
 * was not sent, or the service rejected it with 401 and the client could not replace the token.
 *
 * None contains a request, a response, a header, a body, a key or a token.
 *
 * @since 0.1.0
 */
import * as TokenError3 from "@effect-idv/core/TokenError"
import * as Schema from "effect/Schema"
import * as EngineFailure from "./internal/engine/engineFailure.ts"
import * as Fields from "./internal/fields.ts"

/**
 * Why a service is not available.
 *
 * - `status`: it responded with an error status.
 * - `unreachable`: it did not accept the connection.
 * - `dns`: its host name cannot be resolved.
 * - `tls`: the TLS connection failed, for example because it requires a client certificate.
 * - `certificate`: its certificate is not trusted.
 * - `proxy`: a proxy refused to connect to it, or could not be reached. Nothing was sent.
 * - `broken`: the connection was lost, or the response was not complete.
 *
 * @category models
 * @since 0.1.0
 */
export const Reason = Schema.Literals(TokenError3.Reason.literals)

/**
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * The service refused the credentials or the request (service document, section 4.1): a 4xx, or an OAuth `error` under
 * a 2xx. A retry with the same credentials cannot succeed.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenRejected extends Schema.TaggedError<TokenRejected>("@effect-idv/effect-4/TokenRejected")(
  "TokenRejected",
  {
    status: Schema.Int,
    /** The OAuth error code, such as `invalid_client`, if the response has one. */
    code: Schema.optionalKey(Schema.String)
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
 * The token endpoint could not be reached, or responded with 408, 429 or 5xx. The reason `credentials` means that the
 * effect in the option `credentials` failed or returned invalid credentials. Retryable, except if the certificate is not
 * trusted or a proxy responds with a 4xx other than 408 and 429.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenEndpointUnavailable extends Schema.TaggedError<TokenEndpointUnavailable>(
  "@effect-idv/effect-4/TokenEndpointUnavailable"
)("TokenEndpointUnavailable", {
  reason: Schema.Literals([...TokenError3.Reason.literals, "credentials"]),
  /** How many requests were sent. */
  attempts: Schema.Int,
  /** The `host:port` of `authUrl`. */
  host: Fields.Host,
  /** The HTTP status of the last response, with `reason: "status"`, or that of a proxy, with `reason: "proxy"`. */
  status: Schema.optionalKey(Schema.Int),
  /** How long the service asked to wait, at most one hour. No token request is sent until then. */
  retryAfter: Fields.RetryAfter
}) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The response of the token endpoint is not a valid token response (service document, section 2.2).
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenResponseInvalid extends Schema.TaggedError<TokenResponseInvalid>(
  "@effect-idv/effect-4/TokenResponseInvalid"
)("TokenResponseInvalid", Fields.invalidResponse) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The acquisition exceeded its deadline. A retry may succeed.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenTimeout extends Schema.TaggedError<TokenTimeout>("@effect-idv/effect-4/TokenTimeout")(
  "TokenTimeout",
  {
    deadline: Fields.NonNegativeDuration,
    /** The `host:port` of `authUrl`. Absent if the effect `credentials` did not end in time. */
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
 * The scope of the layer was closed before the token was acquired.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenProviderClosed extends Schema.TaggedError<TokenProviderClosed>(
  "@effect-idv/effect-4/TokenProviderClosed"
)("TokenProviderClosed", {}) {
  get isRetryable(): boolean {
    return EngineFailure.isRetryable(this)
  }
  override get message(): string {
    return EngineFailure.messageOf(this)
  }
}

/**
 * The errors of the token provider, with which a check can fail.
 *
 * @category errors
 * @since 0.1.0
 */
export const TokenError = Schema.Union([
  TokenRejected,
  TokenEndpointUnavailable,
  TokenResponseInvalid,
  TokenTimeout,
  TokenProviderClosed
])

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
