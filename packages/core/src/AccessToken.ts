/**
 * The access token: its request and response, its text, and when it was requested and expires.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Equal from "effect/Equal"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Violation from "./Violation.ts"

/**
 * The path of the token request (service document, section 4.1).
 *
 * @category schemas
 * @since 0.1.0
 */
export const path = "/oauth/service"

/**
 * The body of the token request (service document, section 4.1).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Request = Schema.Struct({ grant_type: Schema.Literal("client_credentials") })

/**
 * The longest lifetime of a token: one hour from the token request (service document, sections 2.2, 5 and 8). The token
 * response can state a shorter lifetime.
 *
 * @category models
 * @since 0.1.0
 */
export const lifetime = Duration.hours(1)

/**
 * An access token.
 *
 * @category models
 * @since 0.1.0
 */
export class AccessToken extends Data.Class<{
  /** The text after `Bearer`. */
  readonly value: Redacted.Redacted<string>
  /** When the token was requested, in milliseconds of the `Clock`. */
  readonly requestedAt: number
  /** When the token expires, in milliseconds of the `Clock`. */
  readonly expiresAt: number
}> {}

/**
 * The text of a token.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Text = Schema.String.pipe(
  Schema.pattern(/^[\x21-\x7e]+$/, Violation.expecting("a token of visible ASCII characters"))
)

/**
 * The token response of RFC 6749, section 5.1. The mock server sends this form, and the OpenAPI document describes it.
 * The service document (section 2.2) does not show the fields, so the client also accepts other responses, see {@link Field}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Response = Schema.Struct({
  access_token: Schema.Redacted(Text),
  token_type: Schema.optionalWith(
    Schema.String.pipe(Schema.pattern(/^[Bb][Ee][Aa][Rr][Ee][Rr]$/, Violation.expecting("Bearer"))),
    { exact: true }
  ),
  expires_in: Schema.optionalWith(Schema.Unknown, { exact: true })
})

/**
 * A decoded token response of RFC 6749.
 *
 * @category schemas
 * @since 0.1.0
 */
export interface Response extends Schema.Schema.Type<typeof Response> {}

/**
 * The error response of a token endpoint (RFC 6749, section 5.2).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ErrorResponse = Schema.Struct({ error: Schema.String })

/**
 * Where a response may contain the token: in a field, in a field of `data`, or as plain text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Field = Schema.Literal("access_token", "accessToken", "token", "data.access_token", "text")

/**
 * A place in a response that may contain the token.
 *
 * @category schemas
 * @since 0.1.0
 */
export type Field = typeof Field.Type

/**
 * An irregularity of an accepted response.
 *
 * - `lifetime`: the lifetime is missing or invalid. One hour is assumed.
 * - `prefix`: the token starts with the word `Bearer`, which was removed.
 * - `same_token`: the service returned the cached token again. The expiry of the token is unchanged.
 *
 * @category models
 * @since 0.1.0
 */
export type Warning = "lifetime" | "prefix" | "same_token"

/**
 * Whether two tokens have the same text.
 *
 * @category equivalence
 * @since 0.1.0
 */
export const isSame = (self: AccessToken, that: AccessToken): boolean => Equal.equals(self.value, that.value)
