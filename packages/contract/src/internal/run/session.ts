/**
 * The session of a run with its target: which customer sends the requests, and the access token that the cases
 * share.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type { Endpoint, Exchange, Request, StepExchange } from "../exchange.ts"
import type { Target } from "../model.ts"
import * as Preflight from "../preflight.ts"
import { grantOf } from "../readings/tokenReadings.ts"
import type { AmlStep, ServiceStep } from "../steps.ts"
import { testKey } from "./controlPlane.ts"
import type { Pacing } from "./pacing.ts"
import type { RefusalConfirmation } from "./refusalConfirmation.ts"
import * as Requests from "./requests.ts"
import { skip, type Skipped } from "./skipped.ts"

interface State {
  /** The last token of the customer: a service may end a token when it issues the next. */
  readonly token: Option.Option<{ readonly value: string; readonly receivedAt: number }>
  /** The refusals of tokens that were younger than an hour, where a new token was accepted. */
  readonly earlyRefusals: ReadonlyArray<StepExchange>
  /** Why the API no longer accepts the documented request. */
  readonly apiFailure: Option.Option<string>
}

export interface Session {
  /** The customer of the target, or a test customer of the mock server. */
  readonly customer: Requests.Customer
  /** Sends one request for a customer, with this token, after these exchanges of the same case. */
  readonly send: (
    step: ServiceStep,
    customer: Requests.Customer,
    token: string,
    previous: ReadonlyArray<StepExchange>
  ) => Effect.Effect<StepExchange, Skipped>
  /**
   * Sends a check with the shared token. If the token is refused after the API has accepted one before, it
   * finds out whether this check or the token is the reason, and if it is the token, replaces it once.
   */
  readonly sendWithSharedToken: (step: AmlStep) => Effect.Effect<StepExchange, Skipped>
  /** Fails if the response is rate limited although the endpoint has succeeded before. */
  readonly rejectRateLimited: (exchange: StepExchange) => Effect.Effect<StepExchange, Skipped>
  readonly earlyRefusals: Effect.Effect<ReadonlyArray<StepExchange>>
  readonly apiFailure: Effect.Effect<Option.Option<string>>
}

/** How long a token must be accepted, in milliseconds, with a minute for clocks that differ. */
const lifetime = 59 * 60_000

const randomHex = (digits: number): Effect.Effect<string> =>
  Effect.map(
    Effect.all(Array.from({ length: digits }, () => Random.nextIntBetween(0, 16))),
    (values) => values.map((value) => value.toString(16)).join("")
  )

/** The id of the customer that a run uses on a mock server by default. */
export const makeCustomerId: Effect.Effect<string> = Effect.map(randomHex(8), (hex) => `test-conformance-${hex}`)

const statusOf = ({ exchange }: StepExchange): number | undefined =>
  exchange._tag === "Response" ? exchange.status : undefined

const names: Readonly<Record<Endpoint, string>> = { token: "the token endpoint", aml: "the API" }

/** How an endpoint that has succeeded before fails now. */
export const describeFailure = (endpoint: Endpoint, { exchange }: StepExchange): string =>
  exchange._tag === "Response"
    ? `${names[endpoint]} also refuses the documented request, with ${exchange.status}`
    : `${names[endpoint]} no longer responds to the documented request`

/** The first token in these exchanges. */
export const tokenIn = (exchanges: ReadonlyArray<StepExchange>): Option.Option<string> =>
  Option.firstSomeOf(
    exchanges.filter(({ step }) => step.to === "token").map(({ exchange }) =>
      exchange._tag === "Response" ? Option.map(grantOf(exchange), ({ token }) => token) : Option.none()
    )
  )

