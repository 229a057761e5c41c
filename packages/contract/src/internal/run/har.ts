/**
 * The exchanges of a run as a HAR 1.2 file. A request has placeholders in the place of secrets, names and dates. A response
 * has known headers and known fields only, and only values that can hold no secret and no personal data.
 */
import * as Option from "effect/Option"
import type { Exchange, Request, Response } from "../exchange.ts"
import { documentedNames, timeOf } from "../readings/credentialReadings.ts"
import { isObject, jsonOf } from "../readings/responseReadings.ts"
import type { RunInfo } from "../results.ts"
import type { AmlStep, ServiceStep, TokenStep } from "../steps.ts"
import { type Target, withShownAddresses } from "../target.ts"
import * as Templates from "../templates.ts"
import * as Requests from "./requests.ts"

/**
 * A request of a run and its response as an entry of a HAR 1.2 file, without secrets and personal data. The requests to
 * the control API of a mock server are not among them.
 *
 * @category models
 * @since 0.1.0
 */
export interface MaskedExchange {
  /** When the run sent the request: ISO 8601 in UTC, with milliseconds. */
  readonly startedDateTime: string
  /** How long the exchange took, in milliseconds. */
  readonly time: number
  /** The request, with placeholders in the place of secrets, names and dates. */
  readonly request: {
    /** The method, such as `POST`. */
    readonly method: string
    /** The address, with the query. */
    readonly url: string
    /** Always `HTTP/1.1`, because a run does not observe the version. */
    readonly httpVersion: string
    /** The headers that the step sets. */
    readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
    /** The parameters of the query. */
    readonly queryString: ReadonlyArray<{ readonly name: string; readonly value: string }>
    /** Always empty, because a run sends no cookies. */
    readonly cookies: ReadonlyArray<{ readonly name: string; readonly value: string }>
    /** The body and its media type. A request without a body has none. */
    readonly postData?: { readonly mimeType: string; readonly text: string }
    /** Always -1, because a run does not measure it. */
    readonly headersSize: number
    /** Always -1, because a run does not measure it. */
    readonly bodySize: number
  }
  /** The response, with known headers, known fields and harmless values only. */
  readonly response: {
    /** The status, or 0 without a complete response. */
    readonly status: number
    /** Why there was no complete response, such as `connection refused`, or else an empty string. */
    readonly statusText: string
    /** Always `HTTP/1.1`, because a run does not observe the version. */
    readonly httpVersion: string
    /** The known headers. A value with an unknown form is `(hidden)`. */
    readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
    /** Always empty, because cookies may be secret. */
    readonly cookies: ReadonlyArray<{ readonly name: string; readonly value: string }>
    /** The size of the body in bytes, its media type, and the masked body if it is JSON. */
    readonly content: { readonly size: number; readonly mimeType: string; readonly text?: string }
    /** Always empty, because a run follows no redirect. */
    readonly redirectURL: string
    /** Always -1, because a run does not measure it. */
    readonly headersSize: number
    /** Always -1, because a run does not measure it. */
    readonly bodySize: number
  }
  /** Always empty, because a run uses no cache. */
  readonly cache: {}
  /** How long each phase took, in milliseconds. `wait` is the whole time, because a run does not measure the phases. */
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number }
}

const person: Readonly<Record<string, string>> = {
  ...Requests.personValues({ name: "$NAME", dob: "DD-MM-YYYY" }),
  form: "entity_type=person&name=$NAME&dob=DD-MM-YYYY"
}

/** `{token|chop}` becomes `<$TOKEN, chop>`. */
const fillOne = (step: TokenStep | AmlStep, target: Target): Templates.Fill => (name, change) => {
  const variable = Requests.variableOf(step, target, name)
  const shown = variable === undefined ? person[name] ?? "" : `$${variable}`
  return Option.some(change === undefined ? shown : `<${shown}, ${change}>`)
}

const filledOf = (step: TokenStep | AmlStep, target: Target) =>
  Requests.filled(
    step,
    withShownAddresses(target),
    (template) => Templates.fill(template, fillOne(step, target), (text) => `base64(${text})`)
  )

/** A literal date of a template may be a part of the date of birth, as in a request with another format. */
const withoutYears = (text: string): string =>
  text.replaceAll(/(?:18|19|20)\d\d/g, "YYYY").replaceAll(/[^\x20-\x7e]/g, "?")

/** The address of the page at `aml_profile` may hold a name. */
const profileRequest: Request = { method: "GET", url: "$AML_PROFILE", headers: {} }

const nameAndValue = ([name, value]: readonly [string, string]) => ({ name, value })

const anyType = "application/octet-stream"

/** What HAR requires of requests and responses, although a run does not measure it. */
const unmeasured = { httpVersion: "HTTP/1.1", cookies: [], headersSize: -1, bodySize: -1 }

const requestOf = (step: ServiceStep, target: Target): MaskedExchange["request"] => {
  const filled = step.to === "profile" ? Option.none() : filledOf(step, target)
  const { body, contentType, headers, method, query, url } = Option.getOrElse(filled, () => profileRequest)
  const address = url + (query === undefined ? "" : `?${withoutYears(query)}`)
  const sent = { ...headers, ...(contentType !== undefined && { "content-type": contentType }) }
  return {
    ...unmeasured,
    method,
    url: address,
    headers: Object.entries(sent).map(nameAndValue),
    queryString: URL.canParse(address) ? Array.from(new URL(address).searchParams, nameAndValue) : [],
    ...(body !== undefined && { postData: { mimeType: contentType ?? anyType, text: withoutYears(body) } })
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
  return mediaType.test(type.trim().toLowerCase()) ? type.trim().toLowerCase() : anyType
}

const headersOf = (response: Response): ReadonlyArray<readonly [name: string, value: string]> =>
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

/** HAR has no form for a request without a response. Browsers write the status 0. */
const responseOf = (received: Exchange): MaskedExchange["response"] => {
  const content = { size: 0, mimeType: anyType }
  if (received._tag === "NoResponse") {
    return { ...unmeasured, status: 0, statusText: received.cause, headers: [], content, redirectURL: "" }
  }
  const json = jsonOf(received)
  return {
    ...unmeasured,
    status: received.status,
    statusText: "",
    headers: headersOf(received).map(nameAndValue),
    content: {
      size: received.body.length,
      mimeType: mediaTypeOf(received),
      ...(Option.isSome(json) && { text: JSON.stringify(masked("", json.value, received, 0)) })
    },
    redirectURL: ""
  }
}

/** An exchange that began at `startedAt`, in milliseconds since 1970, and took `millis`. */
export const entryOf = (
  step: ServiceStep,
  target: Target,
  exchange: Exchange,
  startedAt: number,
  millis: number
): MaskedExchange => ({
  startedDateTime: new Date(startedAt).toISOString(),
  time: millis,
  request: requestOf(step, target),
  response: responseOf(exchange),
  cache: {},
  timings: { send: 0, wait: millis, receive: 0 }
})

export const make = (entries: ReadonlyArray<MaskedExchange>, { version = "unknown" }: RunInfo = {}): string =>
  JSON.stringify(
    {
      log: {
        version: "1.2",
        creator: { name: "@effect-idv/contract", version },
        entries,
        comment: "Secrets, names, dates of birth and unknown fields are hidden"
      }
    },
    null,
    2
  )
