/**
 * The session of a run with its target (not a session of the mock server): which customer sends the requests, and the
 * access token that the cases share.
 */
import * as EffectClock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { Endpoint, Exchange, Request, StepExchange } from "../exchange.ts"
import type { Observation } from "../model.ts"
import * as Preflight from "../preflight.ts"
import { isDocumentedCheck, isDocumentedTokenRequest } from "../readings/responseReadings.ts"
import { grantOf } from "../readings/tokenReadings.ts"
import type { AmlStep, ServiceStep, TogetherStep } from "../steps.ts"
import { personOf, type Target } from "../target.ts"
import * as Curl from "./curl.ts"
import * as Har from "./har.ts"
import { inapplicable, type Pacing, skip, type Skipped } from "./limits.ts"
import * as Requests from "./requests.ts"
import type { Customer, Customers } from "./requests.ts"

/**
 * What a run reports while it runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Observer {
  /** @default undefined, no exchange is masked and reported */
  readonly onExchange?: ((exchange: Har.MaskedExchange) => Effect.Effect<void>) | undefined
  /** Receives each observation before the refusals are confirmed. */
  readonly onObservation?: ((observation: Observation) => Effect.Effect<void>) | undefined
}

type Clock = NonNullable<Target["clock"]>

interface SharedToken {
  readonly value: string
  readonly receivedAt: number
}

/** What a run knows about its target. */
interface State {
  /**
   * The last token of the customer, which all cases share. The service may have ended the earlier ones when it issued
   * this one.
   */
  readonly token: Option.Option<SharedToken>
  /** By how much the clock of the target is ahead, in milliseconds. */
  readonly ahead: number
  readonly lastSuccess: Preflight.LastSuccess
  /**
   * All exchanges in which a check of the customer, except for probes, returned a credential. Some cases compare them
   * all.
   */
  readonly checks: ReadonlyArray<StepExchange>
  /** The refusals of tokens that were younger than an hour, where a new token was accepted. */
  readonly earlyRefusals: ReadonlyArray<StepExchange>
  /** The responses to documented token requests, unless the service failed, or may block the customer after bad ones. */
  readonly tokenRequests: ReadonlyArray<StepExchange>
  /** Why the API no longer accepts the documented request. */
  readonly apiFailure: Option.Option<string>
  /** How many requests had wrong credentials or a bad token. */
  readonly bad: number
  /** Whether the service also refuses other mistakes with 401 or 403, so that these say nothing about the token. */
  readonly isShutUsual: boolean
}

/** What a case has around a request. */
export interface Around {
  /** The exchanges before it. */
  readonly previous?: ReadonlyArray<StepExchange>
  /** The step that sends it at the same time as others. */
  readonly together?: TogetherStep | undefined
  /** Whether the service should answer it without a credential. */
  readonly isProbe?: boolean
}

export interface Session {
  /** The customer of the target, or a test customer of the mock server. */
  readonly customer: Customer
  /** Sends one request for a customer, with this token. */
  readonly send: (
    step: ServiceStep,
    customer: Customer,
    token: string,
    around?: Around
  ) => Effect.Effect<StepExchange, Skipped>
  /**
   * Sends a check with the shared token. If the token is refused after the API has accepted one before, it
   * finds out whether this check or the token is the reason, and if it is the token, replaces it once.
   */
  readonly sendWithSharedToken: (step: AmlStep, around?: Around) => Effect.Effect<StepExchange, Skipped>
  /** Fails if the response is rate limited although the endpoint has succeeded before. */
  readonly rejectRateLimited: (exchange: StepExchange) => Effect.Effect<StepExchange, Skipped>
  /** Moves the clock of the target. The shared token is replaced before its next use. */
  readonly advance: (clock: Clock, millis: number) => Effect.Effect<void>
  /** The time of the target, in milliseconds since 1970. */
  readonly now: Effect.Effect<number>
  /** How an endpoint that has succeeded before fails now, in words. */
  readonly failureOf: (endpoint: Endpoint, sent: StepExchange) => Effect.Effect<string>
  readonly state: Effect.Effect<State>
}

/** How long a token must be accepted, in milliseconds, with a minute for clocks that differ. */
const lifetime = 59 * 60_000

const statusOf = ({ exchange }: StepExchange): number | undefined =>
  exchange._tag === "Response" ? exchange.status : undefined

