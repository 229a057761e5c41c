/**
 * Masks the headers of a message. It shows a name if it is a known one, and a word of a value if that
 * header is known to have it, and hides everything else. So a key, a token or a person that a client puts
 * into a header by mistake never reaches a journal.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { demoCustomer, testKey } from "../session/customer.ts"
import * as Words from "./headerWords.ts"
import { cut, hidden, recordOf } from "./hiddenText.ts"
import { maskTarget, maxTarget } from "./maskedTarget.ts"

type Headers = Readonly<Record<string, string>>

type Mask = (value: string) => string

const maxHeaders = 100

const maxHeaderValue = 256

/** Shows known words and the separators between them. `before` is the text before the word. */
const keepingWords = (isKnown: (word: string, before: string) => boolean): Mask => (value) =>
  value.slice(0, maxHeaderValue * 4).replaceAll(
    /[^\s,;=()"/]+/g,
    (word, at: number) => isKnown(word.toLowerCase(), value.slice(0, at).toLowerCase()) ? word : hidden
  )

/** Whether a word is the weight of a preference, as in `q=0.8`. */
const isWeight = (word: string, before: string): boolean => before.endsWith("q=") && /^[01](\.\d{1,3})?$/.test(word)

const keeping = (words: ReadonlySet<string>): Mask =>
  keepingWords((word, before) => words.has(word) || isWeight(word, before))

const matching = (pattern: RegExp): Mask => (value) => pattern.test(value) ? value : hidden

/** Whether a word is a version. A part that could be a year is not, because the word could be a date. */
const isVersion = (word: string): boolean =>
  /^v?(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,3})){0,3}$/.test(word) &&
  !word.split(".").some((part) => /^(1[89]|20)\d\d$/.test(part))

const maskUserAgent = keepingWords((word, before) =>
  Words.agents.has(word) ||
  isVersion(word) && Words.agents.has(/([^\s,;=()"/]+)\/$/.exec(before)?.[1] ?? "")
)

/** Masks the ids of the trace and of its span, because they can hold any bytes. */
const maskTraceparent: Mask = (value) =>
  value.replace(
    /^(00)-[\da-f]{32}-[\da-f]{16}-(0[01])$|^.*$/s,
    (_, version, flags) => version === undefined ? hidden : `${version}-${hidden}-${hidden}-${flags}`
  )

const host = "localhost|127\\.0\\.0\\.1|\\[::1\\]"

/** The masks of headers that a request or a response has. All other values are hidden. */
const masks: Readonly<Record<string, Mask>> = {
  "accept": keeping(Words.mediaTypes),
  "accept-charset": keeping(Words.charsets),
  "accept-encoding": keeping(Words.codings),
  "accept-language": keeping(Words.languages),
  "authorization": (value) => maskAuthorization(value),
  "cache-control": keeping(Words.cacheControl),
  "connection": keeping(Words.connection),
  "content-encoding": keeping(Words.codings),
  "content-length": matching(/^\d{1,5}$/),
  "content-type": keeping(Words.mediaTypes),
  "expect": keeping(new Set(["100-continue"])),
  "host": matching(new RegExp(`^(${host})(:\\d{1,5})?$`)),
  "keep-alive": keepingWords((word) => ["timeout", "max"].includes(word) || /^\d{1,3}$/.test(word)),
  "pragma": keeping(Words.cacheControl),
  "sec-fetch-dest": keeping(Words.fetch),
  "sec-fetch-mode": keeping(Words.fetch),
  "sec-fetch-site": keeping(Words.fetch),
  "sec-fetch-user": keeping(Words.fetch),
  "te": keeping(Words.codings),
  "traceparent": maskTraceparent,
  "transfer-encoding": keeping(Words.codings),
  "upgrade": keeping(Words.connection),
  "upgrade-insecure-requests": matching(/^1$/),
  "user-agent": maskUserAgent,
  "x-content-type-options": matching(/^nosniff$/i)
}

/** The mock server itself writes these, but for the text of a fault. */
const responseMasks: Readonly<Record<string, Mask>> = {
  ...masks,
  "allow": keeping(Words.methods),
  "location": (value) => maskLocation(value),
  "retry-after": matching(/^(\d{1,10}|soon|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT)$/),
  "www-authenticate": keeping(Words.challenges)
}

const maskHeaders = (masks: Readonly<Record<string, Mask>>) => (headers: Headers): Record<string, string> => {
  const all = Object.entries(headers)
  const kept = all.slice(0, maxHeaders).map(([name, value]): readonly [string, string] => {
    const lower = name.toLowerCase()
    const mask = Object.hasOwn(masks, lower) ? masks[lower] : undefined
    return [Words.names.has(lower) ? name : hidden, mask === undefined ? hidden : cut(mask(value), maxHeaderValue)]
  })
  return recordOf(all.length > maxHeaders ? kept.concat([["…", `${all.length - maxHeaders} more`]]) : kept)
}

export const maskRequestHeaders = maskHeaders(masks)

export const maskResponseHeaders = maskHeaders(responseMasks)

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
 * Whether a text is the id of a built-in customer. Any other text may be a key, because id and key are
 * easily swapped. The entry names the customer anyway.
 */
const isBuiltInId = (text: string): boolean =>
  text === demoCustomer.customerId ||
  /^test-[\w.-]{1,59}$/.test(text) && text !== Redacted.value(testKey)

const customerIdOf = ([encoded, ...more]: ReadonlyArray<string>): Option.Option<string> =>
  Option.fromNullable(more.length === 0 ? encoded : undefined).pipe(
    Option.flatMap((encoded) => Either.getRight(Encoding.decodeBase64String(encoded))),
    Option.flatMap((text) => Option.fromNullable(/^([^:]+):/.exec(text)?.[1])),
    Option.filter(isBuiltInId)
  )

/** Shows an address that the mock server itself redirects to, and hides any other. */
const maskLocation = (location: string): string => {
  const [, origin = "", rest = location] =
    new RegExp(`^(https?://(?:elsewhere\\.invalid|${host})(?::\\d{1,5})?)((?:[/?#].*)?)$`, "is").exec(location) ?? []
  return cut(
    origin === "" ? maskTarget(rest) : origin + (rest === "" ? "" : maskTarget(rest.replace(/^(?!\/)/, "/"))),
    maxTarget
  )
}
