/**
 * What a journal keeps of a request and of its answer: enough to see what went wrong, and neither a
 * key nor a token nor a person. What is not known to be harmless is hidden.
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Operation } from "../Journal.ts"
import * as Session from "../Session.ts"
import * as Subject from "../Subject.ts"

export interface RequestParts {
  readonly operation: Operation
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface ResponseParts {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

type Shown<Parts> = Omit<Parts, "operation" | "body"> & { readonly body: string }

export const maskRequest = (
  { body, headers, method, operation, target }: RequestParts,
  reveal: boolean
): Shown<RequestParts> =>
  reveal
    ? { method, target, headers, body: revealed(body) }
    : { method, target: maskTarget(target), headers: maskHeaders(headers), body: shown(body, requestBodies[operation]) }

/** Answers are told apart by their fields alone: a fault may give that of one operation to another. */
export const maskResponse = (
  { body, headers, status }: ResponseParts,
  reveal: boolean
): Shown<ResponseParts> =>
  reveal
    ? { status, headers, body: revealed(body) }
    : { status, headers: maskHeaders(headers), body: shown(body, maskAnswer) }

const hidden = "***"

/** Its length at most, with the sign that there was more. */
const cut = (text: string, length: number): string => text.length > length ? `${text.slice(0, length - 1)}…` : text

/** A record in which hidden names are numbered, so that none of them takes the place of another. */
const named = <A>(entries: ReadonlyArray<readonly [name: string, value: A]>): Record<string, A> => {
  let count = 0
  return Object.fromEntries(entries.map(([name, value]) => {
    if (name !== hidden) return [name, value]
    count++
    return [count === 1 ? hidden : `${hidden} ${count}`, value]
  }))
}

const maxHexBytes = 256

const revealed = (body: Uint8Array): string =>
  Either.getOrElse(
    decodeText(body),
    () =>
      `(${body.length} bytes, hex ${Encoding.encodeHex(body.subarray(0, maxHexBytes))}${
        body.length > maxHexBytes ? "…" : ""
      })`
  )

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decodeText = (bytes: Uint8Array) => Either.try(() => utf8.decode(bytes))

/** To read and write a longer one would cost more than it tells. */
const maxShownBytes = 256 * 1024

type MaskBody = (body: Uint8Array) => Option.Option<string>

const shown = (body: Uint8Array, mask: MaskBody): string =>
  body.length === 0
    ? ""
    : (body.length > maxShownBytes ? Option.none() : mask(body)).pipe(
      Option.getOrElse(() => `(${body.length} bytes, not shown)`)
    )

// Header

/** They say what is sent and how, and neither by whom nor of whom. */
const harmlessHeaders = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "allow",
  "b3",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "etag",
  "expect",
  "host",
  "keep-alive",
  "pragma",
  "proxy-authenticate",
  "retry-after",
  "te",
  "traceparent",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "vary",
  "www-authenticate",
  "x-content-type-options"
])

const isHarmlessHeader = (lower: string): boolean => harmlessHeaders.has(lower) || /^sec-fetch-[a-z]+$/.test(lower)

const isHeaderName = (name: string): boolean => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name)

const maxHeaders = 100

const maxHeaderValue = 256

const maskHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> => {
  const all = Object.entries(headers)
  const kept = all.slice(0, maxHeaders).map(([name, value]): readonly [string, string] => [
    isHeaderName(name) ? name : hidden,
    maskHeader(name.toLowerCase(), value)
  ])
  return named(all.length > maxHeaders ? kept.concat([["…", `${all.length - maxHeaders} more`]]) : kept)
}

const maskHeader = (lower: string, value: string): string => {
  switch (lower) {
    case "authorization":
      return maskAuthorization(value)
    case "location":
      return maskLocation(value)
    default:
      return isHarmlessHeader(lower) ? cut(value, maxHeaderValue) : hidden
  }
}

