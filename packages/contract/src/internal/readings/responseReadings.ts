/** Readings of any answer: status, headers, and the form of a body. */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Send } from "../cases/requestSpec.ts"
import type { Answered } from "../run/wire.ts"
import { echo } from "./echo.ts"

/** A request and its answer. */
export interface Pair {
  readonly send: Send
  readonly answer: Answered
  readonly secrets: ReadonlyArray<string>
}

export type Read = (pairs: ReadonlyArray<Pair>) => string

/** Most readings are of the last answer. */
export const ofLast = (read: (pair: Pair) => string): Read => (pairs) => {
  const last = pairs.at(-1)
  return last === undefined ? "no answer" : read(last)
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

export const textOf = ({ body }: Answered): Option.Option<string> =>
  Either.getRight(Either.try(() => utf8.decode(body)))

export const jsonOf = (answer: Answered): Option.Option<unknown> =>
  Option.flatMap(textOf(answer), (text) => Either.getRight(Either.try((): unknown => JSON.parse(text))))

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const objectOf = (answer: Answered): Option.Option<{ readonly [name: string]: unknown }> =>
  Option.filter(jsonOf(answer), isObject)

export const typeOf = ({ headers }: Answered): string =>
  (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""

export const isSuccess = ({ status }: Answered): boolean => status >= 200 && status < 300

/** Of a status that is no success. One who is asked too often does not say what is wrong with the request. */
export const otherOutcome = ({ status }: Answered): string =>
  status === 429
    ? "rate limited"
    : status >= 300 && status < 400
    ? "redirected"
    : status >= 500
    ? "failed"
    : "refused"

/** Whether it has what section 2.3 calls the attributes: without them, nothing was found of anybody. */
export const isCredential = (answer: Answered): boolean =>
  isSuccess(answer) &&
  Option.exists(objectOf(answer), ({ credentials }) => isObject(credentials) && isObject(credentials["attributes"]))

const errorFields = ["error", "errors", "error_code", "error_description", "fault", "message", "detail", "title"]

/** The document shows no status of an error: one may come with 200, and says so in its body. */
export const isErrorBody = (answer: Answered): boolean =>
  typeOf(answer) === "application/problem+json" ||
  Option.exists(objectOf(answer), (body) => !("credentials" in body) && errorFields.some((name) => name in body))

export const isHtml = (answer: Answered): boolean =>
  typeOf(answer) === "text/html" || Option.exists(textOf(answer), (text) => /^\s*<(!doctype|html)/i.test(text))

const mediaTypes = ["application/json", "text/plain", "text/html", "application/problem+json"]

const mediaType = (answer: Answered): string => {
  const type = typeOf(answer)
  if (type === "") return "absent"
  if (mediaTypes.includes(type)) return type
  return /^(text|application)\/([a-z0-9.-]+\+)?json$/.test(type) ? "another JSON type" : "another type"
}

const redirect = ({ answer }: Pair): string => {
  const { location } = answer.headers
  if (answer.status < 300 || answer.status >= 400) return "none"
  if (location === undefined || !URL.canParse(location, answer.url.href)) return "nowhere"
  return new URL(location, answer.url).origin === answer.url.origin ? "same-origin" : "other-origin"
}

const challenge = ({ answer }: Pair): string => {
  const given = answer.headers["www-authenticate"]
  if (given === undefined) return "absent"
  return ["Basic", "Bearer"].find((scheme) => new RegExp(`(^|,\\s*)${scheme}(\\s|$)`, "i").test(given)) ??
    "another scheme"
}

const retryAfter = ({ answer }: Pair): string => {
  if (answer.status !== 429) return "no 429"
  const given = answer.headers["retry-after"]
  if (given === undefined) return "none"
  if (/^\d+$/.test(given)) return "seconds"
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(given) ? "date" : "garbage"
}

export const readings = {
  "status": ofLast(({ answer }) => String(answer.status)),
  "media type": ofLast(({ answer }) => mediaType(answer)),
  "redirect": ofLast(redirect),
  "challenge": ofLast(challenge),
  "caching": ofLast(({ answer }) =>
    /(^|,)\s*no-store\s*(,|$)/i.test(answer.headers["cache-control"] ?? "") ? "no-store" : "cacheable"
  ),
  "retry after": ofLast(retryAfter),
  "echo": ofLast(({ answer, secrets }) => echo(answer, secrets))
} as const satisfies Record<string, Read>
