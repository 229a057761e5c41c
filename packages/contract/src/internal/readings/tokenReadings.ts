/** Readings of the answers of the token endpoint, and of what becomes of a token. */
import * as Option from "effect/Option"
import type { Answered } from "../run/wire.ts"
import {
  isCredential,
  isErrorBody,
  isHtml,
  isObject,
  isSuccess,
  objectOf,
  ofLast,
  otherOutcome,
  type Read,
  textOf,
  typeOf
} from "./responseReadings.ts"

/** Where a token may be, with the names of type and lifetime that go with it. */
const fields = [
  { field: "access_token", inside: undefined, names: ["access_token", "token_type", "expires_in"] },
  { field: "accessToken", inside: undefined, names: ["accessToken", "tokenType", "expiresIn"] },
  { field: "token", inside: undefined, names: ["token", "token_type", "expires_in"] },
  { field: "data.access_token", inside: "data", names: ["access_token", "token_type", "expires_in"] }
] as const

interface Grant {
  readonly field: string
  readonly token: string
  readonly type?: unknown
  readonly lifetime?: unknown
}

/** Whether a header can hold it. */
const isSendable = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

/** The token of an answer, wherever it is. */
export const grantOf = (answer: Answered): Option.Option<Grant> => {
  if (!isSuccess(answer)) return Option.none()
  const body: { readonly [name: string]: unknown } = Option.getOrElse(objectOf(answer), () => ({}))
  for (const { field, inside, names: [token, type, lifetime] } of fields) {
    const holder = inside === undefined ? body : body[inside]
    if (!isObject(holder)) continue
    const value = holder[token]
    if (typeof value === "string" && isSendable(value)) {
      return Option.some({ field, token: value, type: holder[type], lifetime: holder[lifetime] })
    }
  }
  return typeOf(answer) === "text/plain"
    ? textOf(answer).pipe(
      Option.map((text) => text.trim()),
      Option.filter(isSendable),
      Option.map((token) => ({ field: "text", token }))
    )
    : Option.none()
}

const errorOf = (answer: Answered): unknown => Option.getOrUndefined(objectOf(answer))?.["error"]

const grant = (answer: Answered): string =>
  !isSuccess(answer)
    ? otherOutcome(answer)
    : Option.isSome(grantOf(answer))
    ? "granted"
    : isErrorBody(answer)
    ? "refused"
    : "no token"

const ofGrant = (read: (grant: Grant) => string): Read =>
  ofLast(({ answer }) => Option.match(grantOf(answer), { onNone: () => "no token", onSome: read }))

const tokenType = ({ type }: Grant): string =>
  type === undefined ? "absent" : ["Bearer", "bearer"].find((known) => known === type) ?? "other"

const statedLifetime = ({ lifetime }: Grant): string => {
  if (lifetime === undefined) return "absent"
  if (lifetime === null) return "null"
  if (typeof lifetime === "string") return /^\d+$/.test(lifetime) ? "text" : "garbage"
  if (typeof lifetime !== "number") return "garbage"
  if (lifetime === 3600) return "3600"
  return lifetime > 3600 ? "longer" : lifetime > 0 ? "shorter" : "zero"
}

/** Three parts in base64url, the first of them an object of JSON with an algorithm. */
const tokenFormat = ({ token }: Grant): string => {
  const [header = "", ...rest] = token.split(".")
  const isJwt = rest.length === 2 && /^[\w-]+$/.test(header) &&
    /^\{.*"alg"\s*:/.test(Buffer.from(header, "base64url").toString())
  return isJwt ? "jwt" : "opaque"
}

const tokenError = (answer: Answered): string => {
  if (answer.body.length === 0) return "empty"
  if (isHtml(answer)) return "html"
  if (typeOf(answer) === "application/problem+json") return "problem"
  return typeof errorOf(answer) === "string" && [200, 400, 401].includes(answer.status)
    ? String(answer.status)
    : "another form"
}

/** Those of RFC 6749, section 5.2. */
const errorCodes = [
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope"
]

const errorCode = (answer: Answered): string => {
  if (grant(answer) === "granted") return "granted"
  const error = errorOf(answer)
  return error === undefined ? "none" : errorCodes.find((code) => code === error) ?? "another code"
}

const checks = (pairs: Parameters<Read>[0]): ReadonlyArray<Answered> =>
  pairs.filter(({ send }) => send.to === "aml").map(({ answer }) => answer)

const lifetime: Read = (pairs) => {
  const [before, after] = checks(pairs)
  if (before === undefined || after === undefined) return "no answer"
  return !isCredential(before) ? "shorter" : isCredential(after) ? "longer" : "one hour"
}

const expiry = (answer: Answered): string => {
  if (answer.status === 403) return "forbidden"
  if (answer.status !== 401) return isCredential(answer) ? "answered" : "another status"
  const challenge = answer.headers["www-authenticate"]
  return challenge === undefined
    ? "bare"
    : /^bearer\b.*error="?invalid_token"?/i.test(challenge)
    ? "challenge"
    : "another challenge"
}

export const readings = {
  "grant": ofLast(({ answer }) => grant(answer)),
  "ignored parameter": ofLast(({ answer }) => grant(answer) === "granted" ? "ignored" : grant(answer)),
  "token field": ofGrant(({ field }) => field),
  "token type": ofGrant(tokenType),
  "token format": ofGrant(tokenFormat),
  "stated lifetime": ofGrant(statedLifetime),
  "token error": ofLast(({ answer }) => tokenError(answer)),
  "error code": ofLast(({ answer }) => errorCode(answer)),
  lifetime,
  "lifetime begun": ofLast(({ answer }) => isCredential(answer) ? "begun" : "shorter"),
  /** Of the times when a token of less than an hour was refused, and the next one was not. */
  "token deaths": (pairs) => pairs.length === 0 ? "begun" : "shorter",
  "expiry": ofLast(({ answer }) => expiry(answer)),
  "renewal": ofLast(({ answer }) => isCredential(answer) ? "valid" : "ended")
} as const satisfies Record<string, Read>
