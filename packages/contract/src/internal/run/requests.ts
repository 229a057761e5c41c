/** Builds the requests of the steps. */
import * as Option from "effect/Option"
import type { Request, StepExchange } from "../exchange.ts"
import { attributesOf } from "../readings/responseReadings.ts"
import type { AmlStep, Json, Person, ServiceStep, TokenStep } from "../steps.ts"
import { personOf, type Target } from "../target.ts"
import * as Templates from "../templates.ts"

/** The credentials of a customer. */
export interface Customer {
  readonly id: string
  readonly key: string
}

/** The customers of a run. */
export interface Customers {
  readonly own: Customer
  /** Another customer of the service, with a key of its own; none of a service. */
  readonly second: Customer | undefined
  /** A random id and key. The key is also used as an unknown token. */
  readonly unknown: Customer
}

/** What a request is built from, beside its step. */
export interface RequestContext {
  readonly target: Target
  /** The customer whose session receives the request. */
  readonly customer: Customer
  readonly customers: Customers
  /** The access token, or an empty string. */
  readonly token: string
  /** The `aml_profile` of the last credential. */
  readonly profile: URL | undefined
}

export const addressOf = (address: string, path: string): string => address.replace(/\/+$/, "") + path

/** The values of the placeholders that are about a person. */
export const personValues = ({ dob, name }: Pick<Person, "dob" | "name">) => {
  const fields = { entity_type: "person", name, dob }
  const [day = "", month = "", year = ""] = dob.split("-")
  return { name, dob, day, month, year, check: JSON.stringify(fields), form: String(new URLSearchParams(fields)) }
}

/**
 * Whether a case may send the key of the customer to the API, in place of a token. The API may be on another server
 * than the token endpoint, and that server must not receive the key.
 */
const mayReceiveKey = ({ authUrl, baseUrl, kind, wrongKeys }: Target): boolean =>
  kind === "mock" || wrongKeys === true && new URL(authUrl).origin === new URL(baseUrl).origin

const hasOwnCredentials = (step: TokenStep | AmlStep, target: Target): boolean =>
  step.to === "token" || mayReceiveKey(target)

const unknownNames: Partial<Record<Templates.Name, Templates.Name>> = { id: "otherId", key: "otherKey" }

/** The name of the variable that stands for a secret in a request of the step, or none for a name or a date. */
export const variableOf = (step: TokenStep | AmlStep, target: Target, name: Templates.Name): string | undefined =>
  Templates.variableOf(hasOwnCredentials(step, target) ? name : unknownNames[name] ?? name)

const valuesOf = (
  step: TokenStep | AmlStep,
  { customer, customers: { second, unknown }, target, token }: RequestContext
): Templates.Values => {
  const own = hasOwnCredentials(step, target) ? customer : unknown
  const person = step.to === "aml" ? personOf(target, step.person) : undefined
  return {
    ...own,
    otherId: unknown.id,
    otherKey: unknown.key,
    secondId: second?.id ?? "",
    secondKey: second?.key ?? "",
    token,
    ...personValues(person ?? { name: "", dob: "" })
  }
}

const withoutBody: ReadonlyArray<string> = ["GET", "HEAD"]

type FillTemplate = (template: string) => Option.Option<string>

/** Fills the strings of a JSON value. */
const fillJson = (value: Json, fill: FillTemplate): Option.Option<Json> => {
  if (typeof value === "string") return fill(value)
  if (typeof value !== "object" || value === null) return Option.some(value)
  return Array.isArray(value)
    ? Option.all(value.map((member: Json) => fillJson(member, fill)))
    : Option.map(
      Option.all(
        Object.entries(value).map(([name, member]) => Option.map(fillJson(member, fill), (json) => [name, json]))
      ),
      Object.fromEntries
    )
}

const bodyOf = (step: TokenStep | AmlStep, fill: FillTemplate, fillInJson: FillTemplate): Option.Option<string> => {
  const { body = step.to === "token" ? "grant_type=client_credentials" : "{check}" } = step
  return typeof body === "string" ? fill(body) : Option.map(fillJson(body, fillInJson), (json) => JSON.stringify(json))
}

/**
 * The request of a step with filled templates, or none if a change leaves a value as it is. `fillInJson` fills the strings of
 * a body that is not a template itself.
 */
export const filled = (
  step: TokenStep | AmlStep,
  target: Target,
  fill: FillTemplate,
  fillInJson: FillTemplate = fill
): Option.Option<Request> =>
  Option.gen(function*() {
    const { headers: changed = {}, method = "POST", query } = step
    const { authorization = step.to === "token" ? "Basic base64({id}:{key})" : "Bearer {token}" } = step
    const { contentType = step.to === "token" ? "application/x-www-form-urlencoded" : "application/json" } = step
    const headers: Record<string, string> = {}
    for (const [name, template] of Object.entries(changed)) headers[name] = yield* fill(template)
    if (authorization !== null) headers["authorization"] = yield* fill(authorization)
    const path = step.to === "token" ? "/oauth/service" : yield* fill(step.path ?? "/api/aml")
    const body = yield* bodyOf(step, fill, fillInJson)
    return {
      method,
      url: addressOf(step.to === "token" ? target.authUrl : target.baseUrl, path),
      headers,
      ...(query !== undefined && { query: yield* fill(query) }),
      ...(!withoutBody.includes(method) && { body, ...(contentType !== null && { contentType }) }),
      ...(step.to === "aml" && { inPieces: step.inPieces })
    }
  })

/** Only the target itself receives requests: a profile on another origin is not opened. */
const profileRequest = ({ profile, target }: RequestContext): Request | undefined =>
  profile?.origin === new URL(target.baseUrl).origin ? { method: "GET", url: profile.href, headers: {} } : undefined

/**
 * Returns the request of a step. A step sends none if it opens a profile that no response named, or if its change does
 * not alter the value.
 */
export const of = (step: ServiceStep, context: RequestContext): Option.Option<Request> => {
  if (step.to === "profile") return Option.fromNullable(profileRequest(context))
  const fill = Templates.ofValues(valuesOf(step, context))
  return filled(step, context.target, (template) => Templates.fill(template, fill))
}

/** The `aml_profile` of the credential in the last response. */
export const profileOf = (exchanges: ReadonlyArray<StepExchange>): URL | undefined => {
  const exchange = exchanges.at(-1)?.exchange
  const url = exchange?._tag === "Response" ? attributesOf(exchange)?.["aml_profile"] : undefined
  return typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined
}

/** The texts that a refusal of this request must not repeat. */
export const secretsOf = (
  step: ServiceStep,
  { id, key }: Customer,
  { second, unknown }: Customers,
  target: Target
): ReadonlyArray<string> => {
  if (step.to === "token") {
    const keys = [key, unknown.key, ...(second === undefined ? [] : [second.key])]
    return keys.flatMap((key) => [key, `${id}:${key}`, `${unknown.id}:${key}`])
  }
  const person = step.to === "aml" ? personOf(target, step.person) : undefined
  if (person === undefined) return []
  const { day, dob, month, name, year } = personValues(person)
  return [name, dob, `${year}-${month}-${day}`]
}
