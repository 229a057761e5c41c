/**
 * The confirmation of refusals. A refusal shows that a request was wrong only if the endpoint still succeeds
 * afterwards: a service that limits its rate, or that has locked out the customer, refuses every request.
 */
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import type { Endpoint, StepExchange } from "../exchange.ts"
import type { Observation } from "../model.ts"
import * as Preflight from "../preflight.ts"

/** A refusal that decided an observation. */
interface Refusal {
  readonly endpoint: Endpoint
  /** The number of the refused request. */
  readonly number: number
}

/** The refusals that decided an observation, by the id of the case. */
export type Refusals = HashMap.HashMap<string, Refusal>

/** The number of the last successful request of each endpoint, or -1. */
export type LastSuccess = Readonly<Record<Endpoint, number>>

/** The refusal in the last exchange, or `undefined` if it is not a token request or a check that failed. */
const refusalOf = (exchanges: ReadonlyArray<StepExchange>): Refusal | undefined => {
  const last = exchanges.at(-1)
  if (last === undefined || (last.step.to !== "token" && last.step.to !== "aml")) return undefined
  const { to } = last.step
  return Preflight.isSuccessOf(to, last.exchange) ? undefined : { endpoint: to, number: last.number }
}

export const isRefused = (exchanges: ReadonlyArray<StepExchange>): boolean => refusalOf(exchanges) !== undefined

/** Adds the refusal in the exchanges of a case. Of several probes of a case, the last refusal must be confirmed. */
export const add = (caseId: string, exchanges: ReadonlyArray<StepExchange>) => (refusals: Refusals): Refusals => {
  const refusal = refusalOf(exchanges)
  const isLater = Option.exists(HashMap.get(refusals, caseId), ({ number }) => number > (refusal?.number ?? -1))
  return refusal === undefined || isLater ? refusals : HashMap.set(refusals, caseId, refusal)
}

const isConfirmed = (lastSuccess: LastSuccess, { endpoint, number }: Refusal): boolean =>
  number <= lastSuccess[endpoint]

/** Whether an endpoint has refused requests of cases since it last succeeded. */
export const hasUnconfirmed = (refusals: Refusals, lastSuccess: LastSuccess, endpoint: Endpoint): boolean =>
  HashMap.some(refusals, (refusal) => refusal.endpoint === endpoint && !isConfirmed(lastSuccess, refusal))

/** Turns observations of unconfirmed refusals into skipped ones. `reasonOf` says why they are unconfirmed. */
export const applyTo = (
  observations: ReadonlyArray<Observation>,
  refusals: Refusals,
  lastSuccess: LastSuccess,
  reasonOf: (endpoint: Endpoint) => string
): ReadonlyArray<Observation> =>
  observations.map((observation) => {
    const refusal = Option.getOrUndefined(HashMap.get(refusals, observation.case))
    return refusal === undefined || isConfirmed(lastSuccess, refusal) || observation.skipped !== undefined ||
        observation.probes !== undefined
      ? observation
      : { ...Struct.omit(observation, "observed"), skipped: reasonOf(refusal.endpoint) }
  })
