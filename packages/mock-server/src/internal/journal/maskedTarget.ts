/** Masks the target of a request: only known paths, known words and known names of parameters are shown. */
import { operationOf } from "./entry.ts"
import { hiddenText, truncate } from "./shownText.ts"

/** Words that a wrong path usually consists of. Any other word may be a name or a key. */
const word = "(oauth2?|services?|token|auth|api|v[123]|aml|profiles?|check|health|connect)"

/** A known word, or several of them together, as in `amlcheck` or `aml-check`. */
const knownWords = new RegExp(`^${word}([-_.]?${word})*$`, "i")

const otherSegments = new Set(["", "*", "_mock", "docs", "favicon.ico", "live", "ready", "robots.txt", "ui"])

/**
 * Words of the known paths that are long enough for a typing error to be recognized. `api` and `aml` are not: a name
 * such as Ali differs from them by a single letter.
 */
const longWords = ["oauth", "service"]

/** Whether two words differ by one letter that is missing, added, replaced or swapped with the next. */
const isTypingError = (typed: string, word: string): boolean => {
  const start = commonPrefix(typed, word)
  const rest = (text: string, skipped: number) => text.slice(start + skipped)
  return rest(typed, 1) === rest(word, 1) || rest(typed, 1) === rest(word, 0) || rest(typed, 0) === rest(word, 1) ||
    typed[start] === word[start + 1] && typed[start + 1] === word[start] && rest(typed, 2) === rest(word, 2)
}

const commonPrefix = (one: string, other: string): number => {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}

const isKnown = (segment: string): boolean =>
  otherSegments.has(segment) || knownWords.test(segment) ||
  /^[os][a-z]{3,7}$/i.test(segment) && longWords.some((word) => isTypingError(segment.toLowerCase(), word))

const maxSegments = 8

export const maxTarget = 512

/** The target of input that is not a request. */
export const noTarget = "?"

export const maskTarget = (target: string): string => {
  if (target === noTarget) return target
  const [, path = "", query = ""] = /^([^?#]*)(.*)$/s.exec(target) ?? []
  return truncate(
    maskPath(path) + (query.startsWith("?") ? `?${maskQuery(query.slice(1))}` : query && hiddenText),
    maxTarget
  )
}

const maskPath = (path: string): string => {
  if (operationOf(path) !== "other") return path
  if (path.startsWith("/aml-profiles/")) return `/aml-profiles/${hiddenText}`
  const [first, ...segments] = path.split("/")
  return first !== "" || segments.length === 0 || segments.length > maxSegments
    ? hiddenText
    : `/${segments.map((segment) => isKnown(segment) ? segment : hiddenText).join("/")}`
}

const maskQuery = (query: string): string => query === "" ? "" : maskPairs(query, () => false)

/** Names of parameters. Any other name may be a value without its name. */
const parameters = new Set(
  ["grant_type", "client_id", "client_secret", "scope", "audience", "resource", "redirected", "customer_id"]
    .concat(["customer_key", "username", "password", "name", "dob", "entity_type", "token"])
)

/** Masks the pairs of a form or a query: shows known names, and the values that are known to be harmless. */
export const maskPairs = (pairs: string, isHarmless: (name: string, value: string) => boolean): string =>
  pairs.split("&").map((pair) => {
    const [, name, value = ""] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
    return name === undefined
      ? hiddenText
      : `${parameters.has(name) ? name : hiddenText}=${value === "" || isHarmless(name, value) ? value : hiddenText}`
  }).join("&")
