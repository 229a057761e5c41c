/**
 * Masks the headers of a message. It shows the names of usual headers, and words of a value that are usual for that
 * header, and hides everything else. A journal therefore contains no key, token or name that a client puts into a
 * header by mistake.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { demoCustomer, testKey } from "../session/customer.ts"
import * as Words from "./headerWords.ts"
import { maskTarget, maxTarget } from "./maskedTarget.ts"
import { hiddenText, recordOf, truncate } from "./shownText.ts"

type Headers = Readonly<Record<string, string>>

type Mask = (value: string) => string

const maxHeaders = 100

const maxHeaderValue = 256

/** Shows known words and the separators between them. `before` is the text before the word. */
const showWordsIf = (isKnown: (word: string, before: string) => boolean): Mask => (value) =>
  value.slice(0, maxHeaderValue * 4).replaceAll(
    /[^\s,;=()"/]+/g,
    (word, at: number) => isKnown(word.toLowerCase(), value.slice(0, at).toLowerCase()) ? word : hiddenText
  )

/** Whether a word is the weight of a preference, as in `q=0.8`. */
const isWeight = (word: string, before: string): boolean => before.endsWith("q=") && /^[01](\.\d{1,3})?$/.test(word)

const showWords = (words: ReadonlySet<string>): Mask =>
  showWordsIf((word, before) => words.has(word) || isWeight(word, before))

const showIfMatching = (pattern: RegExp): Mask => (value) => pattern.test(value) ? value : hiddenText

/**
 * Whether a word is a version. A word with a part that could be a year is not a version, because it could be a date.
 */
const isVersion = (word: string): boolean =>
  /^v?(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,3})){0,3}$/.test(word) &&
  !word.split(".").some((part) => /^(1[89]|20)\d\d$/.test(part))

const maskUserAgent = showWordsIf((word, before) =>
  Words.agents.has(word) ||
  isVersion(word) && Words.agents.has(/([^\s,;=()"/]+)\/$/.exec(before)?.[1] ?? "")
)

/** Masks the ids of the trace and of its span, because they can hold any bytes. */
const maskTraceparent: Mask = (value) =>
  value.replace(
    /^(00)-[\da-f]{32}-[\da-f]{16}-(0[01])$|^.*$/s,
    (_, version, flags) => version === undefined ? hiddenText : `${version}-${hiddenText}-${hiddenText}-${flags}`
  )

const host = "localhost|127\\.0\\.0\\.1|\\[::1\\]"

/** The masks of headers that a request or a response has. All other values are hidden. */
const masks: Readonly<Record<string, Mask>> = {
  "accept": showWords(Words.mediaTypes),
  "accept-charset": showWords(Words.charsets),
  "accept-encoding": showWords(Words.codings),
  "accept-language": showWords(Words.languages),
  "authorization": (value) => maskAuthorization(value),
  "cache-control": showWords(Words.cacheControl),
  "connection": showWords(Words.connection),
  "content-encoding": showWords(Words.codings),
  "content-length": showIfMatching(/^\d{1,5}$/),
  "content-type": showWords(Words.mediaTypes),
  "expect": showWords(new Set(["100-continue"])),
  "host": showIfMatching(new RegExp(`^(${host})(:\\d{1,5})?$`)),
  "keep-alive": showWordsIf((word) => ["timeout", "max"].includes(word) || /^\d{1,3}$/.test(word)),
  "pragma": showWords(Words.cacheControl),
  "sec-fetch-dest": showWords(Words.fetch),
  "sec-fetch-mode": showWords(Words.fetch),
  "sec-fetch-site": showWords(Words.fetch),
  "sec-fetch-user": showWords(Words.fetch),
  "te": showWords(Words.codings),
  "traceparent": maskTraceparent,
  "transfer-encoding": showWords(Words.codings),
  "upgrade": showWords(Words.connection),
  "upgrade-insecure-requests": showIfMatching(/^1$/),
  "user-agent": maskUserAgent,
  "x-content-type-options": showIfMatching(/^nosniff$/i)
}

/** The masks of a response. The mock server itself writes these headers, except for text in a fault. */
const responseMasks: Readonly<Record<string, Mask>> = {
  ...masks,
  "allow": showWords(Words.methods),
  // The date of the session's clock, which no client can choose.
  "date": showIfMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
  "location": (value) => maskLocation(value),
  "retry-after": showIfMatching(/^(\d{1,10}|soon|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT)$/),
  "www-authenticate": showWords(Words.challenges)
}

const maskHeaders = (masks: Readonly<Record<string, Mask>>) => (headers: Headers): Record<string, string> => {
  const all = Object.entries(headers)
  const shownHeaders = all.slice(0, maxHeaders).map(([name, value]): readonly [string, string] => {
    const lower = name.toLowerCase()
    const mask = Object.hasOwn(masks, lower) ? masks[lower] : undefined
    return [
      Words.names.has(lower) ? name : hiddenText,
      mask === undefined ? hiddenText : truncate(mask(value), maxHeaderValue)
    ]
  })
  return recordOf(
    all.length > maxHeaders ? shownHeaders.concat([["…", `${all.length - maxHeaders} more`]]) : shownHeaders
  )
}

export const maskRequestHeaders = maskHeaders(masks)

export const maskResponseHeaders = maskHeaders(responseMasks)

const maskAuthorization = (value: string): string => {
  const [scheme = "", ...credentials] = value.trim().split(/\s+/)
  switch (scheme.toLowerCase()) {
    case "basic":
      return `Basic ${
        Option.match(customerIdOf(credentials), { onNone: () => "", onSome: (id) => `${id}:` })
      }${hiddenText}`
    case "bearer":
      return `Bearer ${hiddenText}`
    default:
      return hiddenText
  }
}

/**
 * Whether a text is the id of a built-in customer. Any other text is hidden, because it may be a key: a client may have
 * swapped id and key. The entry contains the customer id anyway.
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
  return truncate(
    origin === "" ? maskTarget(rest) : origin + (rest === "" ? "" : maskTarget(rest.replace(/^(?!\/)/, "/"))),
    maxTarget
  )
}
