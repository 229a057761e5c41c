/**
 * The access token as a value: its text, when it was asked for, and when it is over.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
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

const expectedToken = "a token of visible ASCII characters"
const Text = Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]+$/, Violation.expecting(expectedToken)))

/**
 * The token response as RFC 6749, section 5.1 has it: what the mock server answers, and what OpenAPI
 * shows. The fields are not shown in the API document, section 2.2, so the client also lives with
 * other responses, see {@link decodeResponse}.
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
 * @category schemas
 * @since 0.1.0
 */
export interface Response extends Schema.Schema.Type<typeof Response> {}

/**
 * A token response that is an error (RFC 6749, section 5.2).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ErrorResponse = Schema.Struct({ error: Schema.String })

/**
 * Where a response may carry its token: in a field, in a field of `data`, or as plain text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Field = Schema.Literal("access_token", "accessToken", "token", "data.access_token", "text")

/**
 * @category schemas
 * @since 0.1.0
 */
export type Field = typeof Field.Type

/**
 * What was odd about a response and yet accepted:
 *
 * - `lifetime`: it gives none, or one that is no number of seconds over 0. One hour is assumed.
 * - `prefix`: the token came with the word `Bearer` before it, which was taken off.
 * - `same_token`: it is the token that it was to replace, whose expiry stays as it was.
 *
 * @category models
 * @since 0.1.0
 */
export type Warning = "lifetime" | "prefix" | "same_token"

/**
 * What a token response says.
 *
 * - `value`: what goes after `Bearer`.
 * - `seconds`: the lifetime, if it gives one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Grant {
  readonly value: Redacted.Redacted<string>
  readonly seconds: number | undefined
  readonly warnings: ReadonlyArray<Warning>
}

/**
 * Decodes the body of a token response, lenient in where the token is and strict in what it is.
 *
 * - The first of `fields` that holds a token wins. Different tokens in two of them are refused.
 * - A token is visible ASCII; as plain text, what RFC 6750, section 2.1 allows.
 * - The type, if there is one, is `Bearer` in any case.
 * - The lifetime is a number of seconds over 0, or its text. Anything else counts as none.
 *
 * `mayBeText`: whether the content type allows plain text.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeResponse =
  (fields: Arr.NonEmptyReadonlyArray<Field>) =>
  (body: Uint8Array, mayBeText: boolean): Either.Either<Grant, Violation.Violations> =>
    Either.match(decodeObject(body), {
      onRight: (response) =>
        Either.zipWith(tokenIn(response, fields), typeIn(response), (text) => grant(text, secondsIn(response))),
      onLeft: (violations) =>
        mayBeText && fields.includes("text") && isPlainToken(body)
          ? Either.right(grant(new TextDecoder().decode(body).trim(), undefined))
          : Either.left(violations)
    })

const decodeObject = Violation.decodeJson(
  Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({ description: "a token response" })
)
const decodeAnyJson = Violation.decodeJson(Schema.Unknown)

const withoutPrefix = (text: string): string => text.replace(/^bearer +/i, "")

const isToken = (value: unknown): value is string =>
  typeof value === "string" && Schema.is(Text)(withoutPrefix(value)) && !/^bearer$/i.test(value)

/** A JSON text that is no object, such as `null` or `123`, is no token. */
const isPlainToken = (body: Uint8Array): boolean =>
  /^\s*(bearer +)?[\w.~+/-]+=*\s*$/i.test(new TextDecoder().decode(body)) && Either.isLeft(decodeAnyJson(body))

const grant = (text: string, seconds: number | undefined): Grant => ({
  value: Redacted.make(withoutPrefix(text)),
  seconds,
  warnings: [
    ...withoutPrefix(text) === text ? [] : ["prefix" as const],
    ...seconds === undefined ? ["lifetime" as const] : []
  ]
})

/** What stands there, where `null` counts as nothing. */
const at = (response: unknown, path: string): unknown =>
  path.split(".").reduce((value, key) => Predicate.hasProperty(value, key) ? value[key] : undefined, response) ??
    undefined

const tokenIn = (
  response: unknown,
  fields: Arr.NonEmptyReadonlyArray<Field>
): Either.Either<string, Violation.Violations> => {
  const given = fields.filter((field) => field !== "text" && at(response, field) !== undefined)
  if (!Arr.isNonEmptyReadonlyArray(given)) return refuse([fields[0]], "missing", expectedToken)
  const held = given.filter((field) => isToken(at(response, field)))
  if (!Arr.isNonEmptyReadonlyArray(held)) return refuse(given, "invalid", expectedToken)
  const texts = Arr.map(held, (field) => String(at(response, field)))
  return new Set(texts.map(withoutPrefix)).size === 1
    ? Either.right(texts[0])
    : refuse(held, "invalid", "the same token in each of these fields")
}

const typeIn = (response: unknown): Either.Either<void, Violation.Violations> => {
  const others = ["token_type", "tokenType", "data.token_type", "data.tokenType"].filter((path) =>
    !/^bearer$/i.test(String(at(response, path) ?? "Bearer"))
  )
  return Arr.isNonEmptyReadonlyArray(others) ? refuse(others, "invalid", "Bearer") : Either.void
}

const refuse = (paths: Arr.NonEmptyReadonlyArray<string>, problem: "missing" | "invalid", expected: string) =>
  Either.left(Arr.map(paths, (path) => new Violation.Violation({ path, problem, expected })))

/** The shortest lifetime that it gives. */
const secondsIn = (response: unknown): number | undefined => {
  const given = Arr.filterMap(
    ["expires_in", "expiresIn", "data.expires_in", "data.expiresIn"],
    (path) => toSeconds(at(response, path))
  )
  return Arr.isNonEmptyArray(given) ? Math.min(...given) : undefined
}

const toSeconds = (hint: unknown): Option.Option<number> =>
  typeof hint === "number" || (typeof hint === "string" && /^\d+(\.\d+)?$/.test(hint))
    ? Option.liftPredicate(Math.floor(Number(hint)), (seconds) => Number.isSafeInteger(seconds) && seconds > 0)
    : Option.none()

/**
 * The lifetime counts from the request, never from the answer. A shorter one than `longest` is
 * obeyed, a longer one is not.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromGrant = (grant: Grant, requestedAt: number, longest: Duration.Duration = lifetime): AccessToken => {
  const millis = Math.min((grant.seconds ?? Infinity) * 1000, Duration.toMillis(longest))
  return new AccessToken({ value: grant.value, requestedAt, expiresAt: requestedAt + millis })
}

/**
 * Whether two tokens are the same to the service.
 *
 * @category equivalence
 * @since 0.1.0
 */
export const isSame = (self: AccessToken, that: AccessToken): boolean => Equal.equals(self.value, that.value)
