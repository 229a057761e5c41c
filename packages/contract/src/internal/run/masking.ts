/**
 * An exchange as a HAR shows it. A request has placeholders in the place of secrets, names and dates. A response has known
 * headers and known fields only, and only values that can hold no secret and no personal data.
 */
import * as Option from "effect/Option"
import type { Response } from "../exchange.ts"
import type { MaskedRequest, MaskedResponse } from "../maskedExchange.ts"
import type { Target } from "../model.ts"
import { documentedNames, timeOf } from "../readings/credentialReadings.ts"
import { isObject, jsonOf } from "../readings/responseReadings.ts"
import type { ServiceStep } from "../steps.ts"
import * as TargetOptions from "../targetOptions.ts"
import * as Templates from "../templates.ts"
import * as Requests from "./requests.ts"

const person: Readonly<Record<string, string>> = {
  ...Requests.personValues({ name: "$NAME", dob: "DD-MM-YYYY" }),
  form: "entity_type=person&name=$NAME&dob=DD-MM-YYYY"
}

/** `{token|chop}` becomes `<$TOKEN, chop>`. */
const fillOne: Templates.Fill = (name, change) => {
  const variable = Templates.variableOf(name)
  const shown = variable === undefined ? person[name] ?? "" : `$${variable}`
  return Option.some(change === undefined ? shown : `<${shown}, ${change}>`)
}

const fill = (template: string) => Templates.fill(template, fillOne, (text) => `base64(${text})`)

/** A literal date of a template may be a part of the date of birth, as in a request with another format. */
const withoutYears = (text: string): string =>
  text.replaceAll(/(?:18|19|20)\d\d/g, "YYYY").replaceAll(/[^\x20-\x7e]/g, "?")

/** The address of the page at `aml_profile` may hold a name. */
const profileRequest: MaskedRequest = { method: "GET", url: "$AML_PROFILE", headers: [] }

export const request = (step: ServiceStep, target: Target): MaskedRequest => {
  const filled = step.to === "profile" ? Option.none() : Requests.filled(step, TargetOptions.shown(target), fill)
  if (Option.isNone(filled)) return profileRequest
  const { body, contentType, headers, method, query, url } = filled.value
  return {
    method,
    url: url + (query === undefined ? "" : `?${withoutYears(query)}`),
    headers: [
      ...Object.entries(headers),
      ...(contentType === undefined ? [] : [["content-type", contentType] as const])
    ],
    ...(body !== undefined && { body: withoutYears(body) })
  }
}

/** Takes the place of a value, and of a name that may be that of a person. */
export const hidden = "(hidden)"

const mediaType = /^(application|text)\/[a-z][a-z.+-]{0,40}$/

/** A directive of RFC 9111 that has no text of its own. */
const directive = "(?:no-store|no-cache|private|public|must-revalidate|no-transform|max-age=\\d{1,8})"

const headerPatterns: Readonly<Record<string, RegExp>> = {
  "cache-control": new RegExp(`^${directive}(, *${directive})*$`),
  "content-length": /^\d{1,7}$/,
  "retry-after": /^\d{1,5}$/,
  "transfer-encoding": /^chunked$/,
  "connection": /^(close|keep-alive)$/i,
  "www-authenticate": /^(Basic|Bearer)$/i
}

const mediaTypeOf = ({ headers }: Response): string => {
  const [type = ""] = (headers["content-type"] ?? "").split(";")
  return mediaType.test(type.trim().toLowerCase()) ? type.trim().toLowerCase() : "application/octet-stream"
}

const headersOf = (response: Response): MaskedResponse["headers"] =>
  Object.entries(headerPatterns).flatMap(([name, pattern]) => {
    const value = response.headers[name]
    // The first word of a challenge is its scheme; its parameters may have any text.
    const text = name === "www-authenticate" ? value?.split(" ")[0] : value
    return text === undefined ? [] : [[name, pattern.test(text) ? text : hidden] as const]
  })

const knownNames = new Set([
  ...documentedNames,
  ...["access_token", "accessToken", "token", "token_type", "tokenType", "expires_in", "expiresIn", "data", "scope"],
  ...[
    "error",
    "error_description",
    "errors",
    "message",
    "code",
    "field",
    "title",
    "type",
    "status",
    "detail",
    "success"
  ]
])

const oneOf = (...values: ReadonlyArray<unknown>) => (value: unknown): boolean => values.includes(value)

const day = 24 * 3_600_000

/** The values that are shown, by field. A time far from that of the response is hidden: it may be a date of birth. */
const isShown: Readonly<Record<string, (value: unknown, response: Response) => boolean>> = {
  credential_type: oneOf("aml"),
  credential_name: oneOf("AML"),
  cred_version: (value) => typeof value === "string" && /^\d{1,2}\.\d{1,2}$/.test(value),
  match_found: oneOf("Potential match", "No"),
  searched_on: (value, { receivedAt }) =>
    typeof value === "string" && Option.exists(timeOf(value), (time) => Math.abs(time - receivedAt) < 2 * day),
  token_type: oneOf("Bearer", "bearer", "BEARER"),
  expires_in: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 86_400,
  status: (value) => Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 599,
  error: (value) => typeof value === "string" && /^(invalid|unsupported|unauthorized)_[a-z_]{5,20}$/.test(value)
}

const isHarmless = (name: string, value: unknown, response: Response): boolean =>
  value === null || typeof value === "boolean" || isShown[name]?.(value, response) === true

/** Deeper values are hidden: no documented body has them. */
const maxDepth = 8

const masked = (name: string, value: unknown, response: Response, depth: number): unknown =>
  depth > maxDepth
    ? hidden
    : Array.isArray(value)
    ? value.map((member: unknown) => masked("", member, response, depth + 1))
    : isObject(value)
    ? Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        knownNames.has(name) ? name : hidden,
        masked(name, member, response, depth + 1)
      ])
    )
    : isHarmless(name, value, response)
    ? value
    : hidden

export const response = (received: Response): MaskedResponse => {
  const json = jsonOf(received)
  return {
    status: received.status,
    headers: headersOf(received),
    mediaType: mediaTypeOf(received),
    size: received.body.length,
    ...(Option.isSome(json) && { body: JSON.stringify(masked("", json.value, received, 0)) })
  }
}
