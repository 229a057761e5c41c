/**
 * The confirmation of refusals. A refusal shows that a request was wrong only if the endpoint still succeeds
 * afterwards: a service that limits its rate, or that has locked out the customer, refuses every request.
 */
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Struct from "effect/Struct"
import type { Endpoint, Exchange, StepExchange } from "../exchange.ts"
import type { Observation } from "../model.ts"
import * as Preflight from "../preflight.ts"

/** A refusal that decided an observation. */
interface Refusal {
  readonly endpoint: Endpoint
  /** The number of the refused request. */
  readonly number: number
}

interface State {
  /** By the id of the case. */
  readonly refusals: HashMap.HashMap<string, Refusal>
  /** The number of the last successful request of each endpoint, or -1. */
  readonly lastSuccess: Readonly<Record<Endpoint, number>>
}

/** The refusal in the last exchange, or `undefined` if it is not a token request or a check that failed. */
const refusalOf = (exchanges: ReadonlyArray<StepExchange>): Refusal | undefined => {
  const last = exchanges.at(-1)
  if (last === undefined || (last.step.to !== "token" && last.step.to !== "aml")) return undefined
  const { to } = last.step
  return Preflight.isSuccessOf(to, last.exchange) ? undefined : { endpoint: to, number: last.number }
}

export const isRefused = (exchanges: ReadonlyArray<StepExchange>): boolean => refusalOf(exchanges) !== undefined

const isConfirmed = ({ lastSuccess }: State, { endpoint, number }: Refusal): boolean => number <= lastSuccess[endpoint]

export interface RefusalConfirmation {
  /** Records the exchange of the request of this number. */
  readonly recordExchange: (endpoint: Endpoint, number: number, exchange: Exchange) => Effect.Effect<void>
  /** Records the exchanges that decided the observation of a case. */
  readonly recordCase: (caseId: string, exchanges: ReadonlyArray<StepExchange>) => Effect.Effect<void>
  /** Whether an endpoint has succeeded at least once. */
  readonly hasSucceeded: (endpoint: Endpoint) => Effect.Effect<boolean>
  /** Whether an endpoint has refused requests since it last succeeded. */
  readonly hasUnconfirmed: (endpoint: Endpoint) => Effect.Effect<boolean>
  /** Turns observations of unconfirmed refusals into skipped ones. `reasonOf` says why they are unconfirmed. */
  readonly applyTo: (
    observations: ReadonlyArray<Observation>,
    reasonOf: (endpoint: Endpoint) => string
  ) => Effect.Effect<ReadonlyArray<Observation>>
}

export const make: Effect.Effect<RefusalConfirmation> = Effect.map(
  Ref.make<State>({ refusals: HashMap.empty(), lastSuccess: { token: -1, aml: -1 } }),
  (state) => ({
    recordExchange: (endpoint, number, exchange) =>
      Ref.update(state, (current) =>
        Preflight.isSuccessOf(endpoint, exchange)
          ? {
            ...current,
            lastSuccess: { ...current.lastSuccess, [endpoint]: Math.max(current.lastSuccess[endpoint], number) }
          }
          : current),
    recordCase: (caseId, exchanges) =>
      Ref.update(state, (current) => {
        const refusal = refusalOf(exchanges)
        // Of several probes of a case, the last refusal must be confirmed.
        const last = Option.exists(HashMap.get(current.refusals, caseId), ({ number }) =>
          number > (refusal?.number ?? -1))
        return refusal === undefined || last
          ? current
          : { ...current, refusals: HashMap.set(current.refusals, caseId, refusal) }
      }),
    hasSucceeded: (endpoint) => Effect.map(Ref.get(state), ({ lastSuccess }) => lastSuccess[endpoint] >= 0),
    hasUnconfirmed: (endpoint) =>
      Effect.map(
        Ref.get(state),
        (current) =>
          HashMap.some(current.refusals, (refusal) => refusal.endpoint === endpoint && !isConfirmed(current, refusal))
      ),
    applyTo: (observations, reasonOf) =>
      Effect.map(Ref.get(state), (current) =>
        observations.map((observation): Observation => {
          const refusal = Option.getOrUndefined(HashMap.get(current.refusals, observation.case))
          return refusal === undefined || isConfirmed(current, refusal) || observation.skipped !== undefined ||
              observation.probes !== undefined
            ? observation
            : { ...Struct.omit(observation, "observed"), skipped: reasonOf(refusal.endpoint) }
        }))
  })
)
