/**
 * Masks a request and its response for a journal. It shows only known fields and values, and no key, token, name or
 * date of birth.
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as TestPerson from "../../TestPerson.ts"
import { type Entry, once, type Operation, readOnce } from "./entry.ts"
import { maskRequestHeaders, maskResponseHeaders } from "./maskedHeaders.ts"
import { maskPairs, maskTarget } from "./maskedTarget.ts"
import { hiddenText, maxBodyBytes, recordOf, shorten } from "./shownText.ts"
import * as WireFields from "./wireFields.ts"

/** A request as it was. */
export interface RequestParts {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A response as it was. */
export interface ResponseParts {
  readonly status: number
  readonly delivery: Entry["response"]["delivery"]
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Shortens the text of a long body. */
const shownBody = (textOf: (body: Uint8Array) => string) => (body: Uint8Array): string =>
  body.length > maxBodyBytes ? shorten(textOf(body)) : textOf(body)

/**
 * Masks a request, unless `reveal` is on. Each part is masked when a reader first needs it, because most entries are
 * never read.
 */
export const maskRequest = (
  operation: Operation,
  { body: bytes, headers, method, target }: RequestParts,
  reveal: boolean
): Entry["request"] => {
  const body = readOnce(bytes, shownBody(reveal ? revealBody : maskBody(requestBodies[operation])))
  const masked = once(() =>
    reveal ? { target, headers } : { target: maskTarget(target), headers: maskRequestHeaders(headers) }
  )
  return {
    method,
    get target() {
      return masked().target
    },
    get headers() {
      return masked().headers
    },
    get body() {
      return body()
    }
  }
}

/**
 * Masks a response like `maskRequest`. The operation does not matter: all responses share one list of known fields,
 * because a fault may change which fields a response has.
 */
export const maskResponse = (
  { body: bytes, delivery, headers, status }: ResponseParts,
  reveal: boolean
): Entry["response"] => {
  const body = readOnce(bytes, shownBody(reveal ? revealBody : maskBody(maskResponseBody)))
  const masked = once(() => reveal ? headers : maskResponseHeaders(headers))
  return {
    status,
    delivery,
    get headers() {
      return masked()
    },
    get body() {
      return body()
    }
  }
}

const maxHexBytes = 256

const revealBody = (body: Uint8Array): string =>
  Either.getOrElse(
    decodeText(body),
    () =>
      `(${body.length} bytes, hex ${Encoding.encodeHex(body.subarray(0, maxHexBytes))}${
        body.length > maxHexBytes ? "…" : ""
      })`
  )

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decodeText = (bytes: Uint8Array) => Either.try(() => utf8.decode(bytes))

/** A longer body is not shown, because it would take too long to parse and mask it. */
const maxMaskedBytes = 256 * 1024

type MaskBody = (body: Uint8Array) => Option.Option<string>

const maskBody = (mask: MaskBody) => (body: Uint8Array): string =>
  body.length === 0
    ? ""
    : (body.length > maxMaskedBytes ? Option.none() : mask(body)).pipe(
      Option.getOrElse(() => `(${body.length} bytes, not shown)`)
    )

const maskForm: MaskBody = (body) =>
  Option.getRight(decodeText(body)).pipe(
    Option.filter((text) => text.includes("=")),
    Option.map((text) => maskPairs(text, (name, value) => name === "grant_type" && value === "client_credentials"))
  )

/** Returns the replacement of a value, by the name of its field. A member of a list has no name. */
type Rule = (name: string | undefined, value: unknown) => Option.Option<unknown>

const maxDepth = 64

const maskJson = (rule: Rule, leaf: (value: unknown) => unknown): MaskBody => {
  const mask = (name: string | undefined, value: unknown): unknown =>
    Option.getOrElse(rule(name, value), () =>
      Array.isArray(value)
        ? value.map((item: unknown) => mask(undefined, item))
        : Predicate.isRecord(value)
        ? recordOf(
          Object.entries(value).map(([name, value]) => [knownFields.has(name) ? name : hiddenText, mask(name, value)])
        )
        : leaf(value))
  return (body) =>
    Option.getRight(parseJson(body)).pipe(
      Option.filter((value) => Predicate.isRecord(value) && !isDeep(value)),
      Option.map((value) => JSON.stringify(mask(undefined, value)))
    )
}

/** Also refuses duplicate keys. */
const parseJson = Violation.decodeJson(Schema.Unknown)

/** Looks level by level, because a body may be nested deeper than the stack. */
const isDeep = (root: unknown): boolean => {
  let level = [root]
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    level = level.flatMap((value): Array<unknown> =>
      Array.isArray(value) ? value : Predicate.isRecord(value) ? Object.values(value) : []
    )
  }
  return level.length > 0
}

const lastWords = new Set(TestPerson.reserved.map(({ lastWord }) => lastWord.toLowerCase()))

/** Shows the last word of a name if it is reserved, because reserved words are fictional and select the result. */
const maskName = (value: unknown): string => {
  const words = typeof value === "string" ? value.trim().split(/\s+/) : []
  const last = words.at(-1)
  return last === undefined || !lastWords.has(last.toLowerCase())
    ? hiddenText
    : words.length === 1
    ? last
    : `${hiddenText} ${last}`
}

const maskPerson = maskJson(
  (name, value) => {
    switch (name) {
      case "name":
        return Option.some(maskName(value))
      case "dob":
        return Option.some(hiddenText)
      case "entity_type":
        return Option.some(value === "person" ? value : hiddenText)
      default:
        return Option.none()
    }
  },
  () => hiddenText
)

/** Fields of a response that contain personal data or a token, and addresses that may. */
const secretFields = new Set(
  ["name", "dob", "birth_year", "aml_profile", "access_token", "accessToken", "token", "error_uri", "instance"]
)

const requestFields = new Set(["entity_type", "name", "dob", "grant_type"])

/** Fields of an error in the form of a profile, and those that a profile or a fault adds to a response. */
const addedFields = ["code", "field", "message", "path", "reason", "format", "is_final", "links", "lists", "padding"]
  .concat(["revision", "self", "valid_until"])

/**
 * All fields of both operations and all profiles. The name of any other field is hidden, because it may be the name of
 * a person.
 */
const knownFields = new Set([...WireFields.names, ...requestFields, ...addedFields])

/**
 * Whether an error response names an unknown field of the request. The client chose this name, so it may be personal.
 */
const isUnknownPath = (name: string, value: unknown): boolean =>
  (name === "path" || name === "field") &&
  !(typeof value === "string" && (value === "" || requestFields.has(value)))

const maskResponseBody = maskJson(
  (name, value) =>
    name !== undefined && (!knownFields.has(name) || secretFields.has(name) || isUnknownPath(name, value))
      ? Option.some(hiddenText)
      : Option.none(),
  (value) => value
)

const requestBodies: Record<Operation, MaskBody> = { token: maskForm, aml: maskPerson, other: () => Option.none() }
