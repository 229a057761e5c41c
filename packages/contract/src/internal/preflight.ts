/**
 * The documented requests: the token request and the check. At the start of a run they are the preflight (not that of CORS).
 * If the service does not respond to one of them as documented, the cases that depend on it show nothing. The run then skips
 * them, and the report gives one explanation instead of a failure for each case. At the end they confirm the refusals: a
 * refusal shows that a request was wrong only if the endpoint still succeeds afterwards, because a service that limits its
 * rate, or that has locked out the customer, refuses every request.
 */
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import * as Exchange from "./exchange.ts"
import type { Observation } from "./model.ts"
import type { Reading } from "./readings/readings.ts"
import {
  isCredential,
  isErrorBody,
  isHtml,
  isLatin1Object,
  isRedirect,
  isSuccess,
  objectOf
} from "./readings/responseReadings.ts"
import { grantOf } from "./readings/tokenReadings.ts"
import type { Report, Result, RunInfo } from "./results.ts"
import type { AmlStep, Step, TokenStep } from "./steps.ts"

/** The request of section 4.1. */
export const tokenStep: TokenStep = { to: "token" }

/** The request of section 4.2. */
export const amlStep: AmlStep = { to: "aml" }

/** The same without a token. It shows a web page at the address before a token and a name are sent there. */
export const openStep: AmlStep = { to: "aml", method: "GET", authorization: null, body: {} }

const isOnly = (step: Step) => {
  const text = JSON.stringify([step])
  return (steps: ReadonlyArray<Step>): boolean => JSON.stringify(steps) === text
}

export const isTokenPreflight = isOnly(tokenStep)
export const isAmlPreflight = isOnly(amlStep)

/** The cases that observe the preflight, and explain its failure. Run them before all others. */
export const caseIds: ReadonlyArray<string> = [
  "token.granted",
  "token.status",
  "token.content-type",
  "aml.answered",
  "aml.status",
  "aml.credential"
]

/** Whether an exchange has what the endpoint is for: a token, or a credential. */
export const isSuccessOf = (endpoint: Exchange.Endpoint, exchange: Exchange.Exchange): boolean =>
  exchange._tag === "Response" &&
  (endpoint === "token" ? Option.isSome(grantOf(exchange)) : isCredential(exchange))

/** Why the cases that depend on a documented request show nothing. */
export interface PreflightFailure {
  /** The case that reports the failure. */
  readonly caseId: string
  readonly reason: string
  /** Other readings of the same response that also show the failure. Their cases are not skipped. */
  readonly shownBy: ReadonlyArray<Reading>
}

const tokenCase = "token.granted"
const amlCase = "aml.answered"

const failure = (
  caseId: string,
  reason: string,
  shownBy: PreflightFailure["shownBy"] = []
): PreflightFailure => ({ caseId, reason, shownBy })

const responseOf = ([first]: ReadonlyArray<Exchange.StepExchange>): Exchange.Response | undefined =>
  first?.exchange._tag === "Response" ? first.exchange : undefined

const shownByRedirect = (response: Exchange.Response): ReadonlyArray<Reading> =>
  isRedirect(response) ? ["redirect"] : []

/** The failure of the token preflight, if its response has no token. */
export const tokenFailure = (exchanges: ReadonlyArray<Exchange.StepExchange>): PreflightFailure | undefined => {
  const response = responseOf(exchanges)
  if (response === undefined) return failure(tokenCase, "the token endpoint does not respond")
  return isSuccessOf("token", response)
    ? undefined
    : failure(tokenCase, "the customer received no token", shownByRedirect(response))
}

/** The failure of the preflight, if the address of the API is a web page. */
export const pageFailure = (exchanges: ReadonlyArray<Exchange.StepExchange>): PreflightFailure | undefined => {
  const response = responseOf(exchanges)
  return response !== undefined && isSuccess(response) && isHtml(response)
    ? failure(amlCase, "the API responds with HTML")
    : undefined
}

