/**
 * The request of a step as reports show it. It is made of the step's templates and not of the request that was sent, so
 * that it cannot hold a secret.
 */
import type { MaskedRequest } from "../maskedExchange.ts"
import type { Target } from "../model.ts"
import type { AmlStep, ServiceStep, TokenStep } from "../steps.ts"

const variables: Readonly<Record<string, string>> = {
  id: "$IDV_CUSTOMER_ID",
  key: "$IDV_CUSTOMER_KEY",
  otherId: "$UNKNOWN_ID",
  otherKey: "$UNKNOWN_KEY",
  token: "$TOKEN"
}

/** `{token|chop}` becomes `<$TOKEN, chop>`. */
const withVariables = (template: string): string =>
  template.replaceAll(
    /\{(id|key|otherId|otherKey|token)(?:\|(\w+))?\}/g,
    (_, name: string, change?: string) =>
      change === undefined ? variables[name] ?? name : `<${variables[name]}, ${change}>`
  )

/** A name becomes `$NAME`, and a year `YYYY`. */
const withoutPerson = (body: string): string =>
  body.replaceAll(/("(?:\w*name|first|last)"\s*:\s*)(?:"(?:[^"\\]|\\.)+"|\[[^\]]+\])/gi, "$1\"$NAME\"")
    .replaceAll(/(\bname=)[^&"\s]+/g, "$1$NAME").replaceAll(/(?:18|19|20)\d\d/g, "YYYY")
    .replaceAll(/[^\x20-\x7e]/g, "?").replaceAll(/\w*Test\w+/g, "$NAME")

const addressOf = (address: string, path: string): string =>
  URL.canParse(address) ? `${new URL(address).origin}${new URL(address).pathname.replace(/\/+$/, "")}${path}` : path

/** What a step changes. */
interface Changes {
  readonly url: string
  readonly authorization: string | null
  readonly contentType: string | undefined
  readonly body: string
}

const tokenChanges = (step: TokenStep, { authUrl }: Target): Changes => {
  const { authorization = "Basic base64({id}:{key})", body = "grant_type=client_credentials" } = step
  const { contentType = "application/x-www-form-urlencoded" } = step
  return { url: addressOf(authUrl, "/oauth/service"), authorization, contentType: contentType ?? undefined, body }
}

const amlChanges = (step: AmlStep, { baseUrl }: Target): Changes => {
  const { authorization = "Bearer {token}", body, contentType = "application/json", path = "/api/aml" } = step
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return { url: addressOf(baseUrl, withVariables(path)), authorization, contentType, body: text }
}

/** The address of the page at `aml_profile` may hold a name. */
const profileRequest: MaskedRequest = { method: "GET", url: "$AML_PROFILE", headers: [] }

export const of = (step: ServiceStep, target: Target): MaskedRequest => {
  if (step.to === "profile") return profileRequest
  const { authorization, body, contentType, url } = step.to === "token"
    ? tokenChanges(step, target)
    : amlChanges(step, target)
  const { headers = {}, method = "POST", query } = step
  const all = { ...(authorization !== null && { authorization }), ...headers }
  const hasBody = method !== "GET" && method !== "HEAD"
  return {
    method,
    url: query === undefined ? url : `${url}?${withVariables(withoutPerson(query))}`,
    headers: [
      ...Object.entries(all).map(([name, template]) => [name, withVariables(template)] as const),
      ...(hasBody && contentType !== undefined ? [["content-type", contentType] as const] : [])
    ],
    ...(hasBody && { body: withVariables(withoutPerson(body)) })
  }
}