const maskAuthorization = (value: string): string => {
  const [scheme = "", ...credentials] = value.trim().split(/\s+/)
  switch (scheme.toLowerCase()) {
    case "basic":
      return `Basic ${Option.match(customerIdOf(credentials), { onNone: () => "", onSome: (id) => `${id}:` })}${hidden}`
    case "bearer":
      return `Bearer ${hidden}`
    default:
      return hidden
  }
}

/**
 * Of the customers that are known without a list. Any other id may as well be a key: id and key are
 * easily swapped. Whose request it was, its entry says anyway.
 */
const isKnownId = (text: string): boolean =>
  text === Session.demoCustomer.customerId ||
  /^test-[\w.-]{1,59}$/.test(text) && text !== Redacted.value(Session.testKey)

const customerIdOf = ([encoded, ...more]: ReadonlyArray<string>): Option.Option<string> =>
  Option.fromNullable(more.length === 0 ? encoded : undefined).pipe(
    Option.flatMap((encoded) => Option.getRight(Encoding.decodeBase64(encoded))),
    Option.flatMap((bytes) => Option.getRight(decodeText(bytes))),
    Option.flatMap((text) => Option.fromNullable(/^([^:]+):/.exec(text)?.[1])),
    Option.filter(isKnownId)
  )

// Target

const knownPaths = new Set(["/oauth/service", "/api/aml"])

/** What a path that is wrong is made of, mostly. Any other word may be somebody's name. */
const harmlessSegments = new Set(
  ["", "oauth", "oauth2", "service", "token", "auth", "api", "v1", "v2", "v3", "aml", "aml-profiles", "check", "health"]
    .concat(["connect", "services", "ready", "live", "favicon.ico", "robots.txt", "_mock", "ui", "docs", "*"])
)

const isHarmlessSegment = (segment: string): boolean => harmlessSegments.has(segment)

const maxSegments = 8

const maxTarget = 512