/** The failure of the check preflight, if its response is not successful at all, or no JSON object whose fields can be read. */
export const amlFailure = (exchanges: ReadonlyArray<Exchange.StepExchange>): PreflightFailure | undefined => {
  const response = responseOf(exchanges)
  if (response === undefined) return failure(amlCase, "the API does not respond")
  if (!isSuccess(response) || isErrorBody(response)) {
    const reason = `the API refuses the documented request with ${response.status}`
    return failure(amlCase, reason, shownByRedirect(response))
  }
  if (isHtml(response)) return failure(amlCase, "the API responds with HTML", ["body"])
  return Option.isSome(objectOf(response)) || isLatin1Object(response)
    ? undefined
    : failure(amlCase, "the response of the API is not a JSON object", ["body", "encoding", "media type", "status"])
}

/**
 * The failure of the check preflight, if its response has no credential. The cases that read this response
 * report what is wrong with it; all other checks show nothing.
 */
export const missingCredential = (exchanges: ReadonlyArray<Exchange.StepExchange>): PreflightFailure | undefined => {
  const response = responseOf(exchanges)
  return response !== undefined && isSuccessOf("aml", response)
    ? undefined
    : failure(amlCase, "the response of the API has no credential")
}

/** A refusal that decided an observation. */
interface Refusal {
  readonly endpoint: Exchange.Endpoint
  /** The number of the refused request. */
  readonly number: number
}

/** The refusals that decided an observation, by the id of the case. */
export type Refusals = HashMap.HashMap<string, Refusal>

/** The number of the last successful request of each endpoint, or -1. */
export type LastSuccess = Readonly<Record<Exchange.Endpoint, number>>

/** The refusal in the last exchange, or `undefined` if it is not a token request or a check that failed. */
const refusalOf = (exchanges: ReadonlyArray<Exchange.StepExchange>): Refusal | undefined => {
  const last = exchanges.at(-1)
  if (last === undefined || (last.step.to !== "token" && last.step.to !== "aml")) return undefined
  const { to } = last.step
  return isSuccessOf(to, last.exchange) ? undefined : { endpoint: to, number: last.number }
}

export const isRefused = (exchanges: ReadonlyArray<Exchange.StepExchange>): boolean =>
  refusalOf(exchanges) !== undefined

/** Adds the refusal in the exchanges of a case. Of several probes of a case, the last refusal must be confirmed. */
export const addRefusal =
  (caseId: string, exchanges: ReadonlyArray<Exchange.StepExchange>) => (refusals: Refusals): Refusals => {
    const refusal = refusalOf(exchanges)
    const isLater = Option.exists(HashMap.get(refusals, caseId), ({ number }) => number > (refusal?.number ?? -1))
    return refusal === undefined || isLater ? refusals : HashMap.set(refusals, caseId, refusal)
  }

const isConfirmed = (lastSuccess: LastSuccess, { endpoint, number }: Refusal): boolean =>
  number <= lastSuccess[endpoint]

/** Whether an endpoint has refused requests of cases since it last succeeded. */
export const hasUnconfirmed = (refusals: Refusals, lastSuccess: LastSuccess, endpoint: Exchange.Endpoint): boolean =>
  HashMap.some(refusals, (refusal) => refusal.endpoint === endpoint && !isConfirmed(lastSuccess, refusal))

/** Turns observations of unconfirmed refusals into skipped ones. `reasonOf` says why they are unconfirmed. */
export const withConfirmed = (
  observations: ReadonlyArray<Observation>,
  refusals: Refusals,
  lastSuccess: LastSuccess,
  reasonOf: (endpoint: Exchange.Endpoint) => string
): ReadonlyArray<Observation> =>
  observations.map((observation) => {
    const refusal = Option.getOrUndefined(HashMap.get(refusals, observation.case))
    return refusal === undefined || isConfirmed(lastSuccess, refusal) || observation.skipped !== undefined ||
        observation.probes !== undefined
      ? observation
      : { ...Struct.omit(observation, "observed"), skipped: reasonOf(refusal.endpoint) }
  })

