/** Reads from one exchange which variant of each unspecified behaviour the service showed. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Profile from "../../Profile.ts"
import { echoName } from "../dataPlane/responseFormat.ts"
import * as Request from "../http/request.ts"
import * as AllowedFields from "./allowedFields.ts"
import { type Exchange, isHtml, isSuccess, objectAt, objectIn } from "./exchange.ts"

/** The variants that an exchange shows. */
export type Readings = Partial<Profile.Profile>

interface TokenFields {
  readonly tokenField: Profile.Profile["tokenField"]
  readonly token: string
  readonly type: unknown
  readonly lifetime: unknown
}

/** The fields of a token response, in the forms that a profile can have. */
export const tokenFieldsOf = ({ response: { body, headers } }: Exchange): Option.Option<TokenFields> => {
  const text = Buffer.from(body).toString().trim()
  const json = objectIn(body)
  if (Option.isNone(json)) {
    return (headers["content-type"] ?? "").startsWith("text/plain") && /^[\w.~+/=-]+$/.test(text)
      ? Option.some({ tokenField: "text", token: text, type: undefined, lifetime: undefined })
      : Option.none()
  }
  const { access_token, accessToken, expires_in, expiresIn, token, token_type, tokenType } = json.value
  const data = objectAt(json.value, "data")
  const found = (tokenField: TokenFields["tokenField"], token: unknown, type: unknown, lifetime: unknown) =>
    typeof token === "string" ? Option.some({ tokenField, token, type, lifetime }) : Option.none()
  return found("access_token", access_token, token_type, expires_in).pipe(
    Option.orElse(() => found("accessToken", accessToken, tokenType, expiresIn)),
    Option.orElse(() => found("token", token, token_type, expires_in)),
    Option.orElse(() => found("data.access_token", data["access_token"], data["token_type"], data["expires_in"]))
  )
}

const lifetimeOf = (lifetime: unknown): Profile.Profile["tokenLifetime"] => {
  if (lifetime === undefined) return "absent"
  if (lifetime === null) return "null"
  if (lifetime === "3600") return "text"
  if (typeof lifetime !== "number") return "garbage"
  return lifetime === 0 ? "zero" : lifetime === 3600 ? "3600" : lifetime < 3600 ? "shorter" : "longer"
}

const typeOf = (type: unknown): Profile.Profile["tokenType"] =>
  type === undefined
    ? "absent"
    : type === "bearer"
    ? "bearer"
    : typeof type === "string" && type.toLowerCase() === "bearer"
    ? "Bearer"
    : "other"

const statuses = ["200", "201", "203"] as const

const statusOf = ({ response: { status } }: Exchange) => statuses.find((known) => known === String(status))

const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) && token.startsWith("ey")

/** The form of an error body, in the words of the profile options `tokenError` and `amlError`. */
const errorFormOf = (exchange: Exchange): "empty" | "html" | "problem" | "oauth" | "nested" | "text" | undefined => {
  const { body, headers } = exchange.response
  if (body.length === 0) return "empty"
  if (isHtml(exchange)) return "html"
  const json = Option.getOrUndefined(objectIn(body))
  if (json === undefined) return (headers["content-type"] ?? "").startsWith("text/plain") ? "text" : undefined
  if (typeof json["error"] === "string") return "oauth"
  if (Array.isArray(json["errors"]) && !("title" in json)) return "nested"
  return typeof json["title"] === "string" || typeof json["detail"] === "string" ? "problem" : undefined
}

const tokenErrorOf = (exchange: Exchange): Profile.Profile["tokenError"] | undefined => {
  const { body, status } = exchange.response
  const form = errorFormOf(exchange)
  if (form === "empty" || form === "html" || form === "problem") return form
  if (form !== "oauth") return undefined
  if (status === 401) return "401"
  if (status === 200) return "200"
  return Option.exists(objectIn(body), ({ error }) => error === "invalid_client") ? "400" : undefined
}

const redirectOf = ({ request, response: { headers, status } }: Exchange): Profile.Profile["redirects"] | undefined => {
  const { location } = headers
  if (status < 300 || status > 399 || location === undefined) return undefined
  const origin = `http://${request.headers["host"] ?? "localhost"}`
  return URL.canParse(location, origin) && new URL(location, origin).host === new URL(origin).host
    ? "same-origin"
    : "other-origin"
}

const retryAfterOf = ({ response: { headers } }: Exchange): Profile.Profile["rateLimit"] => {
  const value = headers["retry-after"]
  if (value === undefined) return "none"
  if (/^\d+$/.test(value.trim())) return "seconds"
  return Number.isNaN(Date.parse(value)) ? "garbage" : "date"
}

const ofToken = (exchange: Exchange): Readings => {
  const { request, response: { status } } = exchange
  const extra = [...Request.parametersOf(Buffer.from(request.body).toString()).keys()].some((name) =>
    name !== "grant_type"
  )
  const fields = isSuccess(exchange) ? tokenFieldsOf(exchange) : Option.none()
  if (Option.isSome(fields)) {
    const { lifetime, token, tokenField, type } = fields.value
    return {
      tokenField,
      tokenFormat: isJwt(token) ? "jwt" : "opaque",
      ...(tokenField !== "text" && { tokenType: typeOf(type), tokenLifetime: lifetimeOf(lifetime) }),
      ...withValue("tokenStatus", statusOf(exchange)),
      ...(extra && { tokenParameters: "ignored" })
    }
  }
  // A refusal of the credentials shows nothing about the parameters.
  const isAboutParameters = extra && status !== 401 &&
    Option.getOrUndefined(objectIn(exchange.response.body))?.["error"] !== "invalid_client"
  return status === 400 || status === 401 || status === 200
    ? { ...withValue("tokenError", tokenErrorOf(exchange)), ...(isAboutParameters && { tokenParameters: "refused" }) }
    : {}
}