const names: Readonly<Record<Endpoint, string>> = { token: "the token endpoint", aml: "the API" }

/** How an endpoint that has succeeded before fails now, after this many bad requests. */
const describeFailure = (endpoint: Endpoint, { exchange }: StepExchange, bad: number): string =>
  (exchange._tag === "Response"
    ? `${names[endpoint]} also refuses the documented request, with ${exchange.status}`
    : `${names[endpoint]} no longer responds to the documented request`) +
  (bad === 0
    ? ""
    : `, after ${bad} with wrong credentials or bad tokens: the service may block the customer or this address for a while`)

/** Statuses with which a service refuses a token, or blocks a customer. */
const isShut = (sent: StepExchange): boolean => statusOf(sent) === 401 || statusOf(sent) === 403

/** The tokens in these exchanges. */
export const tokensIn = (exchanges: ReadonlyArray<StepExchange>): ReadonlyArray<string> =>
  exchanges.filter(({ step }) => step.to === "token").flatMap(({ exchange }) =>
    exchange._tag === "Response"
      ? Option.match(grantOf(exchange), { onNone: () => [], onSome: ({ token }) => [token] })
      : []
  )

/**
 * The state after an exchange. `now` is the time by the target's clock. Only the customer's own credentials grant a token
 * that the other cases may use.
 */
const after = (state: State, sent: StepExchange, isOwn: boolean, isProbe: boolean, now: number): State => {
  const { exchange, number, step } = sent
  if (step.to !== "token" && step.to !== "aml") return state
  const { checks, lastSuccess, tokenRequests } = state
  const isSuccess = Preflight.isSuccessOf(step.to, exchange)
  const isBad = step.authorization !== undefined && step !== Preflight.openStep
  const bad = state.bad + (isBad ? 1 : 0)
  const status = statusOf(sent) ?? 500
  const isTokenRequest = bad === 0 && isDocumentedTokenRequest(step) && status < 500 && status !== 429
  const [granted] = isOwn && !isBad ? tokensIn([sent]) : []
  return {
    ...state,
    bad,
    lastSuccess: isSuccess ? { ...lastSuccess, [step.to]: Math.max(lastSuccess[step.to], number) } : lastSuccess,
    // The other customers of a mock server have separate clocks, so their times cannot be compared with these.
    checks: step.to === "aml" && isSuccess && isOwn && !isProbe ? [...checks, sent] : checks,
    tokenRequests: isOwn && isTokenRequest ? [...tokenRequests, sent] : tokenRequests,
    token: granted === undefined ? state.token : Option.some({ value: granted, receivedAt: now })
  }
}

