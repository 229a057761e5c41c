/**
 * The headers of a message as a journal keeps them. A name is kept if it is a known one, and a word of
 * a value if it is known to stand in that header; everything else is hidden. So whatever a client puts
 * into a header by mistake, a key, a token or a person, is in no journal.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Session from "../../Session.ts"
import * as Words from "./headerWords.ts"
import { cut, hidden, named } from "./hidden.ts"
import { maskTarget, maxTarget } from "./maskedTarget.ts"

type Headers = Readonly<Record<string, string>>

type Mask = (value: string) => string

const maxHeaders = 100

const maxHeaderValue = 256

/** Between words stand blanks and signs, which are kept. `before`: what stands before the word. */
const keepingWords = (isKnown: (word: string, before: string) => boolean): Mask => (value) =>
  value.slice(0, maxHeaderValue * 4).replaceAll(
    /[^\s,;=()"/]+/g,
    (word, at: number) => isKnown(word.toLowerCase(), value.slice(0, at).toLowerCase()) ? word : hidden
  )

/** The weight of a preference: `q=0.8`. */
const isWeight = (word: string, before: string): boolean => before.endsWith("q=") && /^[01](\.\d{1,3})?$/.test(word)

const keeping = (words: ReadonlySet<string>): Mask =>
  keepingWords((word, before) => words.has(word) || isWeight(word, before))

const matching = (pattern: RegExp): Mask => (value) => pattern.test(value) ? value : hidden

/** A part of it that is a year, as in a date, is of no version. */
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

/** In a message of either side. */
const shapes: Readonly<Record<string, Mask>> = {
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
const responseShapes: Readonly<Record<string, Mask>> = {
  ...shapes,
  "allow": keeping(Words.methods),
  "location": (value) => maskLocation(value),
  "retry-after": matching(/^(\d{1,10}|soon|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT)$/),
  "www-authenticate": keeping(Words.challenges)
}

const maskHeaders = (shapes: Readonly<Record<string, Mask>>) => (headers: Headers): Record<string, string> => {
  const all = Object.entries(headers)
  const kept = all.slice(0, maxHeaders).map(([name, value]): readonly [string, string] => {
    const lower = name.toLowerCase()
    const mask = Object.hasOwn(shapes, lower) ? shapes[lower] : undefined
    return [Words.names.has(lower) ? name : hidden, mask === undefined ? hidden : cut(mask(value), maxHeaderValue)]
  })
  return named(all.length > maxHeaders ? kept.concat([["…", `${all.length - maxHeaders} more`]]) : kept)
}

export const maskRequestHeaders = maskHeaders(shapes)

export const maskResponseHeaders = maskHeaders(responseShapes)

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
    Option.flatMap((encoded) => Either.getRight(Encoding.decodeBase64String(encoded))),
    Option.flatMap((text) => Option.fromNullable(/^([^:]+):/.exec(text)?.[1])),
    Option.filter(isKnownId)
  )

/** Where the mock server itself sends to, and nothing of another address. */
const maskLocation = (location: string): string => {
  const [, origin = "", rest = location] =
    new RegExp(`^(https?://(?:elsewhere\\.invalid|${host})(?::\\d{1,5})?)((?:[/?#].*)?)$`, "is").exec(location) ?? []
  return cut(
    origin === "" ? maskTarget(rest) : origin + (rest === "" ? "" : maskTarget(rest.replace(/^(?!\/)/, "/"))),
    maxTarget
  )
}
