/** The behaviours that the service document leaves open, with the variants of each. */
import * as Violation from "@effect-idv/core/Violation"
import * as Arr from "effect/Array"
import * as Schema from "effect/Schema"

/**
 * How certain the default of a point is, with the words of the contract.
 *
 * @category models
 * @since 0.1.0
 */
export type Level = "documented" | "observed" | "assumed" | "unknown"

/**
 * Whether a check by `@effect-idv/core` returns a credential or fails with a typed error. It holds for a client with
 * default options and the right key, for a name of at least two words, and for a cached token that may have expired.
 *
 * @category models
 * @since 0.1.0
 */
export type Client = "accepts" | "refuses"

/**
 * One way to behave.
 *
 * @category models
 * @since 0.1.0
 */
export interface Variant<Value extends string = string> {
  readonly value: Value
  /** The behaviour, as an answer to the question of its point. */
  readonly description: string
  /** Whether the client accepts the variant, if every other point has its default. */
  readonly client: Client
}

/** A behaviour that the service document leaves open. */
export interface Choice<Value extends string> {
  /** What the document leaves open, as a question. */
  readonly question: string
  /** The id of the claim in the contract, which has its section and its source. */
  readonly claim: string
  /** How certain the default is. */
  readonly level: Level
  /** All variants. The first is the default. */
  readonly variants: Arr.NonEmptyReadonlyArray<Variant<Value>>
  /** The variant of the preset `hostile`. */
  readonly hostile: Value
}

const accepts = <const Value extends string>(value: Value, description: string): Variant<Value> => ({
  value,
  description,
  client: "accepts"
})

const refuses = <const Value extends string>(value: Value, description: string): Variant<Value> => ({
  value,
  description,
  client: "refuses"
})

/** Makes the schema of a choice. The fields of the choice are added to the schema. */
const choice = <Value extends string>(choice: Choice<Value>) => {
  const values = Arr.map(choice.variants, ({ value }) => value)
  return Object.assign(
    Schema.Literal(...values).annotations(Violation.expecting(`one of ${quoteAll(values)}`)),
    choice
  )
}

/** Texts in quotation marks, separated by commas. */
export const quoteAll = (values: ReadonlyArray<string>): string =>
  values.map((value) => JSON.stringify(value)).join(", ")

