/**
 * The request of a step as a curl command. It is made of the step's templates and not of the request that was sent,
 * so that it cannot hold a secret.
 */
import type { Target } from "../model.ts"
import type { AmlStep, ServiceStep, TokenStep } from "../steps.ts"

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A longer body is cut, because a line should stay readable. */
const maxLength = 160

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
  body.replaceAll(/("name"\s*:\s*)"(?:[^"\\]|\\.)+"/g, "$1\"$NAME\"").replaceAll(/(?:18|19|20)\d\d/g, "YYYY")
    .replaceAll(/[^\x20-\x7e]/g, "?").replaceAll(/\w*Test\w+/g, "$NAME")

const addressOf = (address: string, path: string): string =>
  URL.canParse(address) ? `${new URL(address).origin}${new URL(address).pathname.replace(/\/+$/, "")}${path}` : path

interface Shown {
  readonly url: string
  readonly authorization: string | null
  readonly contentType: string | undefined
  readonly body: string
}

const tokenShown = (step: TokenStep, { authUrl }: Target): Shown => {
  const { authorization = "Basic base64({id}:{key})", body = "grant_type=client_credentials" } = step
  const { contentType = "application/x-www-form-urlencoded" } = step
  return { url: addressOf(authUrl, "/oauth/service"), authorization, contentType: contentType ?? undefined, body }
}

const amlShown = (step: AmlStep, { baseUrl }: Target): Shown => {
  const { authorization = "Bearer {token}", body, contentType = "application/json", path = "/api/aml" } = step
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return { url: addressOf(baseUrl, withVariables(path)), authorization, contentType, body: text }
}

export const of = (step: ServiceStep, target: Target): string => {
  if (step.to === "profile") return "curl \"$AML_PROFILE\""
  const { authorization, body, contentType, url } = step.to === "token"
    ? tokenShown(step, target)
    : amlShown(step, target)
  const { headers = {}, method = "POST", query } = step
  const all = { ...(authorization !== null && { authorization }), ...headers }
  const hasBody = method !== "GET" && method !== "HEAD"
  const text = withVariables(withoutPerson(body))
  return [
    `curl -X ${method} ${quoted(query === undefined ? url : `${url}?${withVariables(withoutPerson(query))}`)}`,
    ...Object.entries(all).map(([name, template]) => `-H ${quoted(`${name}: ${withVariables(template)}`)}`),
    ...(hasBody && contentType !== undefined ? [`-H ${quoted(`content-type: ${contentType}`)}`] : []),
    ...(hasBody ? [`--data-raw ${quoted(text.length > maxLength ? `${text.slice(0, maxLength)}…` : text)}`] : [])
  ].join(" ")
}
