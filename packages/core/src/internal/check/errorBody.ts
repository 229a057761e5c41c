/**
 * Reads a code and a text from the body of an error response. The service document shows no error body (section 7), so
 * this reads every usual format and ignores what it does not understand: a body never causes an error of its own.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Person } from "../../Person.ts"
import * as Credentials from "../token/credentials.ts"

/** `code` is safe to show. `detail` may contain personal data. */
export interface ErrorBody {
  readonly code?: string
  readonly detail?: Redacted.Redacted<string>
}

const optionalIfValid = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optional(Schema.UndefinedOr(schema).annotations({ decodingFallback: () => Either.right(undefined) }))

const Code = Schema.Union(Schema.String, Schema.Number)

/** One error in a body. */
const Item = Schema.Struct({
  code: optionalIfValid(Code),
  error_code: optionalIfValid(Code),
  errorCode: optionalIfValid(Code),
  type: optionalIfValid(Code),
  error_description: optionalIfValid(Schema.String),
  title: optionalIfValid(Schema.String),
  detail: optionalIfValid(Schema.String),
  message: optionalIfValid(Schema.String),
  reason: optionalIfValid(Schema.String),
  description: optionalIfValid(Schema.String)
})
type Item = typeof Item.Type

const itemFrom = (field: "code" | "message") =>
  Schema.transform(Code, Schema.typeSchema(Item), {
    strict: true,
    decode: (value): Item => ({ [field]: String(value) }),
    encode: (item) => item[field] ?? ""
  })

/**
 * An OAuth error (RFC 6749, section 5.2), problem details (RFC 9457), an error in an object, or a list or a record of
 * errors. Deeper nesting is not read, because it may be unlimited.
 */
const Body = Schema.Struct({
  ...Item.fields,
  error: optionalIfValid(Schema.Union(itemFrom("code"), Item)),
  errors: optionalIfValid(Schema.Object)
})

const decodeEntry = Schema.decodeUnknownOption(Schema.Union(itemFrom("message"), Item))
const decodeBody = Schema.decodeUnknownOption(Body)
const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** The entries of a list, of a record, or of a record of lists. */
const entriesOf = (errors: object): ReadonlyArray<unknown> => Object.values(errors).flat()

/** How many errors of a list are read. A body of 1 MiB could contain half a million. */
const maxErrors = 100

/** The outer errors come before the inner ones. */
const itemsOf = (json: unknown): ReadonlyArray<Item> =>
  Option.match(
    decodeBody(Array.isArray(json) ? { errors: json } : Predicate.isString(json) ? { message: json } : json),
    {
      onNone: () => [],
      onSome: ({ error, errors = [], ...outerItem }) => [
        outerItem,
        ...(error === undefined ? [] : [error]),
        ...entriesOf(errors).slice(0, maxErrors).flatMap((entry) => Option.toArray(decodeEntry(entry)))
      ]
    }
  )

/** A word, a number, or the URI of a problem type. A path with an id is excluded: it may identify a profile. */
const safeCode = /^(?:[a-z][\w.-]{0,63}|\d{1,10}|urn:[\w.:-]+|https?:\/\/[\w.:-]+(?:\/(?:[a-z][a-z_.-]*|v\d+)?)*)$/i

const isCode = (code: string): boolean => code.length <= 200 && safeCode.test(code)

const codesOf = ({ code, error_code, errorCode, type }: Item): ReadonlyArray<string> =>
  [code, error_code, errorCode, type].filter((code) => code !== undefined && code !== "about:blank").map(String)

const textsOf = (item: Item): ReadonlyArray<string> =>
  [item.title, item.error_description, item.detail, item.message, item.reason, item.description]
    .filter(Predicate.isNotUndefined)

const maxDetailLength = 1000