export const choices = {
  tokenField: choice({
    question: "Which field of the token response holds the token?",
    claim: "token.response.fields",
    level: "assumed",
    hostile: "accessToken",
    variants: [
      accepts("access_token", "access_token, with token_type and expires_in beside it (RFC 6749, section 5.1)"),
      accepts("accessToken", "accessToken, with tokenType and expiresIn beside it"),
      accepts("token", "token, with token_type and expires_in beside it"),
      accepts("data.access_token", "access_token, token_type and expires_in, all in an object data"),
      accepts("text", "none: the body is the token as text/plain, without type and lifetime")
    ]
  }),
  tokenType: choice({
    question: "Which token type does the token response state?",
    claim: "token.response.type",
    level: "assumed",
    hostile: "absent",
    variants: [
      accepts("Bearer", "Bearer"),
      accepts("bearer", "bearer, in lower case"),
      accepts("absent", "no type"),
      refuses("other", "mac, a token that is not sent as Bearer")
    ]
  }),
  tokenFormat: choice({
    question: "What does a token look like?",
    claim: "token.response.format",
    level: "unknown",
    hostile: "jwt",
    variants: [
      accepts("opaque", "a text without structure"),
      accepts("jwt", "a signed JWT (RFC 9068)")
    ]
  }),
  tokenStatus: choice({
    question: "Which status does a token response have?",
    claim: "token.success.status",
    level: "assumed",
    hostile: "201",
    variants: [accepts("200", "200 OK"), accepts("201", "201 Created"), accepts("203", "203, as a proxy may return")]
  }),
  tokenLifetime: choice({
    question: "Which lifetime does the token response state?",
    claim: "token.response.lifetime",
    level: "assumed",
    hostile: "text",
    variants: [
      accepts("3600", "3600, the seconds of the hour that a token is valid"),
      accepts("absent", "none; the token is valid for one hour"),
      accepts("text", "\"3600\", a string"),
      accepts("longer", "86400; the token is still valid for one hour"),
      accepts("shorter", "60, and the token is valid for 60 seconds"),
      accepts("null", "null; the token is valid for one hour"),
      accepts("zero", "0; the token is valid for one hour"),
      accepts("garbage", "\"soon\"; the token is valid for one hour")
    ]
  }),
  tokenError: choice({
    question: "How does the token endpoint refuse a request?",
    claim: "token.error",
    level: "assumed",
    hostile: "html",
    variants: [
      accepts("401", "401 for a wrong key, 400 for a wrong form, with an OAuth error (RFC 6749, section 5.2)"),
      accepts("400", "400 for a wrong key too, with an OAuth error"),
      accepts("empty", "the status with an empty body"),
      accepts("html", "the status with the HTML page of a gateway, and no challenge"),
      accepts("problem", "the status with problem details (RFC 9457)"),
      accepts("200", "200 with an OAuth error")
    ]
  }),
  tokenParameters: choice({
    question: "How does the token endpoint treat form parameters other than grant_type?",
    claim: "token.request.parameters",
    level: "assumed",
    hostile: "refused",
    variants: [
      accepts("ignored", "they are ignored (RFC 6749, section 3.2)"),
      accepts("refused", "400 invalid_request")
    ]
  }),
  amlRequestType: choice({
    question: "Which content type must an AML request have?",
    claim: "aml.request.content-type",
    level: "assumed",
    hostile: "exact",
    variants: [
      accepts("json", "application/json; a charset of UTF-8 and other parameters are allowed"),
      accepts("exact", "application/json without any parameter"),
      accepts("any", "any, or none")
    ]
  }),
  damagedName: choice({
    question: "How does the API respond to a name that is damaged?",
    claim: "aml.request.name.damaged",
    level: "assumed",
    hostile: "answered",
    variants: [
      accepts(
        "refused",
        "422: the name has no visible letter, a control character, half of a surrogate pair or over 255 characters"
      ),
      accepts("answered", "it checks the name")
    ]
  }),
  amlStatus: choice({
    question: "Which status does a credential response have?",
    claim: "aml.success.status",
    level: "assumed",
    hostile: "201",
    variants: [accepts("200", "200 OK"), accepts("201", "201 Created"), refuses("203", "203, as a proxy may return")]
  }),
  amlError: choice({
    question: "Which body does an error of the API have?",
    claim: "aml.error",
    level: "assumed",
    hostile: "html",
    variants: [
      accepts("problem", "problem details (RFC 9457)"),
      accepts("empty", "none"),
      accepts("html", "the HTML page of a gateway"),
      accepts("oauth", "{\"error\", \"error_description\"} (RFC 6749, section 5.2)"),
      accepts("text", "a sentence as plain text"),
      accepts("nested", "{\"errors\": [{\"code\", \"message\"}]}")
    ]
  }),
  expiredToken: choice({
    question: "How does the API respond to a token that is no longer valid?",
    claim: "token.expired",
    level: "assumed",
    hostile: "bare",
    variants: [
      accepts("challenge", "401 with WWW-Authenticate: Bearer error=\"invalid_token\" (RFC 6750, section 3)"),
      accepts("bare", "401 without WWW-Authenticate"),
      refuses("forbidden", "403, which the client never treats as an expired token")
    ]
  }),
  rateLimit: choice({
    question: "How does a 429 state when to retry?",
    claim: "limits.rate.retry-after",
    level: "assumed",
    hostile: "garbage",
    variants: [
      accepts("seconds", "Retry-After in seconds"),
      accepts("date", "Retry-After as an HTTP date"),
      accepts("none", "not at all; by default the client does not retry after this 429"),
      accepts("garbage", "Retry-After: soon; by default the client does not retry after this 429")
    ]
  }),
  searchedOn: choice({
    question: "In which time zone is searched_on written?",
    claim: "aml.searched-on.zone",
    level: "unknown",
    hostile: "ahead",
    variants: [
      accepts("utc", "UTC"),
      accepts("ahead", "+14:00, where the date can be a day ahead of UTC"),
      accepts("behind", "-12:00, where the date can be a day behind UTC")
    ]
  }),
  nameEcho: choice({
    question: "How exactly does the credential repeat the name?",
    claim: "aml.name.echo",
    level: "assumed",
    hostile: "upper",
    variants: [
      accepts("exact", "as it was sent"),
      accepts("upper", "in upper case"),
      accepts("nfd", "in Unicode NFD, with marks as separate characters"),
      accepts("blanks", "with two spaces between words, and one before and after"),
      refuses("reordered", "as LAST, First; a client accepts it only with nameEcho \"loose\" or \"ignore\"")
    ]
  }),
  extraFields: choice({
    question: "Does the credential have fields that the document does not show?",
    claim: "aml.credential.extra-fields",
    level: "assumed",
    hostile: "some",
    variants: [
      accepts("none", "no"),
      accepts("some", "yes: at the top, in credentials and in attributes")
    ]
  }),
  credVersion: choice({
    question: "Which version does the credential have?",
    claim: "aml.cred-version",
    level: "assumed",
    hostile: "1.7",
    variants: [
      accepts("1.0", "1.0"),
      accepts("1.7", "1.7, a new minor version"),
      refuses("2.0", "2.0, a new major version")
    ]
  }),
  redirects: choice({
    question: "Does the service redirect a request?",
    claim: "redirects",
    level: "assumed",
    hostile: "none",
    variants: [
      accepts("none", "no"),
      refuses("same-origin", "307 to the same path of the same server, with ?redirected"),
      refuses("other-origin", "307 to the same path of http://elsewhere.invalid")
    ]
  })
}

/** The seconds for which a token is valid, whatever its response states. */
export const tokenLifetimeSeconds = (
  { tokenLifetime }: { readonly tokenLifetime: typeof choices.tokenLifetime.Type }
): number => tokenLifetime === "shorter" ? 60 : 3600