const maskTarget = (target: string): string => {
  const [, path = "", query = ""] = /^([^?#]*)(.*)$/s.exec(target) ?? []
  return cut(maskPath(path) + (query.startsWith("?") ? `?${maskQuery(query.slice(1))}` : query && hidden), maxTarget)
}

/** Of an address that has a user in it, nothing is shown. */
const maskLocation = (location: string): string => {
  const [, origin = "", rest = location] =
    /^(https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?)((?:[/?#].*)?)$/is.exec(location) ?? []
  return cut(
    origin === "" ? maskTarget(rest) : origin + (rest === "" ? "" : maskTarget(rest.replace(/^(?!\/)/, "/"))),
    maxTarget
  )
}

const maskPath = (path: string): string => {
  if (knownPaths.has(path)) return path
  if (path.startsWith("/aml-profiles/")) return `/aml-profiles/${hidden}`
  const [first, ...segments] = path.split("/")
  return first !== "" || segments.length === 0 || segments.length > maxSegments
    ? hidden
    : `/${segments.map((segment) => isHarmlessSegment(segment) ? segment : hidden).join("/")}`
}

const maskQuery = (query: string): string => query === "" ? "" : maskPairs(query, () => false)

const harmlessParameters = new Set(
  ["grant_type", "client_id", "client_secret", "scope", "audience", "resource", "redirected", "customer_id"]
    .concat(["customer_key", "username", "password", "name", "dob", "entity_type", "token"])
)

/** The name of any other parameter may be what lost its name. */
const maskPairs = (pairs: string, isHarmless: (name: string, value: string) => boolean): string =>
  pairs.split("&").map((pair) => {
    const [, name, value = ""] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
    return name === undefined
      ? hidden
      : `${harmlessParameters.has(name) ? name : hidden}=${value === "" || isHarmless(name, value) ? value : hidden}`
  }).join("&")

// Body

const maskForm: MaskBody = (body) =>
  Option.getRight(decodeText(body)).pipe(
    Option.filter((text) => text.includes("=")),
    Option.map((text) => maskPairs(text, (name, value) => name === "grant_type" && value === "client_credentials"))
  )

/** What stands in the place of a value, by the name of its field; a member of a list has none. */
type Rule = (name: string | undefined, value: unknown) => Option.Option<unknown>

const maxDepth = 64

const maskJson = (rule: Rule, leaf: (value: unknown) => unknown): MaskBody => {
  const mask = (name: string | undefined, value: unknown): unknown =>
    Option.getOrElse(rule(name, value), () =>
      Array.isArray(value)
        ? value.map((item: unknown) => mask(undefined, item))
        : Predicate.isRecord(value)
        ? named(
          Object.entries(value).map(([name, value]) => [knownFields.has(name) ? name : hidden, mask(name, value)])
        )
        : leaf(value))
  return (body) =>
    Option.getRight(parseJson(body)).pipe(
      Option.filter((value) => Predicate.isRecord(value) && !isDeep(value)),
      Option.map((value) => JSON.stringify(mask(undefined, value)))
    )
}

/** A key that stands twice is refused too. */
const parseJson = Violation.decodeJson(Schema.Unknown)

/** Level by level, for a body may be nested deeper than the stack. */
const isDeep = (root: unknown): boolean => {
  let level = [root]
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    level = level.flatMap((value): Array<unknown> =>
      Array.isArray(value) ? value : Predicate.isRecord(value) ? Object.values(value) : []
    )
  }
  return level.length > 0
}

const lastWords = new Set(Subject.reserved.map(({ lastWord }) => lastWord.toLowerCase()))

/** The reserved words are fictional, and a journal cannot be read without them. */
const maskName = (value: unknown): string => {
  const words = typeof value === "string" ? value.trim().split(/\s+/) : []
  const last = words.at(-1)
  return last === undefined || !lastWords.has(last.toLowerCase())
    ? hidden
    : words.length === 1
    ? last
    : `${hidden} ${last}`
}

const maskPerson = maskJson(
  (name, value) => {
    switch (name) {
      case "name":
        return Option.some(maskName(value))
      case "dob":
        return Option.some(hidden)
      case "entity_type":
        return Option.some(value === "person" ? value : hidden)
      default:
        return Option.none()
    }
  },
  () => hidden
)

/** In an answer, they hold a person or a token. */
const secretFields = new Set(["name", "dob", "birth_year", "aml_profile", "access_token", "accessToken", "token"])

const requestFields = new Set(["entity_type", "name", "dob", "grant_type"])

const tokenFields = ["data", "expiresIn", "expires_in", "tokenType", "token_type"]

const errorFields = ["code", "error", "error_description", "errors", "field", "message", "path", "reason"]

const problemFields = ["detail", "status", "title", "type"]

const credentialFields = ["cred_version", "credential_name", "credential_type", "credentials", "issued_by", "issuer_id"]

const attributeFields = ["attributes", "match_found", "searched_on"]

/** What a profile or a fault adds to an answer. */
const addedFields = ["format", "is_final", "links", "lists", "padding", "revision", "self", "valid_until"]

/** Of both operations, in each form that a profile gives them. Any other may be named after a person. */
const knownFields = new Set([
  ...requestFields,
  ...secretFields,
  ...tokenFields,
  ...errorFields,
  ...problemFields,
  ...credentialFields,
  ...attributeFields,
  ...addedFields
])

/** Refusals hold no values, but the path of a field that does not exist is as the client wrote it. */
const isForeignPath = (name: string, value: unknown): boolean =>
  (name === "path" || name === "field") &&
  !(typeof value === "string" && (value === "" || requestFields.has(value)))

const maskAnswer = maskJson(
  (name, value) =>
    name !== undefined && (!knownFields.has(name) || secretFields.has(name) || isForeignPath(name, value))
      ? Option.some(hidden)
      : Option.none(),
  (value) => value
)

const requestBodies: Record<Operation, MaskBody> = { token: maskForm, aml: maskPerson, other: () => Option.none() }
