/** Readings of token responses, and of how the API treats a token. */
import * as Option from "effect/Option"
import type { Response } from "../exchange.ts"
import {
  isCredential,
  isHtml,
  isObject,
  isSuccess,
  mediaTypeOf,
  objectOf,
  ofLast,
  outcomeOf,
  type Read,
  textOf
} from "./responseReadings.ts"

/** The fields in which services send a token. */
const tokenFields = ["access_token", "accessToken", "token", "data.access_token"]

/** The names of the fields for a token's type and lifetime, which are beside the token or at the top level. */
const typeNames = ["token_type", "tokenType"]
const lifetimeNames = ["expires_in", "expiresIn"]

/**
 * What a response grants: a token, and what the service states about it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Grant {
  /** Where the token is: the path of a field, or `text` for a body of plain text. */
  readonly field: string
  readonly token: string
  /** The value of the field for the token type, if there is one. */
  readonly type?: unknown
  /** The value of the field for the lifetime, if there is one. */
  readonly lifetime?: unknown
}

/** Whether a header can hold the token. */
const isSendable = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

/** The token of a 2xx response, in any of the known fields or as plain text. */
export const grantOf = (response: Response): Option.Option<Grant> =>
  isSuccess(response) ? grantIn(response) : Option.none()

/** The token of a response with any status, in any of the known fields or as plain text. */
export const grantIn = (response: Response): Option.Option<Grant> => {
  const body: { readonly [name: string]: unknown } = Option.getOrElse(objectOf(response), () => ({}))
  for (const field of tokenFields) {
    const [parent, inner] = field.split(".")
    const object = inner === undefined ? body : body[parent ?? ""]
    if (!isObject(object)) continue
    const token = object[inner ?? field]
    if (typeof token === "string" && isSendable(token)) {
      const valueOf = (names: ReadonlyArray<string>) =>
        [object, body].flatMap((at) => names.map((name) => at[name])).find((value) => value !== undefined)
      return Option.some({ field, token, type: valueOf(typeNames), lifetime: valueOf(lifetimeNames) })
    }
  }
  return mediaTypeOf(response) === "text/plain"
    ? textOf(response).pipe(
      Option.map((text) => text.trim()),
      Option.filter(isSendable),
      Option.map((token) => ({ field: "text", token }))
    )
    : Option.none()
}

const errorOf = (response: Response): unknown => Option.getOrUndefined(objectOf(response))?.["error"]

const tokenOutcome = (response: Response): string =>
  outcomeOf(response, "granted", (each) => Option.isSome(grantOf(each)), "no token")

const ofGrant = (read: (grant: Grant) => string): Read =>
  ofLast(({ response }) => Option.match(grantOf(response), { onNone: () => "no token", onSome: read }))

/** The case does not matter (RFC 6749, section 5.1), so `BEARER` counts as `bearer`. */
const tokenType = ({ type }: Grant): string =>
  type === undefined
    ? "absent"
    : type === "Bearer"
    ? type
    : typeof type === "string" && type.toLowerCase() === "bearer"
    ? "bearer"
    : "other"

const statedLifetime = ({ lifetime }: Grant): string => {
  if (lifetime === undefined) return "absent"
  if (lifetime === null) return "null"
  if (typeof lifetime === "string") return /^\d+$/.test(lifetime) ? "text" : "garbage"
  if (typeof lifetime !== "number") return "garbage"
  if (lifetime === 3600) return "3600"
  return lifetime > 3600 ? "longer" : lifetime > 0 ? "shorter" : "zero"
}

/** A JWT has three parts in base64url. The first is a JSON object with an algorithm. */
const tokenFormat = ({ token }: Grant): string => {
  const [header = "", ...rest] = token.split(".")
  const isJwt = rest.length === 2 && /^[\w-]+$/.test(header) &&
    /^\{.*"alg"\s*:/.test(Buffer.from(header, "base64url").toString())
  return isJwt ? "jwt" : "opaque"
}

const tokenError = (response: Response): string => {
  if (response.body.length === 0) return "empty"
  if (isHtml(response)) return "html"
  if (mediaTypeOf(response) === "application/problem+json") return "problem"
  return typeof errorOf(response) === "string" && [200, 400, 401].includes(response.status)
    ? String(response.status)
    : "another form"
}

/** The error codes of RFC 6749, section 5.2. */
const errorCodes = [
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope"
]

const errorCode = (response: Response): string => {
  if (tokenOutcome(response) === "granted") return "granted"
  const error = errorOf(response)
  return error === undefined ? "none" : errorCodes.find((code) => code === error) ?? "another code"
}

const expiry = (response: Response): string => {
  if (response.status === 403) return "forbidden"
  if (response.status !== 401) return isCredential(response) ? "answered" : "another status"
  const challenge = response.headers["www-authenticate"]
  return challenge === undefined
    ? "bare"
    : /^bearer\b.*error="?invalid_token"?/i.test(challenge)
    ? "challenge"
    : "another challenge"
}

/** The readings that `Readings` publishes for a token response. */
export const readings = {
  "token outcome": ofLast(({ response }) => tokenOutcome(response)),
  "token field": ofGrant(({ field }) => field),
  "token type": ofGrant(tokenType),
  "token format": ofGrant(tokenFormat),
  "stated lifetime": ofGrant(statedLifetime),
  "token error": ofLast(({ response }) => tokenError(response)),
  "error code": ofLast(({ response }) => errorCode(response))
} as const satisfies Record<string, Read>

/** How the API treats a token. `Readings` publishes `expiry`. */
export const ofApi = {
  // Reads the refusals of tokens younger than an hour, in place of which a new token was accepted.
  "early refusals": (responses) => responses.length === 0 ? "begun" : "shorter",
  "expiry": ofLast(({ response }) => expiry(response)),
  "renewal": ofLast(({ response }) => isCredential(response) ? "valid" : "ended")
} as const satisfies Record<string, Read>