export const make = (
  target: Target,
  customerId: string,
  exchange: (request: Request) => Effect.Effect<Exchange>,
  pacing: Pacing,
  confirmation: RefusalConfirmation
): Effect.Effect<Session> =>
  Effect.gen(function*() {
    const unknownCustomer: Requests.Customer = { id: `nobody-${yield* randomHex(8)}`, key: yield* randomHex(24) }
    const customer: Requests.Customer = {
      id: target.customerId ?? customerId,
      key: target.customerKey === undefined ? testKey : Redacted.value(target.customerKey)
    }
    const state = yield* Ref.make<State>({
      token: Option.none(),
      earlyRefusals: [],
      apiFailure: Option.none()
    })

    const send: Session["send"] = (step, requester, token, previous) =>
      Effect.gen(function*() {
        const profile = Requests.profileOf(previous)
        const isUnknown = step.to === "token" && step.authorization === "unknown customer"
        const sender = isUnknown ? unknownCustomer : requester
        const request = Requests.of(step, { target, customer: sender, unknownCustomer, token, profile })
        if (request === undefined) return yield* skip("the credential has no aml_profile at this address")
        const number = yield* pacing.nextRequest
        const sent: StepExchange = {
          number,
          step,
          exchange: yield* exchange(request),
          secrets: Requests.secretsOf(step, sender, unknownCustomer)
        }
        if (step.to !== "profile") yield* confirmation.recordExchange(step.to, number, sent.exchange)
        const received = sender === customer ? tokenIn([sent]) : Option.none()
        if (Option.isSome(received)) {
          const receivedAt = yield* Clock.currentTimeMillis
          const newToken = Option.some({ value: received.value, receivedAt })
          yield* Ref.update(state, (current) => ({ ...current, token: newToken }))
        }
        return sent
      })

    const rejectRateLimited: Session["rejectRateLimited"] = (sent) =>
      Effect.gen(function*() {
        const { to } = sent.step
        const isLimited = statusOf(sent) === 429 && (to === "token" || to === "aml") &&
          (yield* confirmation.hasSucceeded(to))
        yield* pacing.countResponse(isLimited)
        return sent
      })

    const withSharedToken = (step: AmlStep): Effect.Effect<StepExchange, Skipped> =>
      Effect.flatMap(Ref.get(state), ({ token }) =>
        Option.match(token, {
          onNone: () => skip("the customer received no token"),
          onSome: ({ value }) => send(step, customer, value, [])
        }))

    const documentedCheck = withSharedToken(Preflight.amlStep)

    const failApi = (reason: string) =>
      Effect.zipRight(
        Ref.update(state, (current) => ({ ...current, apiFailure: Option.some(reason) })),
        skip(reason)
      )

    const sendWithSharedToken: Session["sendWithSharedToken"] = (step) =>
      Effect.gen(function*() {
        const { token } = yield* Ref.get(state)
        const sent = yield* withSharedToken(step)
        const isSharedToken = (step.authorization ?? "shared token") === "shared token"
        if (statusOf(sent) !== 401 || !isSharedToken || !(yield* confirmation.hasSucceeded("aml"))) return sent

        // The documented check shows whether the token or this step is the reason.
        const isDocumented = Preflight.isAmlPreflight([step])
        const before = isDocumented ? sent : yield* Effect.flatMap(documentedCheck, rejectRateLimited)
        if (Preflight.isSuccessOf("aml", before.exchange)) return sent
        if (statusOf(before) !== 401) return yield* failApi(describeFailure("aml", before))

        const now = yield* Clock.currentTimeMillis
        const granted = yield* send(Preflight.tokenStep, customer, "", [])
        if (!Preflight.isSuccessOf("token", granted.exchange)) return yield* failApi(describeFailure("token", granted))

        const repeated = yield* withSharedToken(step)
        const after = statusOf(repeated) !== 401 || isDocumented ? repeated : yield* documentedCheck
        if (statusOf(after) === 401) return yield* failApi(describeFailure("aml", after))
        if (Option.exists(token, ({ receivedAt }) => now - receivedAt < lifetime)) {
          yield* Ref.update(state, (current) => ({ ...current, earlyRefusals: [...current.earlyRefusals, sent] }))
        }
        return repeated
      })

    return {
      customer,
      send,
      sendWithSharedToken,
      rejectRateLimited,
      earlyRefusals: Effect.map(Ref.get(state), ({ earlyRefusals }) => earlyRefusals),
      apiFailure: Effect.map(Ref.get(state), ({ apiFailure }) => apiFailure)
    }
  })
