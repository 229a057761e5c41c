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
import type { Operation } from "../../Journal.ts"
import * as TestPerson from "../../TestPerson.ts"
import { hidden, named } from "./hidden.ts"
import { maskRequestHeaders, maskResponseHeaders } from "./maskedHeaders.ts"
import { maskPairs, maskTarget } from "./maskedTarget.ts"

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
    : {
      method,
      target: maskTarget(target),
      headers: maskRequestHeaders(headers),
      body: shown(body, requestBodies[operation])
    }

/** Answers are told apart by their fields alone: a fault may give that of one operation to another. */
export const maskResponse = (
  { body, headers, status }: ResponseParts,
  reveal: boolean
): Shown<ResponseParts> =>
  reveal
    ? { status, headers, body: revealed(body) }
    : { status, headers: maskResponseHeaders(headers), body: shown(body, maskAnswer) }

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

const lastWords = new Set(TestPerson.reserved.map(({ lastWord }) => lastWord.toLowerCase()))

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
