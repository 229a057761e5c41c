/**
 * The access token as a value: its text, when it was asked for, and when it is over.
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
 * One hour from the moment the token was requested (API document, sections 2.2, 5 and 8): the
 * lifetime of every token, unless its response gives a shorter one.
 *
 * @category models
 * @since 0.1.0
 */
export const lifetime = Duration.hours(1)

/**
 * - `value`: what goes after `Bearer`.
 * - `requestedAt`: when the request for it was sent, in milliseconds of the `Clock`.
 * - `expiresAt`: when it is over, in milliseconds of the `Clock`.
 *
 * @category models
 * @since 0.1.0
 */
export class AccessToken extends Data.Class<{
  readonly value: Redacted.Redacted<string>
  readonly requestedAt: number
  readonly expiresAt: number
}> {}

/**
 * The token response as RFC 6749, section 5.1 has it (an assumption: the fields are not shown in
 * the API document, section 2.2). `expires_in` is only ever a hint, so any value passes here.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Response = Schema.Struct({
  access_token: Schema.Redacted(
    Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]+$/, Violation.expecting("a token of visible ASCII characters")))
  ),
  token_type: Schema.optionalWith(
    Schema.String.pipe(Schema.pattern(/^bearer$/i, Violation.expecting("Bearer"))),
    { exact: true }
  ),
  expires_in: Schema.optionalWith(Schema.Unknown, { exact: true })
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Response extends Schema.Schema.Type<typeof Response> {}

/**
 * A token response that is an error (RFC 6749, section 5.2), whatever else it holds.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ErrorResponse = Schema.Struct({ error: Schema.String })

/**
 * The lifetime counts from the request, never from the answer. A shorter `expires_in`, in seconds,
 * is obeyed; a longer one is capped at one hour; nonsense counts as absent, never as for ever.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromResponse = (response: Response, requestedAt: number): AccessToken => {
  const hint = response.expires_in
  const seconds = typeof hint === "number" || typeof hint === "string" ? Math.floor(Number(hint)) : 0
  const millis = Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1000 : Infinity
  return new AccessToken({
    value: response.access_token,
    requestedAt,
    expiresAt: requestedAt + Math.min(millis, Duration.toMillis(lifetime))
  })
}

/**
 * Whether two tokens are the same to the service.
 *
 * @category equivalence
 * @since 0.1.0
 */
export const isSame = (self: AccessToken, that: AccessToken): boolean => Equal.equals(self.value, that.value)
