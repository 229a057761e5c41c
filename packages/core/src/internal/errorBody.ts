/**
 * What an error answer says of itself. The document shows no error body (API document, section 7),
 * so every usual shape is read, leniently: what is not understood is passed over, and never a
 * failure of its own.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Person } from "../Person.ts"

/** `code` is safe to repeat; `detail` may repeat the person. */
export interface ErrorBody {
  readonly code?: string
  readonly detail?: Redacted.Redacted<string>
}

const lenient = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optional(Schema.UndefinedOr(schema).annotations({ decodingFallback: () => Either.right(undefined) }))

const Code = Schema.Union(Schema.String, Schema.Number)

/** One error. */
const Item = Schema.Struct({
  code: lenient(Code),
  error_code: lenient(Code),
  errorCode: lenient(Code),
  type: lenient(Code),
  error_description: lenient(Schema.String),
  title: lenient(Schema.String),
  detail: lenient(Schema.String),
  message: lenient(Schema.String),
  reason: lenient(Schema.String),
  description: lenient(Schema.String)
})
type Item = typeof Item.Type

const itemFrom = (field: "code" | "message") =>
  Schema.transform(Code, Schema.typeSchema(Item), {
    strict: true,
    decode: (value): Item => ({ [field]: String(value) }),
    encode: (item) => item[field] ?? ""
  })

/**
 * OAuth (RFC 6749 5.2), problem details (RFC 9457), an error in an object, a list or a record of
 * errors. What is nested deeper is not followed: the nesting may have no end.
 */
const Body = Schema.Struct({
  ...Item.fields,
  error: lenient(Schema.Union(itemFrom("code"), Item)),
  errors: lenient(
    Schema.Union(Schema.Array(Schema.Unknown), Schema.Record({ key: Schema.String, value: Schema.Unknown }))
  )
})

const decodeEntry = Schema.decodeUnknownOption(Schema.Union(itemFrom("message"), Item))
const decodeBody = Schema.decodeUnknownOption(Body)
const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** The outer before the inner. */
const itemsOf = (json: unknown): ReadonlyArray<Item> =>
  Option.match(
    decodeBody(Array.isArray(json) ? { errors: json } : Predicate.isString(json) ? { message: json } : json),
    {
      onNone: () => [],
      onSome: ({ error, errors = [], ...own }) => [
        own,
        ...(error === undefined ? [] : [error]),
        ...Object.values(errors).flat().flatMap((entry) => Option.toArray(decodeEntry(entry)))
      ]
    }
  )

/** A word, a number, or the address of a problem type. */
const harmless = /^(?:[a-z][\w.-]{0,63}|\d{1,10}|(?:urn:|https?:\/\/)[\w.:/-]{1,200})$/i

const isCode = (code: string): boolean => harmless.test(code)

const codesOf = ({ code, error_code, errorCode, type }: Item): ReadonlyArray<string> =>
  [code, error_code, errorCode, type].filter((code) => code !== undefined && code !== "about:blank").map(String)

const textsOf = (item: Item): ReadonlyArray<string> =>
  [item.title, item.error_description, item.detail, item.message, item.reason, item.description]
    .filter(Predicate.isNotUndefined)

const maxDetailLength = 1000

/** `secrets` are the person that was sent, and the tokens with which. */
export const read = (bytes: Uint8Array, secrets: Secrets): ErrorBody => {
  const text = new TextDecoder().decode(bytes)
  const items = Option.match(parseJson(text), { onNone: () => [], onSome: itemsOf })
  const codes = items.flatMap(codesOf)
  const code = codes.find((code) => isCode(code) && !isRevealing(code, secrets))
  const told = [...items.flatMap(textsOf), ...codes.filter((code) => !isCode(code))]
  const detail = (told.length === 0 && code === undefined ? text.trim() : told.join("; ")).slice(0, maxDetailLength)
  return {
    ...(code !== undefined && { code }),
    ...(detail !== "" && { detail: Redacted.make(detail) })
  }
}

export interface Secrets {
  readonly person: Person
  readonly tokens: ReadonlyArray<Redacted.Redacted<string>>
}

/** Whether a code repeats a word of the name, the date or the year of birth, or a token. */
const isRevealing = (code: string, { person, tokens }: Secrets): boolean => {
  const lower = code.toLowerCase()
  const words = wordsOf(code.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, " "))
  const { day, month, year } = person.dateOfBirth
  const [dd = "", mm = "", yyyy = ""] = [day, month, year].map((part) => String(part).padStart(2, "0"))
  const yy = yyyy.slice(-2)
  const dates = [dd + mm + yyyy, mm + dd + yyyy, yyyy + mm + dd, dd + mm + yy, mm + dd + yy, yy + mm + dd]
  const digits = code.replaceAll(/\D/g, "")
  return wordsOf(Redacted.value(person.name)).some((name) => words.includes(name) || isIn(name, lower)) ||
    words.includes(yyyy) || dates.some((date) => digits.includes(date)) ||
    tokens.map(Redacted.value).some((token) =>
      isIn(token.toLowerCase(), lower) || (code.length >= 8 && token.includes(code))
    )
}

/** Shorter ones are in many a word by chance. */
const isIn = (secret: string, code: string): boolean => secret.length > 3 && code.includes(secret)

/** In lower case and without diacritics, as a code would have them. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "")
