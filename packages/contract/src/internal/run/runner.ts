/**
 * A run over the cases. Before a case, it sends the documented requests that the case depends on (the preflight), once
 * in a run. At the end, it confirms the refusals.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { causeOf, type Endpoint, type Request, type StepExchange } from "../exchange.ts"
import type { Case, Observation, Observer, Run, Target } from "../model.ts"
import * as Preflight from "../preflight.ts"
import { read } from "../readings/readings.ts"
import type { Step } from "../steps.ts"
import * as TargetOptions from "../targetOptions.ts"
import * as ControlPlane from "./controlPlane.ts"
import * as HttpExchange from "./httpExchange.ts"
import * as Pacing from "./pacing.ts"
import * as RefusalConfirmation from "./refusalConfirmation.ts"
import * as Session from "./session.ts"
import { inapplicable, skip, type Skipped } from "./skipped.ts"
import * as StepRunner from "./stepRunner.ts"

const lockout = "a service may lock out a customer whose key is wrong"

/** The observation that `searched_on` is the time of the search, because it moves with the clock. */
const timeOfSearch = "of the search"

/** The shortest run, in milliseconds, in which the times of the searches show whether a clock moves. */
const minRunMillis = 10_000

const isTooShort = (exchanges: ReadonlyArray<StepExchange>): boolean => {
  const times = exchanges.flatMap(({ exchange }) => exchange._tag === "Response" ? [exchange.receivedAt] : [])
  return Math.max(...times) - Math.min(...times) < minRunMillis || times.length < 2
}

/**
 * Whether other cases may run beside this one. A service receives one request at a time. On a mock server, a single
 * request changes nothing for others, and cases that move a clock or set a fault have a session of their own.
 */
export const isIndependent = (target: Target, { steps }: Case): boolean =>
  target.kind === "mock" && (steps.length === 1 && steps.every(({ to }) => to === "token" || to === "aml") ||
    target.clock === undefined && StepRunner.isControlled(target, steps))