/** The explanation of a failed preflight, for a report. */
export interface Explanation {
  /** The endpoint whose cases, and those that depend on them, showed nothing. */
  readonly endpoint: Exchange.Endpoint
  /** What happened, at which address, and what to check. */
  readonly text: string
}

/** How an explanation names an endpoint. */
interface EndpointNames {
  readonly endpoint: Exchange.Endpoint
  readonly name: string
  readonly origin: string
  /** The option that has the address. */
  readonly address: string
  /** What a 401 or 403 means. */
  readonly rejected: (status: string) => string
}

/** The explanation of a failed connection, by the error of the HTTP client. */
const noConnectionTexts: Readonly<Record<string, (names: EndpointNames) => string>> = {
  "name resolution failed": ({ address, origin }) => `the host name of ${origin} is unknown: check the ${address}`,
  "TLS failed": ({ address, origin }) =>
    `the TLS handshake with ${origin} fails: check the scheme and the port of the ${address}`,
  "certificate of another host": ({ address, origin }) =>
    `the certificate of ${origin} is for another host: check the ${address}`,
  "certificate expired": ({ origin }) =>
    `the certificate of ${origin} is expired or not yet valid: check the clock of this machine, or renew the certificate`,
  "certificate not trusted": ({ address, origin }) =>
    `Node.js does not trust the certificate of ${origin}: check the ${address}, or set NODE_EXTRA_CA_CERTS to the ` +
    "file of its CA",
  "a response that is not HTTP": ({ address, origin }) => `${origin} does not speak HTTP: check the ${address}`,
  "user and password refused by a proxy": ({ origin }) =>
    `the proxy refuses the connection to ${origin} with 407: check the user and password in HTTPS_PROXY or HTTP_PROXY`,
  "refused by a proxy": ({ origin }) =>
    `the proxy makes no connection to ${origin}: check HTTPS_PROXY, HTTP_PROXY and NO_PROXY`,
  "connection closed": ({ address, origin }) =>
    `${origin} closes the connection without a response: check the ${address}`
}

const noResponseTexts: Readonly<Record<Exchange.NoResponseReason, (names: EndpointNames) => string>> = {
  "no answer": ({ address, origin }) => `no server responds at ${origin}: check the ${address}, and start the server`,
  "late answer": ({ name, origin }) => `${origin} accepts the request to ${name} but does not respond in time`,
  "broken answer": ({ name, origin }) => `${origin} breaks the connection during the response of ${name}`,
  "too long": ({ address, name }) => `${name} responds with more than 1 MiB: check the ${address}`
}

/** Why a customer with the right key may be refused. */
const maybeBlocked =
  "this machine or the customer may be blocked for a while, as after wrong keys or bad tokens of an earlier run"

const ownPersons = "If the sandbox knows only its own test persons, name them with --person or --persons"

const explain = (
  names: EndpointNames,
  observed: string,
  status: string,
  isPage: boolean,
  cause: string | undefined
): string => {
  const { address, endpoint, name, rejected } = names
  const connectionText = noConnectionTexts[cause ?? ""]
  if (observed === "no answer" && connectionText !== undefined) return connectionText(names)
  const reason = Exchange.noResponseReasons.find((reason) => reason === observed)
  if (reason !== undefined) return noResponseTexts[reason](names)
  if (isPage && status === "403") return `${name} answers 403 with an HTML page: a firewall may refuse this machine`
  if (status === "401" || status === "403") return rejected(status)
  if (isPage && !/^[45]/.test(status)) return `${name} responds with an HTML page (${status}): check the ${address}`
  if (observed === "redirected") return `${name} redirects with ${status}, which is not followed: check the ${address}`
  if (status === "404" || status === "405") {
    return endpoint === "token"
      ? `${name} does not exist there (${status}): check the ${address}`
      : `${name} refuses the check with ${status}: check the ${address}. ${ownPersons}`
  }
  if (observed === "rate limited") return `${name} limits the rate of requests (${status})`
  if (observed === "failed") return `${name} fails with ${status}`
  if (/^2\d\d$/.test(status) && observed === "no token") return `${name} responds with ${status}, but without a token`
  return endpoint === "token"
    ? `the token request is refused with ${status}: the id or the key of the customer may be wrong`
    : `${name} refuses the request of section 4.2 with ${status}. ${ownPersons}`
}

