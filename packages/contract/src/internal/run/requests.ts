/** Requests as they go out, made from what a case sends. */
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Target } from "../../Conformance.ts"
import type { Bearer, Customer as CustomerWord, Json, Send, ToAml, ToToken } from "../cases/requestSpec.ts"
import type { Seen } from "../readings/readings.ts"
import { isObject, objectOf } from "../readings/responseReadings.ts"
import type { Request } from "./wire.ts"

export interface Customer {
  readonly id: string
  readonly key: string
}

/**
 * - `stranger`: an id and a key that nobody was given; the key is no token either.
 * - `token`: the one to be sent, where one is.
 * - `profile`: where the last credential points to.
 */
export interface Known {
  readonly target: Target
  readonly customer: Customer
  readonly stranger: Customer
  readonly token: string
  readonly profile: URL | undefined
}

const at = (address: string, path: string): URL => new URL(address.replace(/\/+$/, "") + path)

const form = "application/x-www-form-urlencoded"

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const encodeAll = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")

const customerHeader: Readonly<Record<CustomerWord, (customer: Customer, wrong: string) => string | undefined>> = {
  "customer": ({ id, key }) => `Basic ${base64(`${id}:${key}`)}`,
  "unknown customer": ({ id, key }) => `Basic ${base64(`${id}:${key}`)}`,
  "form-encoded": ({ id, key }) => `Basic ${base64(`${encodeAll(id)}:${encodeAll(key)}`)}`,
  "wrong key": ({ id }, wrong) => `Basic ${base64(`${id}:${wrong}`)}`,
  "no key": ({ id }) => `Basic ${base64(`${id}:`)}`,
  "another scheme": ({ id, key }) => `Bearer ${base64(`${id}:${key}`)}`,
  "in the body": () => undefined,
  "nothing": () => undefined
}

const bearerHeader: Readonly<Record<Bearer, (known: Known) => string | undefined>> = {
  "token": ({ token }) => `Bearer ${token}`,
  "this token": ({ token }) => `Bearer ${token}`,
  "lower case": ({ token }) => `bearer ${token}`,
  "unknown token": ({ stranger }) => `Bearer ${stranger.key}`,
  "another scheme": ({ token }) => `Basic ${token}`,
  "customer": ({ customer, stranger, target }) => {
    // The key of a customer is for the token endpoint only: it may be another server.
    const { id, key } = target.kind === "mock" ? customer : stranger
    return `Basic ${base64(`${id}:${key}`)}`
  },
  "nothing": () => undefined
}

const authorization = (header: string | undefined) => header === undefined ? {} : { authorization: header }

const toToken = (
  { as = "customer", body = "grant_type=client_credentials", contentType = form, method = "POST" }: ToToken,
  { customer, stranger, target }: Known
): Request => ({
  method,
  url: at(target.authUrl, "/oauth/service"),
  headers: authorization(customerHeader[as](customer, stranger.key)),
  ...(method !== "GET" && {
    contentType: contentType ?? undefined,
    body: as === "in the body"
      ? `${body}&${new URLSearchParams({ client_id: customer.id, client_secret: customer.key })}`
      : body
  })
})

const toAml = (
  { as = "token", body, contentType = "application/json", method = "POST", path = "/api/aml" }: ToAml,
  known: Known
): Request => ({
  method,
  url: at(known.target.baseUrl, path),
  headers: authorization(bearerHeader[as](known)),
  ...(method !== "GET" && { contentType, body: typeof body === "string" ? body : JSON.stringify(body) })
})

/** Nothing is asked of another server than the one that is tried. */
const toProfile = ({ profile, target }: Known): Request | undefined =>
  profile?.origin === new URL(target.baseUrl).origin ? { method: "GET", url: profile, headers: {} } : undefined

export const of = (send: Exclude<Send, { readonly to: "control" }>, known: Known): Request | undefined =>
  send.to === "token" ? toToken(send, known) : send.to === "aml" ? toAml(send, known) : toProfile(known)

/** To the sessions of the control plane of a mock server. */
export const control = (
  { baseUrl, controlToken, controlUrl = new URL(baseUrl).origin }: Target,
  method: string,
  path: string,
  body?: Json
): Request => ({
  method,
  url: at(controlUrl, `/_mock/sessions${path}`),
  headers: authorization(controlToken === undefined ? undefined : `Bearer ${Redacted.value(controlToken)}`),
  ...(body !== undefined && { contentType: "application/json", body: JSON.stringify(body) })
})

/** Where the last credential points to. */
export const profileOf = (seen: ReadonlyArray<Seen>): URL | undefined => {
  const exchange = seen.at(-1)?.exchange
  const body = exchange?._tag === "Answered" ? Option.getOrUndefined(objectOf(exchange)) : undefined
  const credentials = body?.["credentials"]
  const attributes = isObject(credentials) ? credentials["attributes"] : undefined
  const url = isObject(attributes) ? attributes["aml_profile"] : undefined
  return typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined
}

/** What a refusal must not repeat. */
export const secretsOf = (send: Send, { id, key }: Customer, stranger: Customer): ReadonlyArray<string> =>
  send.to === "token"
    ? [key, stranger.key].flatMap((key) => [key, `${id}:${key}`])
    : send.to === "aml" && isObject(send.body)
    ? [send.body["name"], send.body["dob"]].filter((value) => typeof value === "string" && value !== "").map(String)
    : []
