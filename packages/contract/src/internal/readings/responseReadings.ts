/** Readings of any response: its status, its headers, and the form of its body. */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Response } from "../exchange.ts"
import type { Person, Step } from "../steps.ts"

/** A step and its complete response. */
export interface StepResponse {
  readonly step: Step
  readonly response: Response
  /** The person whom a check was about. */
  readonly person?: Pick<Person, "name" | "dob" | "promised"> | undefined
  /** Texts that a refusal must not repeat. */
  readonly secrets: ReadonlyArray<string>
}

/** Reads one word from the responses of a case. */
export type Read = (responses: ReadonlyArray<StepResponse>) => string

/** Reads the last response, as most readings do. */
export const ofLast = (read: (response: StepResponse) => string): Read => (responses) => {
  const last = responses.at(-1)
  return last === undefined ? "no answer" : read(last)
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

export const textOf = ({ body }: Response): Option.Option<string> =>
  Either.getRight(Either.try(() => utf8.decode(body)))

export const jsonOf = (response: Response): Option.Option<unknown> => Option.flatMap(textOf(response), parsed)

const parsed = (text: string): Option.Option<unknown> => Either.getRight(Either.try((): unknown => JSON.parse(text)))

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const objectOf = (response: Response): Option.Option<{ readonly [name: string]: unknown }> =>
  Option.filter(jsonOf(response), isObject)

/** Whether the body is a JSON object in ISO-8859-1, and not in UTF-8. */
export const isLatin1Object = (response: Response): boolean =>
  Option.isNone(textOf(response)) && Option.exists(parsed(Buffer.from(response.body).toString("latin1")), isObject)

/** The media type in lower case, without parameters. */
export const mediaTypeOf = ({ headers }: Response): string =>
  (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""

export const isSuccess = ({ status }: Response): boolean => status >= 200 && status < 300

export const isRedirect = ({ status }: Response): boolean => status >= 300 && status < 400

/** The attributes of a credential (section 2.3), wherever the response has them. */
export const attributesOf = (response: Response): { readonly [name: string]: unknown } | undefined => {
  const credentials = Option.getOrUndefined(objectOf(response))?.["credentials"]
  const attributes = isObject(credentials) ? credentials["attributes"] : undefined
  return isObject(attributes) ? attributes : undefined
}

/** Whether a 2xx response has the attributes of section 2.3. Without them, it has no screening result. */
export const isCredential = (response: Response): boolean => isSuccess(response) && attributesOf(response) !== undefined

const errorFields = ["error", "errors", "error_code", "error_description", "fault", "message", "detail", "title"]

/** The service document shows no error status, so an error may come with 200 and be visible in the body only. */
export const isErrorBody = (response: Response): boolean =>
  mediaTypeOf(response) === "application/problem+json" ||
  Option.exists(objectOf(response), (body) => !("credentials" in body) && errorFields.some((name) => name in body))

/**
 * The outcome of a request: `good`, or `none` for another 2xx response that is not an error. A 429 says nothing about the
 * request, so it is not a refusal.
 */
export const outcomeOf = (
  response: Response,
  good: string,
  isGood: (response: Response) => boolean,
  none: string
): string => {
  if (isSuccess(response)) return isGood(response) ? good : isErrorBody(response) ? "refused" : none
  if (response.status === 429) return "rate limited"
  if (isRedirect(response)) return "redirected"
  return response.status >= 500 ? "failed" : "refused"
}

export const isHtml = (response: Response): boolean =>
  mediaTypeOf(response) === "text/html" ||
  Option.exists(textOf(response), (text) => /^\s*<(!doctype|html)/i.test(text))

const mediaTypes = ["application/json", "text/plain", "text/html", "application/problem+json"]

const mediaType = (response: Response): string => {
  const type = mediaTypeOf(response)
  if (type === "") return "absent"
  if (mediaTypes.includes(type)) return type
  return /^(text|application)\/([a-z0-9.-]+\+)?json$/.test(type) ? "another JSON type" : "another type"
}

const redirect = (response: Response): string => {
  const { location } = response.headers
  if (!isRedirect(response)) return "none"
  if (location === undefined || !URL.canParse(location, response.url.href)) return "nowhere"
  return new URL(location, response.url).origin === response.url.origin ? "same-origin" : "other-origin"
}

const challenge = ({ headers }: Response): string => {
  const header = headers["www-authenticate"]
  if (header === undefined) return "absent"
  return ["Basic", "Bearer"].find((scheme) => new RegExp(`(^|,\\s*)${scheme}(\\s|$)`, "i").test(header)) ??
    "another scheme"
}

const retryAfter = ({ headers, status }: Response): string => {
  if (status !== 429) return "no 429"
  const header = headers["retry-after"]
  if (header === undefined) return "none"
  if (/^\d+$/.test(header)) return "seconds"
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header) ? "date" : "garbage"
}

const caching = ({ headers }: Response): string =>
  /(^|,)\s*no-store\s*(,|$)/i.test(headers["cache-control"] ?? "") ? "no-store" : "cacheable"

/** The readings that `Readings` publishes for both operations. */
export const readings = {
  "status": ofLast(({ response }) => String(response.status)),
  "media type": ofLast(({ response }) => mediaType(response)),
  "redirect": ofLast(({ response }) => redirect(response)),
  "challenge": ofLast(({ response }) => challenge(response)),
  "caching": ofLast(({ response }) => caching(response)),
  "retry after": ofLast(({ response }) => retryAfter(response))
} as const satisfies Record<string, Read>

/** In what documented requests may differ: the person of a check, and its token. */
const documentedKeys = ["to", "person", "token", "isValid", "inPieces"]

const isUnchanged = (step: Step): boolean => Object.keys(step).every((key) => documentedKeys.includes(key))

/** Whether the request is that of section 4.2, about any person. */
export const isDocumentedCheck = (step: Step): boolean =>
  step.to === "aml" && step.isValid !== false && isUnchanged(step)

/** Whether a request is that of section 4.1. */
export const isDocumentedTokenRequest = (step: Step): boolean => step.to === "token" && isUnchanged(step)