const originOf = (address: string | undefined, fallback: string): string =>
  address !== undefined && URL.canParse(address) ? new URL(address).origin : fallback

/** If both addresses are the same, either option may have set it. */
const optionOf = ({ authUrl, baseUrl }: RunInfo, option: string): string =>
  authUrl !== undefined && authUrl === baseUrl ? "address" : option

const observationsOf = (results: Report["results"]) => (caseId: string): string =>
  results.find(({ id }) => id === caseId)?.observed ?? ""

/** The explanation of the failed preflight of a report, or `undefined` if the preflight succeeded or did not run. */
export const explanationOf = (
  { results }: Pick<Report, "results">,
  runInfo: RunInfo = {}
): Explanation | undefined => {
  const observedOf = observationsOf(results)
  const causeOf = (caseId: string): string | undefined => results.find(({ id }) => id === caseId)?.cause
  const token = observedOf(tokenCase)
  if (token !== "" && token !== "granted") {
    const names: EndpointNames = {
      endpoint: "token",
      name: "the token endpoint",
      origin: originOf(runInfo.authUrl, "the address of the token endpoint"),
      address: optionOf(runInfo, "auth URL"),
      rejected: (status) =>
        status === "403"
          ? `the token request is refused with 403, by the service or by a firewall in front of it: ${maybeBlocked}`
          : `the customer is refused with ${status}: check its id and its key. If they are right, ${maybeBlocked}`
    }
    const isPage = observedOf("token.content-type") === "text/html"
    return { endpoint: "token", text: explain(names, token, observedOf("token.status"), isPage, causeOf(tokenCase)) }
  }
  const aml = observedOf(amlCase)
  const isPage = observedOf("aml.credential") === "html"
  if (aml === "" || !isPage && ["answered", "no credential"].includes(aml)) return undefined
  const names: EndpointNames = {
    endpoint: "aml",
    name: "the API",
    origin: originOf(runInfo.baseUrl, "the address of the API"),
    address: optionOf(runInfo, "base URL"),
    rejected: (status) => `the API refuses the token with ${status}`
  }
  return { endpoint: "aml", text: explain(names, aml, observedOf("aml.status"), isPage, causeOf(amlCase)) }
}

/** Whether the server seems not to be the service: it sends no response, a redirect, an HTML page, 404 or 405. */
const isOtherServer = ({ results }: Pick<Report, "results">): boolean => {
  const observedOf = observationsOf(results)
  const outcome = observedOf(amlCase)
  return Exchange.isNoResponse(outcome) || outcome === "redirected" || observedOf("aml.credential") === "html" ||
    ["404", "405"].includes(observedOf("aml.status"))
}

/** Whether a case ran, the customer received a token, and the API is the service and not another server. */
export const isTested = (report: Pick<Report, "results">): boolean => {
  if (report.results.every(({ verdict }) => verdict === "not tested")) return false
  const endpoint = explanationOf(report)?.endpoint
  return endpoint === undefined || endpoint === "aml" && !isOtherServer(report)
}

/** The results that show something: all of them, or those that a failed preflight leaves. */
export const meaningfulResults = (report: Pick<Report, "results">): ReadonlyArray<Result> => {
  const endpoint = explanationOf(report)?.endpoint
  if (endpoint === undefined) return report.results
  return report.results.filter(({ id, observed }) =>
    observed !== undefined && endpoint === "aml" && !id.startsWith("aml.")
  )
}