const withValue = <Name extends Profile.Name>(name: Name, value: Profile.Profile[Name] | undefined): Readings =>
  value === undefined ? {} : { [name]: value }

const hour = 3_600_000

/** The offset of `searched_on` from UTC in hours, rounded to half hours: the clocks may be 15 minutes apart. */
const offsetOf = (searchedOn: unknown, at: number): number => {
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/.exec(String(searchedOn)) ?? []
  return Math.round((Date.parse(`${day}T${time}Z`) - at) / hour * 2) / 2
}

/** The variant of an offset, or `undefined` if no time zone has such an offset. */
const zoneOf = (offset: number): Profile.Profile["searchedOn"] | undefined =>
  Math.abs(offset) <= 14 ? offset === 0 ? "utc" : offset > 0 ? "ahead" : "behind" : undefined

const echoes = ["exact", "upper", "nfd", "blanks", "reordered"] as const

const versionOf = (version: unknown): Profile.Profile["credVersion"] | undefined => {
  const [, major] = /^(\d+)\.\d+$/.exec(String(version)) ?? []
  return major === undefined ? undefined : version === "1.0" ? "1.0" : Number(major) <= 1 ? "1.7" : "2.0"
}

const requestTypeOf = (exchange: Exchange): Profile.Profile["amlRequestType"] | undefined => {
  const { parameters, type } = Request.mediaType(exchange.request)
  const isAccepted = isSuccess(exchange)
  if (type !== "application/json") return isAccepted ? "any" : undefined
  return parameters.length === 0
    ? undefined
    : isAccepted
    ? "json"
    : exchange.response.status === 415
    ? "exact"
    : undefined
}

const ofCheck = (exchange: Exchange, wasValid: boolean): Readings => {
  const { at, request, response: { body, headers, status } } = exchange
  const type = withValue("amlRequestType", requestTypeOf(exchange))
  if (!isSuccess(exchange)) {
    const form = errorFormOf(exchange)
    const expired = status === 403 ? "forbidden" : "www-authenticate" in headers ? "challenge" : "bare"
    return {
      ...type,
      ...(status >= 400 && withValue("amlError", form)),
      ...(status === 429 && { rateLimit: retryAfterOf(exchange) }),
      ...(wasValid && (status === 401 || status === 403) && { expiredToken: expired })
    }
  }
  const credential = Option.getOrUndefined(objectIn(body))
  const attributes = objectAt(credential, "credentials", "attributes")
  if (credential === undefined || typeof attributes["match_found"] !== "string") return {}
  const sent = Option.getOrUndefined(objectIn(request.body))?.["name"]
  const { name } = attributes
  const echo = typeof sent === "string"
    ? echoes.find((nameEcho) => echoName({ nameEcho }, sent) === name)
    : undefined
  return {
    ...type,
    ...withValue("amlStatus", statusOf(exchange)),
    ...withValue("nameEcho", echo),
    ...withValue("credVersion", versionOf(credential["cred_version"])),
    ...withValue("searchedOn", zoneOf(offsetOf(attributes["searched_on"], at))),
    extraFields: AllowedFields.hasUnknown(credential) ? "some" : "none"
  }
}

/** Reads an exchange. `wasValid`: the token of the check was accepted before. */
export const read = (exchange: Exchange, wasValid: boolean): Readings => {
  const redirect = redirectOf(exchange)
  if (redirect !== undefined) return { redirects: redirect }
  const readings = exchange.operation === "token"
    ? ofToken(exchange)
    : exchange.operation === "aml"
    ? ofCheck(exchange, wasValid)
    : {}
  return Predicate.isNotUndefined(readings.tokenField ?? readings.amlStatus)
    ? { ...readings, redirects: "none" }
    : readings
}

/** The behaviours of which a profile has only a similar variant, such as another time zone on the same side of UTC. */
export const approximate = (exchange: Exchange): ReadonlyArray<Profile.Name> => {
  if (!isSuccess(exchange)) return []
  if (exchange.operation === "token") {
    const lifetime = Option.getOrUndefined(tokenFieldsOf(exchange))?.lifetime
    return typeof lifetime === "number" && ![0, 60, 3600, 86_400].includes(lifetime) ? ["tokenLifetime"] : []
  }
  const credential = Option.getOrUndefined(objectIn(exchange.response.body))
  const { searched_on } = objectAt(credential, "credentials", "attributes")
  const offset = offsetOf(searched_on, exchange.at)
  const isOtherVersion = versionOf(credential?.["cred_version"]) !== undefined &&
    !["1.0", "1.7", "2.0"].includes(String(credential?.["cred_version"]))
  return [
    ...(isOtherVersion ? ["credVersion" as const] : []),
    ...(zoneOf(offset) !== undefined && ![0, 14, -12].includes(offset) ? ["searchedOn" as const] : [])
  ]
}

/**
 * The variants that a service with another variant can show too: it writes a name exactly, for example, if the name has
 * nothing to change. Any other observed variant replaces them in the profile.
 */
export const weak: Readings = { nameEcho: "exact", extraFields: "none", redirects: "none" }
