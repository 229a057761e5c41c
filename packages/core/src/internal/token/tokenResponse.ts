/** Decodes the response of the token endpoint, and makes a token of it. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AccessToken from "../../AccessToken.ts"
import * as Violation from "../../Violation.ts"

/**
 * The contents of a token response.
 */
export interface Grant {
  /** The text after `Bearer`. */
  readonly value: Redacted.Redacted<string>
  /** The lifetime in seconds, if the response has a valid one. */
  readonly seconds: number | undefined
  readonly warnings: ReadonlyArray<AccessToken.Warning>
}

/**
 * Decodes the body of a token response.
 *
 * - The token is in one of `fields`. Different tokens in two of them are an error.
 * - The token consists of visible ASCII characters. In a plain-text body it has the form of RFC 6750, section 2.1.
 * - The type, if the response has one, is `Bearer` in upper or lower case.
 * - The lifetime is a positive number of seconds, as a number or a text. Any other value counts as missing.
 *
 * `mayBeText` is true if the content type of the response allows plain text.
 */
export const decode =
  (fields: Arr.NonEmptyReadonlyArray<AccessToken.Field>) =>
  (body: Uint8Array, mayBeText: boolean): Either.Either<Grant, Violation.Violations> =>
    Either.match(decodeObject(body), {
      onRight: (response) =>
        Either.zipWith(tokenIn(response, fields), typeIn(response), (text) => grant(text, secondsIn(response))),
      onLeft: (violations) =>
        mayBeText && fields.includes("text") && isPlainToken(body)
          ? Either.right(grant(new TextDecoder().decode(body).trim(), undefined))
          : Either.left(violations)
    })

const expectedToken = "a token of visible ASCII characters"
const isText = Schema.is(AccessToken.Text)

const decodeObject = Violation.decodeJson(
  Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({ description: "a token response" })
)
const decodeAnyJson = Violation.decodeJson(Schema.Unknown)

const withoutPrefix = (text: string): string => text.replace(/^bearer +/i, "")

const isToken = (value: unknown): value is string =>
  typeof value === "string" && isText(withoutPrefix(value)) && !/^bearer$/i.test(value)

/** A JSON text that is not an object, such as `null` or `123`, is not a token. */
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

/** The value at the path. `null` counts as `undefined`. */
const valueAt = (response: unknown, path: string): unknown =>
  path.split(".").reduce((value, key) => Predicate.hasProperty(value, key) ? value[key] : undefined, response) ??
    undefined

const tokenIn = (
  response: unknown,
  fields: Arr.NonEmptyReadonlyArray<AccessToken.Field>
): Either.Either<string, Violation.Violations> => {
  const present = fields.filter((field) => field !== "text" && valueAt(response, field) !== undefined)
  if (!Arr.isNonEmptyReadonlyArray(present)) return refuse([fields[0]], "missing", expectedToken)
  const valid = present.filter((field) => isToken(valueAt(response, field)))
  if (!Arr.isNonEmptyReadonlyArray(valid)) return refuse(present, "invalid", expectedToken)
  const texts = Arr.map(valid, (field) => String(valueAt(response, field)))
  return new Set(texts.map(withoutPrefix)).size === 1
    ? Either.right(texts[0])
    : refuse(valid, "invalid", "the same token in each of these fields")
}

const typeIn = (response: unknown): Either.Either<void, Violation.Violations> => {
  const otherTypes = ["token_type", "tokenType", "data.token_type", "data.tokenType"].filter((path) =>
    !/^bearer$/i.test(String(valueAt(response, path) ?? "Bearer"))
  )
  return Arr.isNonEmptyReadonlyArray(otherTypes) ? refuse(otherTypes, "invalid", "Bearer") : Either.void
}

const refuse = (paths: Arr.NonEmptyReadonlyArray<string>, problem: "missing" | "invalid", expected: string) =>
  Either.left(Arr.map(paths, (path) => new Violation.Violation({ path, problem, expected })))

/** The shortest valid lifetime in the response. */
const secondsIn = (response: unknown): number | undefined => {
  const lifetimes = Arr.filterMap(
    ["expires_in", "expiresIn", "data.expires_in", "data.expiresIn"],
    (path) => toSeconds(valueAt(response, path))
  )
  return Arr.isNonEmptyArray(lifetimes) ? Math.min(...lifetimes) : undefined
}

const toSeconds = (lifetime: unknown): Option.Option<number> =>
  typeof lifetime === "number" || (typeof lifetime === "string" && /^\d+(\.\d+)?$/.test(lifetime))
    ? Option.liftPredicate(Math.floor(Number(lifetime)), (seconds) => Number.isSafeInteger(seconds) && seconds > 0)
    : Option.none()

/**
 * Makes a token from a token response. Its lifetime starts at the request, not at the response, and is at most
 * `longest`.
 */
export const toToken = (
  grant: Grant,
  requestedAt: number,
  longest: Duration.Duration = AccessToken.lifetime
): AccessToken.AccessToken => {
  const millis = Math.min((grant.seconds ?? Infinity) * 1000, Duration.toMillis(longest))
  return new AccessToken.AccessToken({ value: grant.value, requestedAt, expiresAt: requestedAt + millis })
}
