/** Builds the requests of the steps. */
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Request, StepExchange } from "../exchange.ts"
import type { Target } from "../model.ts"
import { attributesOf, isObject } from "../readings/responseReadings.ts"
import type { AmlStep, ControlStep, Json, ServiceStep, Step, Template, TokenStep } from "../steps.ts"
import * as Templates from "../templates.ts"
import type { Values } from "../templates.ts"

/** The credentials of a customer. */
export interface Customer {
  readonly id: string
  readonly key: string
}

/** What a request is built from, beside its step. */
export interface RequestContext {
  readonly target: Target
  readonly customer: Customer
  /** A random id and key that no service has issued. The key is also used as an unknown token. */
  readonly unknownCustomer: Customer
  /** The access token, or an empty string. */
  readonly token: string
  /** The `aml_profile` of the last credential. */
  readonly profile: URL | undefined
}

const urlOf = (address: string, path: string): URL => new URL(address.replace(/\/+$/, "") + path)

const form = "application/x-www-form-urlencoded"

/**
 * Whether a case may send the key of the customer to the API, in place of a token. The API may be on another server
 * than the token endpoint, and that server must not receive the key.
 */
const mayReceiveKey = ({ authUrl, baseUrl, kind, wrongKeys }: Target): boolean =>
  kind === "mock" || wrongKeys === true && new URL(authUrl).origin === new URL(baseUrl).origin

const valuesOf = (step: TokenStep | AmlStep, { customer, target, token, unknownCustomer }: RequestContext): Values => {
  const own = step.to === "token" || mayReceiveKey(target) ? customer : unknownCustomer
  return { ...own, otherId: unknownCustomer.id, otherKey: unknownCustomer.key, token }
}

const withoutBody: ReadonlyArray<string> = ["GET", "HEAD"]

/** A request from its templates, or none if a change leaves a value as it is. */
const requestOf = (
  url: URL,
  { authorization, headers = {}, method = "POST", query }: Pick<
    TokenStep,
    "authorization" | "headers" | "method" | "query"
  >,
  contentType: string | undefined,
  body: Template,
  values: Values
): Option.Option<Request> =>
  Option.gen(function*() {
    const filled: Record<string, string> = {}
    for (const [name, template] of Object.entries(headers)) filled[name] = yield* Templates.fill(template, values)
    if (typeof authorization === "string") filled["authorization"] = yield* Templates.fill(authorization, values)
    const address = new URL(url)
    if (query !== undefined) address.search = yield* Templates.fill(query, values)
    const text = yield* Templates.fill(body, values)
    return {
      method,
      url: address,
      headers: filled,
      ...(!withoutBody.includes(method) && { contentType, body: text })
    }
  })

const tokenRequest = (step: TokenStep, context: RequestContext): Option.Option<Request> => {
  const { authorization = "Basic base64({id}:{key})", body = "grant_type=client_credentials", contentType = form } =
    step
  const url = urlOf(context.target.authUrl, "/oauth/service")
  return requestOf(url, { ...step, authorization }, contentType ?? undefined, body, valuesOf(step, context))
}

const amlRequest = (step: AmlStep, context: RequestContext): Option.Option<Request> => {
  const { authorization = "Bearer {token}", body, contentType = "application/json", path = "/api/aml" } = step
  const url = urlOf(context.target.baseUrl, path.replaceAll("{token}", context.token))
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return Option.map(
    requestOf(url, { ...step, authorization }, contentType, text, valuesOf(step, context)),
    (request): Request => ({ ...request, inPieces: step.inPieces })
  )
}

/** Only the target itself receives requests: a profile on another origin is not opened. */
const profileRequest = ({ profile, target }: RequestContext): Request | undefined =>
  profile?.origin === new URL(target.baseUrl).origin ? { method: "GET", url: profile, headers: {} } : undefined

/**
 * Returns the request of a step. A step sends none if it opens a profile that no response named, or if its change does
 * not alter the value.
 */
export const of = (step: ServiceStep, context: RequestContext): Option.Option<Request> => {
  switch (step.to) {
    case "token":
      return tokenRequest(step, context)
    case "aml":
      return amlRequest(step, context)
    case "profile":
      return Option.fromNullable(profileRequest(context))
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
  headers: controlToken === undefined ? {} : { authorization: `Bearer ${Redacted.value(controlToken)}` },
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
    ? [key, unknownCustomer.key].flatMap((key) => [key, `${id}:${key}`, `${unknownCustomer.id}:${key}`])
    : step.to === "aml" && isObject(step.body)
    ? [step.body["name"], step.body["dob"]].filter((value) => typeof value === "string" && value !== "").map(String)
    : []
