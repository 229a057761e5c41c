/**
 * Why a run got nowhere: the right request itself was not answered as one. Then one line says more
 * than a hundred cases that stand on it.
 */
import type { Report, Result, Target } from "../../Conformance.ts"

/** What is known of a target that may be told. */
export type Place = Partial<Pick<Target, "authUrl" | "baseUrl" | "budget">>

/** Of the cases of `at`, and of all after it, nothing was learned. */
export interface Stopped {
  readonly at: "token" | "aml"
  readonly why: string
}

/** An endpoint in words, and what is needed there. */
interface Endpoint {
  readonly at: Stopped["at"]
  readonly name: string
  readonly origin: string
  readonly address: string
  readonly refused: (status: string) => string
}

const originOf = (address: string | undefined, name: string): string =>
  address !== undefined && URL.canParse(address) ? new URL(address).origin : name

const silent: Readonly<Record<string, (endpoint: Endpoint) => string>> = {
  "no answer": ({ address, origin }) => `nothing answers at ${origin}: is the ${address} right, and does it run?`,
  "late answer": ({ name, origin }) => `${origin} takes the request to ${name}, and does not answer it in time`,
  "broken answer": ({ name, origin }) => `${origin} breaks off in its answer of ${name}`,
  "too long": ({ address, name }) => `${name} answers with more than 1 MiB: is the ${address} right?`
}

export const unanswered: ReadonlyArray<string> = Object.keys(silent)

const isRefusal = (status: string) => status === "401" || status === "403"

const isSuccess = (status: string) => /^2\d\d$/.test(status)

const because = (endpoint: Endpoint, seen: string, status: string, isHtml: boolean): string => {
  const { address, name, refused } = endpoint
  const unheard = silent[seen]
  if (unheard !== undefined) return unheard(endpoint)
  if (isRefusal(status)) return refused(status)
  if (isHtml) return `${name} answers with a page of HTML (${status}): is the ${address} right?`
  if (seen === "redirected") return `${name} redirects with ${status}, which is not followed: is the ${address} right?`
  if (status === "404" || status === "405") return `${name} is not there (${status}): is the ${address} right?`
  if (seen === "rate limited") return `${name} limits the rate of requests (${status})`
  if (seen === "failed") return `${name} fails with ${status}`
  if (isSuccess(status) && seen === "no token") return `${name} answers with ${status}, and without a token`
  return endpoint.at === "token"
    ? `the token request is refused with ${status}: the id or the key of the customer may be wrong`
    : `${name} refuses the request of section 4.2 with ${status}`
}

/** Where one address is for both, nobody knows by which name it was given. */
const nameOf = ({ authUrl, baseUrl }: Place, name: string): string =>
  authUrl !== undefined && authUrl === baseUrl ? "address" : name

export const of = ({ results }: Pick<Report, "results">, place: Place = {}): Stopped | undefined => {
  const seen = (id: string): string => results.find((result) => result.id === id)?.observed ?? ""
  const granted = seen("token.granted")
  if (granted !== "" && granted !== "granted") {
    const endpoint: Endpoint = {
      at: "token",
      name: "the token endpoint",
      origin: originOf(place.authUrl, "the address of the token endpoint"),
      address: nameOf(place, "auth URL"),
      refused: (status) => `the customer is refused with ${status}: its id or its key is wrong`
    }
    const isHtml = seen("token.content-type") === "text/html"
    return { at: "token", why: because(endpoint, granted, seen("token.status"), isHtml) }
  }
  const answered = seen("aml.answered")
  const isHtml = seen("aml.credential") === "html"
  if (answered === "" || !isHtml && ["answered", "no credential"].includes(answered)) return undefined
  const endpoint: Endpoint = {
    at: "aml",
    name: "the API",
    origin: originOf(place.baseUrl, "the address of the API"),
    address: nameOf(place, "base URL"),
    refused: (status) => `the API refuses the token with ${status}`
  }
  return { at: "aml", why: because(endpoint, answered, seen("aml.status"), isHtml) }
}

/** What was seen of a case, if that says something of the target. */
export const told = (report: Pick<Report, "results">): ReadonlyArray<Result> => {
  const stopped = of(report)
  const isLost = (id: string) => stopped?.at === "token" || (stopped?.at === "aml" && id.startsWith("aml."))
  return stopped === undefined
    ? report.results
    : report.results.filter(({ id, observed }) => observed !== undefined && !isLost(id))
}