export const make = (
  target: Target,
  observer: Observer = {}
): Effect.Effect<Run, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    yield* TargetOptions.checkDurations(target)
    const client = yield* HttpClient.HttpClient
    const { deadline = TargetOptions.defaultDeadline, kind } = target
    const send = (request: Request) =>
      Effect.provideService(HttpExchange.send(request, deadline), HttpClient.HttpClient, client)

    const customerId = yield* Session.makeCustomerId
    const pacing = yield* Pacing.make(target)
    const confirmation = yield* RefusalConfirmation.make
    const session = yield* Session.make(target, customerId, send, pacing, confirmation, observer)
    const controlPlane = yield* ControlPlane.make(target, customerId, send)
    const sendSteps = yield* StepRunner.make(target, session, controlPlane)
    const oneAtATime = yield* Effect.makeSemaphore(1)

    /**
     * Skips a case if a documented request that it depends on failed. If the case tests that request itself, returns
     * the failure instead. `sendSteps` sends equal steps only once in a run, so all calls together cost two requests.
     */
    const checkPreflight = (
      steps: ReadonlyArray<Step>
    ): Effect.Effect<Preflight.PreflightFailure | undefined, Skipped> =>
      Effect.gen(function*() {
        const tokenFailure = Preflight.tokenFailure(yield* sendSteps([Preflight.tokenStep]))
        if (Preflight.isTokenPreflight(steps)) return tokenFailure
        if (tokenFailure !== undefined) return yield* skip(tokenFailure.reason, tokenFailure.caseId)
        if (steps.length > 0 && steps.every(({ to }) => to === "token")) return undefined
        const apiFailure = yield* session.apiFailure
        if (Option.isSome(apiFailure)) return yield* skip(apiFailure.value)
        const exchanges = yield* sendSteps([Preflight.amlStep])
        const amlFailure = Preflight.amlFailure(exchanges)
        if (Preflight.isAmlPreflight(steps)) return amlFailure
        const failure = amlFailure ?? Preflight.missingCredential(exchanges)
        return failure === undefined ? undefined : yield* skip(failure.reason, failure.caseId)
      })

    const outcomeOf = ({ dependsOn, id, needsOwnCustomer, needsWrongKeys, notOnSandbox, reading, steps }: Case) =>
      Effect.gen(function*() {
        if (kind === "sandbox" && notOnSandbox !== undefined) return yield* skip(notOnSandbox)
        if (needsWrongKeys === true && kind === "sandbox" && target.wrongKeys !== true) return yield* skip(lockout)
        if (needsOwnCustomer === true && kind === "mock" && target.customerId === undefined) {
          return yield* skip(inapplicable.testCustomer)
        }
        if (kind === "sandbox" && target.clock === undefined && steps.some(({ to }) => to === "clock")) {
          return yield* skip("the clock of a service cannot be moved")
        }
        const failure = yield* checkPreflight(steps)
        // A case without steps reads exchanges of the other cases. A request of a case that reads `credential withheld`
        // should receive no credential: it is a probe.
        const exchanges = steps.length > 0
          ? yield* sendSteps(steps, reading === "credential withheld")
          : reading === "early refusals"
          ? yield* session.earlyRefusals
          : yield* session.checks
        const last = exchanges.at(-1)
        const details = steps.length === 0 || last === undefined ? {} : { cause: causeOf(last), curl: last.curl }
        const observed = read(reading, exchanges)
        if (observed === timeOfSearch && isTooShort(exchanges)) return yield* skip(inapplicable.tooShort)
        if (Preflight.isTokenPreflight(steps) || Preflight.isAmlPreflight(steps)) {
          const isSkipped = failure !== undefined && failure.caseId !== id && !failure.shownBy.includes(reading)
          return { observed, ...details, ...(isSkipped && { skipped: failure.reason, dependsOn: failure.caseId }) }
        }
        if (dependsOn !== undefined && !RefusalConfirmation.isRefused(exchanges)) {
          return yield* skip("there was no refusal", dependsOn)
        }
        yield* confirmation.recordCase(id, exchanges)
        return { observed, ...details }
      })

    const observeOne = (testCase: Case): Effect.Effect<Observation> =>
      Effect.gen(function*() {
        const startedAt = yield* Clock.currentTimeMillis
        const [outcome, requests] = yield* Pacing.withRequests(Effect.catchTag(
          outcomeOf(testCase),
          "Skipped",
          ({ dependsOn, reason }) => Effect.succeed({ skipped: reason, ...(dependsOn !== undefined && { dependsOn }) })
        ))
        const millis = (yield* Clock.currentTimeMillis) - startedAt
        const observation: Observation = { case: testCase.id, ...outcome, requests, millis }
        yield* observer.onObservation?.(observation) ?? Effect.void
        return observation
      })

    const observe = (testCase: Case): Effect.Effect<Observation> =>
      isIndependent(target, testCase) ? observeOne(testCase) : oneAtATime.withPermits(1)(observeOne(testCase))

    /** Sends the documented request if refusals are unconfirmed. Returns why they remain so, or an empty string. */
    const confirmEndpoint = (endpoint: Endpoint): Effect.Effect<string> =>
      Effect.gen(function*() {
        if (!(yield* confirmation.hasUnconfirmed(endpoint))) return ""
        const apiFailure = yield* session.apiFailure
        if (endpoint === "aml" && Option.isSome(apiFailure)) return apiFailure.value
        const sent = yield* endpoint === "token"
          ? session.send(Preflight.tokenStep, session.customer, "", [])
          : session.sendWithSharedToken(Preflight.amlStep)
        return Preflight.isSuccessOf(endpoint, sent.exchange) ? "" : Session.describeFailure(endpoint, sent)
      }).pipe(Effect.catchTag("Skipped", ({ reason }) => Effect.succeed(reason)))

    const confirm: Run["confirm"] = (observations) =>
      Effect.gen(function*() {
        yield* pacing.releaseReserve
        const [reasons, requests] = yield* Pacing.withRequests(
          Effect.all({ token: confirmEndpoint("token"), aml: confirmEndpoint("aml") })
        )
        const confirmed = yield* confirmation.applyTo(
          observations,
          (endpoint) => `the refusal is not confirmed: ${reasons[endpoint]}`
        )
        return confirmed.map((observation, i) =>
          i === confirmed.length - 1 ? { ...observation, requests: observation.requests + requests } : observation
        )
      }).pipe(oneAtATime.withPermits(1))

    return { observe, confirm }
  })