export const make = (
  target: Target,
  customers: Customers,
  exchange: (request: Request) => Effect.Effect<Exchange>,
  pacing: Pacing,
  { onExchange }: Observer
): Effect.Effect<Session> =>
  Effect.gen(function*() {
    const customer = customers.own
    const state = yield* Ref.make<State>({
      token: Option.none(),
      ahead: 0,
      lastSuccess: { token: -1, aml: -1 },
      checks: [],
      earlyRefusals: [],
      tokenRequests: [],
      apiFailure: Option.none(),
      bad: 0,
      isShutUsual: false
    })

    const now = Effect.zipWith(Ref.get(state), EffectClock.currentTimeMillis, ({ ahead }, millis) => millis + ahead)

    const hasSucceeded = (endpoint: Endpoint) =>
      Effect.map(Ref.get(state), ({ lastSuccess }) => lastSuccess[endpoint] >= 0)

    const send: Session["send"] = (step, sender, token, { isProbe = false, previous = [], together } = {}) =>
      Effect.gen(function*() {
        const profile = Requests.profileOf(previous)
        const request = Requests.of(step, { target, customer: sender, customers, token, profile })
        if (Option.isNone(request)) {
          return yield* skip(
            step.to === "profile" ? "the credential has no aml_profile at this address" : inapplicable.unchanged
          )
        }
        const number = yield* pacing.nextRequest(step.to === "aml")
        const startedAt = yield* EffectClock.currentTimeMillis
        const received = yield* exchange(request.value)
        if (onExchange !== undefined) {
          const millis = (yield* EffectClock.currentTimeMillis) - startedAt
          yield* onExchange(Har.entryOf(step, target, received, startedAt, millis))
        }
        const { ahead } = yield* Ref.get(state)
        const sent: StepExchange = {
          number,
          step,
          person: step.to === "aml" ? personOf(target, step.person) : undefined,
          exchange: received._tag === "Response" ? { ...received, receivedAt: received.receivedAt + ahead } : received,
          secrets: Requests.secretsOf(step, sender, customers, target),
          curl: Curl.of(step, target),
          ...(together !== undefined && { together })
        }
        const receivedAt = yield* now
        yield* Ref.update(state, (current) => after(current, sent, sender === customer, isProbe, receivedAt))
        if (step.to === "aml" && Preflight.isSuccessOf("aml", sent.exchange)) yield* pacing.countCheck
        return sent
      })

    const rejectRateLimited: Session["rejectRateLimited"] = (sent) =>
      Effect.gen(function*() {
        const { to } = sent.step
        const isLimited = statusOf(sent) === 429 && (to === "token" || to === "aml") &&
          (yield* hasSucceeded(to))
        yield* pacing.countResponse(isLimited)
        return sent
      })

    /** Sends a check with the shared token. If the token is 59 minutes old, requests a new one first. */
    const sendOnce = (step: AmlStep, around: Around = {}): Effect.Effect<StepExchange, Skipped> =>
      Effect.gen(function*() {
        const { token } = yield* Ref.get(state)
        const time = yield* now
        if (Option.exists(token, ({ receivedAt }) => time - receivedAt >= lifetime)) {
          yield* send(Preflight.tokenStep, customer, "")
        }
        const current = yield* Ref.get(state)
        if (Option.isNone(current.token)) {
          return yield* skip("the customer received no token")
        }
        return yield* send(step, customer, current.token.value.value, around)
      })

    const documentedCheck = sendOnce(Preflight.amlStep)

    const advance: Session["advance"] = (clock, millis) =>
      Effect.gen(function*() {
        const before = yield* EffectClock.currentTimeMillis
        yield* clock(millis)
        // If `clock` only waits, the clock of this process moves by the same time.
        const waited = (yield* EffectClock.currentTimeMillis) - before
        yield* Ref.update(state, (current) => ({ ...current, ahead: current.ahead + Math.max(0, millis - waited) }))
      })

    const failureOf: Session["failureOf"] = (endpoint, sent) =>
      Effect.map(Ref.get(state), ({ bad }) => describeFailure(endpoint, sent, bad))

    const failApi = (endpoint: Endpoint, sent: StepExchange) =>
      Effect.flatMap(failureOf(endpoint, sent), (reason) =>
        Effect.zipRight(
          Ref.update(state, (current) => ({ ...current, apiFailure: Option.some(reason) })),
          skip(reason)
        ))

    const sendWithSharedToken: Session["sendWithSharedToken"] = (step, around) =>
      Effect.gen(function*() {
        const sent = yield* sendOnce(step, around)
        const { isShutUsual, token } = yield* Ref.get(state)
        if (!isShut(sent) || step.authorization !== undefined || !(yield* hasSucceeded("aml"))) return sent
        if (isShutUsual && !isDocumentedCheck(step)) return sent

        // The documented check shows whether the token or this step is the reason.
        const isDocumented = Preflight.isAmlPreflight([step])
        const withOldToken = isDocumented ? sent : yield* Effect.flatMap(documentedCheck, rejectRateLimited)
        if (Preflight.isSuccessOf("aml", withOldToken.exchange)) {
          yield* Ref.update(state, (current): State => ({ ...current, isShutUsual: true }))
          return sent
        }
        if (!isShut(withOldToken)) return yield* failApi("aml", withOldToken)

        const refusedAt = yield* now
        const granted = yield* send(Preflight.tokenStep, customer, "")
        if (!Preflight.isSuccessOf("token", granted.exchange)) return yield* failApi("token", granted)

        const repeated = yield* sendOnce(step, around)
        const withNewToken = !isShut(repeated) || isDocumented ? repeated : yield* documentedCheck
        if (isShut(withNewToken)) return yield* failApi("aml", withNewToken)
        if (Option.exists(token, ({ receivedAt }) => refusedAt - receivedAt < lifetime)) {
          yield* Ref.update(state, (current) => ({ ...current, earlyRefusals: [...current.earlyRefusals, sent] }))
        }
        return repeated
      })

    return {
      customer,
      send,
      sendWithSharedToken,
      rejectRateLimited,
      advance,
      now,
      failureOf,
      state: Ref.get(state)
    }
  })