/** Reads a body. Codes that are unsafe or repeat one of the `secrets` become part of `detail`. */
export const read = (bytes: Uint8Array, secrets: Secrets): ErrorBody => {
  const text = new TextDecoder().decode(bytes)
  const items = Option.match(parseJson(text), { onNone: () => [], onSome: itemsOf })
  const codes = items.flatMap(codesOf)
  const [unsafeCodes, [code]] = Arr.partition(codes, (code) => isCode(code) && !isRevealing(code, secrets))
  const texts = [...items.flatMap(textsOf), ...unsafeCodes]
  const detail = (texts.length === 0 && code === undefined ? text.trim() : texts.join("; ")).slice(0, maxDetailLength)
  return {
    ...(code !== undefined && { code }),
    ...(detail !== "" && { detail: Redacted.make(detail) })
  }
}

/** The person and the tokens that were sent. */
export interface Secrets {
  readonly person: Person
  readonly tokens: ReadonlyArray<Redacted.Redacted<string>>
}

/** Whether a code may say that a list contains the person, or does not. */
const hasResult = (code: string): boolean =>
  /sanction|(?:black|watch).?list|(?<!mis)match/i.test(code) ||
  wordsOfCode(code).some((word) => /^(?:peps?|hits?|listed)$/.test(word))

/**
 * Whether the code may say a result, or repeats a word of the name, the date or the year of birth, or a part of a token.
 */
const isRevealing = (code: string, { person, tokens }: Secrets): boolean =>
  hasResult(code) ||
  hasName(code, Redacted.value(person.name)) || hasDate(code, person.dateOfBirth) ||
  tokens.some((token) => hasToken(code.toLowerCase(), Redacted.value(token).toLowerCase()))

const hasName = (code: string, name: string): boolean => {
  const lower = code.toLowerCase()
  const letters = lower.replaceAll(/[^a-z]/g, "")
  const words = wordsOfCode(code)
  return [wordsOf(name), wordsOf(spellOutUmlauts(name))].some((names) =>
    names.some((word) => words.includes(word) || isSecretIn(word, lower) || isSecretIn(word, letters)) ||
    names.some((word) => names.some((other) => isSecretIn(word + other, lower)))
  )
}

const hasDate = (code: string, { day, month, year }: Person["dateOfBirth"]): boolean => {
  const [dd = "", mm = "", yyyy = ""] = [day, month, year].map((part) => String(part).padStart(2, "0"))
  const yy = yyyy.slice(-2)
  const digits = code.replaceAll(/\D/g, "")
  return [yyyy, dd + mm + yy, mm + dd + yy, yy + mm + dd].some((date) => digits.includes(date)) ||
    [dd + mm, mm + dd].some((birthday) => wordsOf(code).includes(birthday))
}

const hasToken = (code: string, token: string): boolean => isSecretIn(token, code) || Credentials.hasPartOf(token, code)

/**
 * Whether the code contains the secret. Secrets of up to 3 characters are ignored, because many words contain them by
 * chance.
 */
const isSecretIn = (secret: string, code: string): boolean => secret.length > 3 && code.includes(secret)

/** The boundaries of words in `camelCase`, `ACRONYMWord`, `word1` and `1word`. */
const wordStarts = /(?<=[a-z])(?=[A-Z\d])|(?<=[A-Z])(?=[A-Z][a-z]|\d)|(?<=\d)(?=[A-Za-z])/g

/** The words of a text in lower case and without diacritics, as a code would contain them. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  replaceLetters(text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase(), undecomposedLetters)
    .split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "")

/** The words of a code, also those within `camelCase`. */
const wordsOfCode = (code: string): ReadonlyArray<string> => [
  ...wordsOf(code),
  ...wordsOf(code.replaceAll(wordStarts, " "))
]

const spellOutUmlauts = (text: string): string => replaceLetters(text.toLowerCase().normalize("NFC"), umlauts)

const replaceLetters = (text: string, letters: Readonly<Record<string, string>>): string =>
  Array.from(text, (letter) => letters[letter] ?? letter).join("")

/** Letters that Unicode does not decompose. */
const undecomposedLetters = {
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  ß: "ss",
  æ: "ae",
  œ: "oe",
  þ: "th",
  ə: "a",
  ɓ: "b",
  ɗ: "d",
  ƙ: "k",
  ŋ: "n"
}
const umlauts = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" }
