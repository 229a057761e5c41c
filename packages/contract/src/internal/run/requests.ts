/** Builds the requests of the steps. */
import * as Redacted from "effect/Redacted"
import type { Request, StepExchange } from "../exchange.ts"
import type { Target } from "../model.ts"
import { attributesOf, isObject } from "../readings/responseReadings.ts"
import type {
  AmlStep,
  ControlStep,
  CustomerAuthorization,
  Json,
  ServiceStep,
  Step,
  TokenAuthorization,
  TokenStep
} from "../steps.ts"

/** The credentials of a customer. */
export interface Customer {
  readonly id: string
  readonly key: string
}

/** What a request is built from, beside its step. */
export interface RequestContext {
  readonly target: Target
  readonly customer: Customer
  /** A random id and key that no service has issued. The key also serves as a token that none has issued. */
  readonly unknownCustomer: Customer
  /** The access token, or an empty string. */
  readonly token: string
  /** The `aml_profile` of the last credential. */
  readonly profile: URL | undefined
}

const urlOf = (address: string, path: string): URL => new URL(address.replace(/\/+$/, "") + path)

const form = "application/x-www-form-urlencoded"

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const percentEncoded = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")

const customerHeader: Readonly<
  Record<CustomerAuthorization, (customer: Customer, wrongKey: string) => string | undefined>
> = {
  "customer": ({ id, key }) => `Basic ${base64(`${id}:${key}`)}`,
  "unknown customer": ({ id, key }) => `Basic ${base64(`${id}:${key}`)}`,
  "form-encoded": ({ id, key }) => `Basic ${base64(`${percentEncoded(id)}:${percentEncoded(key)}`)}`,
  "wrong key": ({ id }, wrongKey) => `Basic ${base64(`${id}:${wrongKey}`)}`,
  "no key": ({ id }) => `Basic ${base64(`${id}:`)}`,
  "another scheme": ({ id, key }) => `Bearer ${base64(`${id}:${key}`)}`,
  "in the body": () => undefined,
  "nothing": () => undefined
}

const tokenHeader: Readonly<Record<TokenAuthorization, (context: RequestContext) => string | undefined>> = {
  "shared token": ({ token }) => `Bearer ${token}`,
  "own token": ({ token }) => `Bearer ${token}`,
  "lower case": ({ token }) => `bearer ${token}`,
  "unknown token": ({ unknownCustomer }) => `Bearer ${unknownCustomer.key}`,
  "another scheme": ({ token }) => `Basic ${token}`,
  "customer": ({ customer, target, unknownCustomer }) => {
    // The API may be another server than the token endpoint, to which alone the key belongs.
    const { id, key } = target.kind === "mock" ? customer : unknownCustomer
    return `Basic ${base64(`${id}:${key}`)}`
  },
  "nothing": () => undefined
}

const headersOf = (authorization: string | undefined): Request["headers"] =>
  authorization === undefined ? {} : { authorization }

const tokenRequest = (
  {
    authorization = "customer",
    body = "grant_type=client_credentials",
    contentType = form,
    method = "POST"
  }: TokenStep,
  { customer, target, unknownCustomer }: RequestContext
): Request => ({
  method,
  url: urlOf(target.authUrl, "/oauth/service"),
  headers: headersOf(customerHeader[authorization](customer, unknownCustomer.key)),
  ...(method !== "GET" && {
    contentType: contentType ?? undefined,
    body: authorization === "in the body"
      ? `${body}&${new URLSearchParams({ client_id: customer.id, client_secret: customer.key })}`
      : body
  })
})

const amlRequest = (
  {
    authorization = "shared token",
    body,
    contentType = "application/json",
    method = "POST",
    path = "/api/aml"
  }: AmlStep,
  context: RequestContext
): Request => ({
  method,
  url: urlOf(context.target.baseUrl, path),
  headers: headersOf(tokenHeader[authorization](context)),
  ...(method !== "GET" && { contentType, body: typeof body === "string" ? body : JSON.stringify(body) })
})

/** Only the target itself receives requests: a profile on another origin is not opened. */
const profileRequest = ({ profile, target }: RequestContext): Request | undefined =>
  profile?.origin === new URL(target.baseUrl).origin ? { method: "GET", url: profile, headers: {} } : undefined

/** The request of a step, or `undefined` if there is no profile to open. */
export const of = (step: ServiceStep, context: RequestContext): Request | undefined => {
  switch (step.to) {
    case "token":
      return tokenRequest(step, context)
    case "aml":
      return amlRequest(step, context)
    case "profile":
      return profileRequest(context)
  }
}

const controlRequest = (
  { baseUrl, controlToken, controlUrl = new URL(baseUrl).origin }: Target,
  method: string,
  path: string,
  body?: Json
): Request => ({
  method,
  url: urlOf(controlUrl, `/_mock/sessions${path}`),
  headers: headersOf(controlToken === undefined ? undefined : `Bearer ${Redacted.value(controlToken)}`),
  ...(body !== undefined && { contentType: "application/json", body: JSON.stringify(body) })
})

/** Creates a session of a mock server. */
export const createSession = (target: Target, customerId: string): Request =>
  controlRequest(target, "POST", "", { customerId })

/** Deletes a session of a mock server. */
export const deleteSession = (target: Target, customerId: string): Request =>
  controlRequest(target, "DELETE", `/${encodeURIComponent(customerId)}`)

/** The request of a control step, for the session of a customer. */
export const ofControl = (target: Target, customerId: string, { body, path }: ControlStep): Request =>
  controlRequest(target, "POST", `/${encodeURIComponent(customerId)}${path}`, body)

/** The `aml_profile` of the credential in the last response. */
export const profileOf = (exchanges: ReadonlyArray<StepExchange>): URL | undefined => {
  const exchange = exchanges.at(-1)?.exchange
  const url = exchange?._tag === "Response" ? attributesOf(exchange)?.["aml_profile"] : undefined
  return typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined
}

/** The texts that a refusal of this request must not repeat. */
export const secretsOf = (step: Step, { id, key }: Customer, unknownCustomer: Customer): ReadonlyArray<string> =>
  step.to === "token"
    ? [key, unknownCustomer.key].flatMap((key) => [key, `${id}:${key}`])
    : step.to === "aml" && isObject(step.body)
    ? [step.body["name"], step.body["dob"]].filter((value) => typeof value === "string" && value !== "").map(String)
    : []
