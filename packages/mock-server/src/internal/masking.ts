/**
 * What a journal keeps of a request and of its answer: enough to see what went wrong, and neither a
 * key nor a token nor a person. What is not known to be harmless is hidden.
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Operation } from "../Journal.ts"
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
  _operation: Operation,
  { body, headers, status }: ResponseParts,
  reveal: boolean
): Shown<ResponseParts> =>
  reveal
    ? { status, headers, body: revealed(body) }
    : { status, headers: maskHeaders(headers), body: shown(body, maskAnswer) }

const hidden = "***"

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

const secretHeader = /token|secret|key|auth|cookie|password|credential|^referer$/

/** They say how to authenticate, and are of the server. */
const challenges = new Set(["www-authenticate", "proxy-authenticate"])

const maskHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const lower = name.toLowerCase()
      return [
        name,
        lower === "authorization"
          ? maskAuthorization(value)
          : challenges.has(lower) || !secretHeader.test(lower)
          ? value
          : hidden
      ]
    })
  )

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

/** Without a colon, it may as well be the key. Nothing that is not seen gets into a journal. */
const customerIdOf = ([encoded, ...more]: ReadonlyArray<string>): Option.Option<string> =>
  Option.fromNullable(more.length === 0 ? encoded : undefined).pipe(
    Option.flatMap((encoded) => Option.getRight(Encoding.decodeBase64(encoded))),
    Option.flatMap((bytes) => Option.getRight(decodeText(bytes))),
    Option.flatMap((text) => Option.fromNullable(/^([^:]{1,64}):/u.exec(text)?.[1])),
    Option.filter((customerId) => !/\p{C}/u.test(customerId))
  )

// Target

const knownPaths = new Set(["/oauth/service", "/api/aml"])

/** A longer one may be a token. */
const maxSegment = 32

const maskTarget = (target: string): string => {
  const [, path = "", query = ""] = /^([^?#]*)(.*)$/s.exec(target) ?? []
  return maskPath(path) + (query.startsWith("?") ? `?${maskQuery(query.slice(1))}` : query && hidden)
}

const maskPath = (path: string): string =>
  knownPaths.has(path)
    ? path
    : path.startsWith("/aml-profiles/")
    ? `/aml-profiles/${hidden}`
    : path.startsWith("/")
    ? path.split("/").map((segment) => segment.length > maxSegment ? hidden : segment).join("/")
    : hidden

const maskQuery = (query: string): string => query === "" ? "" : maskPairs(query, () => false)

/** Names of parameters are in lower case here: what is not, may be a secret that lost its name. */
const maskPairs = (pairs: string, isHarmless: (name: string, value: string) => boolean): string =>
  pairs.split("&").map((pair) => {
    const [, name, value = ""] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
    return name === undefined
      ? hidden
      : `${/^[a-z][a-z_]{0,31}$/.test(name) ? name : hidden}=${
        value === "" || isHarmless(name, value) ? value : hidden
      }`
  }).join("&")

// Body

const maskForm: MaskBody = (body) =>
  Option.getRight(decodeText(body)).pipe(
    Option.filter((text) => text.includes("=")),
    Option.map((text) => maskPairs(text, (name, value) => name === "grant_type" && value === "client_credentials"))
  )

/** What stands in the place of a value, if the rule knows its name. */
type Rule = (name: string, value: unknown) => Option.Option<unknown>

const maxDepth = 64

const maskJson = (rule: Rule, leaf: (value: unknown) => unknown): MaskBody => {
  const mask = (name: string, value: unknown): unknown =>
    Option.getOrElse(rule(name, value), () =>
      Array.isArray(value)
        ? value.map((item: unknown) => mask("", item))
        : Predicate.isRecord(value)
        ? Object.fromEntries(
          Object.entries(value).map(([name, value]) => [isFieldName(name) ? name : hidden, mask(name, value)])
        )
        : leaf(value))
  return (body) =>
    Option.getRight(parseJson(body)).pipe(
      Option.filter((value) => Predicate.isRecord(value) && !isDeep(value)),
      Option.map((value) => JSON.stringify(mask("", value)))
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

/** What is not, may be a value that was put in the wrong place. */
const isFieldName = (text: string): boolean => /^[\w-]{1,32}$/.test(text)

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

const personal = new Set(["name", "dob", "birthyear", "amlprofile"])

/** However it is written: `access_token`, `accessToken`, `Access-Token`. */
const isSecret = (name: string): boolean => {
  const folded = name.toLowerCase().replaceAll(/[^a-z]/g, "")
  return personal.has(folded) || /token|secret|password|key/.test(folded) && folded !== "tokentype"
}

/** Refusals hold no values, but the path of a field that does not exist is as the client wrote it. */
const isForeignPath = (name: string, value: unknown): boolean =>
  name === "path" && !(typeof value === "string" && (value === "" || value.split(".").every(isFieldName)))

const maskAnswer = maskJson(
  (name, value) => isSecret(name) || isForeignPath(name, value) ? Option.some(hidden) : Option.none(),
  (value) => value
)

const requestBodies: Record<Operation, MaskBody> = { token: maskForm, aml: maskPerson, other: () => Option.none() }
