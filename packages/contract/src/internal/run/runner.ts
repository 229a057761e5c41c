/**
 * A run over the cases. Before a case, it sends the documented requests that the case depends on (the preflight), once
 * in a run. At the end, it confirms the refusals.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Cases from "../cases/all.ts"
import type { Endpoint, Request, StepExchange } from "../exchange.ts"
import type { Case, Observation, Probe, Run } from "../model.ts"
import * as Preflight from "../preflight.ts"
import { read, type Reading, usualWords } from "../readings/readings.ts"
import { isDocumentedCheck } from "../readings/responseReadings.ts"
import type { Step } from "../steps.ts"
import { checkDurations, defaultDeadline, needsListed, type Target } from "../target.ts"
import * as Curl from "./curl.ts"
import * as HttpExchange from "./httpExchange.ts"
import { inapplicable, isBudget, makePacing, skip, type Skipped, withRequests } from "./limits.ts"
import * as MockServer from "./mockServer.ts"
import * as Plan from "./plan.ts"
import * as Session from "./session.ts"
import * as StepRunner from "./stepRunner.ts"

const ownPersonsOnly = "the sandbox answers only about its own test persons"

/** The observation that `searched_on` is the time of the search, because it moves with the clock. */
const timeOfSearch = "of the search"

/** Why some readings find nothing to compare. */
const noResults: Partial<Record<Reading, string>> = {
  "promised result": needsListed,
  "every match": inapplicable.fewPeople,
  "stable profile": inapplicable.noRepetition
}

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
export const isIndependent = (target: Target, { more = [], steps }: Case): boolean =>
  target.kind === "mock" &&
  [steps, ...more.map(({ steps }) => steps)].every((steps) =>
    steps.length === 1 && steps.every(({ to }) => to === "token" || to === "aml") ||
    target.clock === undefined && StepRunner.isControlled(target, steps)
  )

/** What one probe of a case showed. */
type Outcome = Pick<Observation, "observed" | "cause" | "curl" | "skipped" | "dependsOn">

/** Whether a probe can show nothing about this customer, token, person or service. */
const isWithoutEffect = ({ skipped }: Outcome): boolean =>
  skipped === inapplicable.unchanged || skipped === inapplicable.refusesOthers

const outcomeOfSkip = ({ dependsOn, reason }: Skipped): Outcome => ({
  skipped: reason,
  ...(dependsOn !== undefined && { dependsOn })
})

/** Those that need the fewest commands come first. */
const byCommands = Order.mapInput(
  Order.number,
  ([, { curl = "" }]: readonly [title: string, outcome: Outcome]) => curl.split("\n").length
)

/** One observation of the outcomes of the probes of a case. */
const combined = (
  { id, reading }: Case,
  outcomes: ReadonlyArray<readonly [title: string, outcome: Outcome]>,
  unplanned: string | undefined
): Omit<Observation, "requests" | "millis"> => {
  const observed = outcomes.filter(([, { observed }]) => observed !== undefined)
  const usual = usualWords[reading] ?? (reading === "match_found" ? undefined : observed[0]?.[1].observed)
  const others = observed.filter(([, outcome]) =>
    usual === undefined ? !["No", "Potential match"].includes(outcome.observed ?? "") : outcome.observed !== usual
  )
  const [[, first] = []] = [...others, ...observed]
  const [[, shown] = []] = Arr.sort(observed.filter(([, { observed }]) => observed === first?.observed), byCommands)
  const missing = outcomes.flatMap(([, outcome]) => {
    const { observed, skipped } = outcome
    return observed === undefined && skipped !== undefined && !isWithoutEffect(outcome) ? [skipped] : []
  })
  const partial = shown === undefined ? undefined : missing[0] ?? unplanned
  return {
    case: id,
    ...(shown ?? outcomes[0]?.[1] ?? { skipped: unplanned ?? "nothing was observed" }),
    ...(others.length > 0 && { probes: others.map(([title]) => title) }),
    ...(partial !== undefined && { partial })
  }
}

export const make = (
  target: Target,
  cases: ReadonlyArray<Case>,
  observer: Session.Observer = {}
): Effect.Effect<Run, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    yield* checkDurations(target)
    const client = yield* HttpClient.HttpClient
    const { deadline = defaultDeadline, kind } = target
    const send = (request: Request) =>
      Effect.provideService(HttpExchange.send(request, deadline), HttpClient.HttpClient, client)

    const controlPlane = yield* MockServer.makeControlPlane(target, send)
    const customers = yield* MockServer.makeCustomers(target, controlPlane)
    const plan = Plan.make({ ...target, customerId: customers.own.id }, cases)
    const pacing = yield* makePacing(target, plan.sufficientBudget)
    const refusals = yield* Ref.make<Preflight.Refusals>(HashMap.empty())
    const session = yield* Session.make(target, customers, send, pacing, observer)
    const { send: sendSteps, sentAlone } = yield* StepRunner.make(target, session, controlPlane)
    const oneAtATime = yield* Effect.makeSemaphore(1)

    /**
     * The documented check. If the address of the API is a web page, neither a token nor a name is sent there, and the
     * page takes the place of the response.
     */
    const sendCheck = Effect.gen(function*() {
      for (const step of [Preflight.openStep, { ...Preflight.openStep, method: "POST" }]) {
        const exchanges = yield* sendSteps([step])
        if (Preflight.pageFailure(exchanges) === undefined) return yield* sendSteps([Preflight.amlStep])
      }
      return yield* sendSteps([{ ...Preflight.openStep, method: "POST" }])
    })

    /** The skips of the cases that depend on a documented request which failed. */
    const failures = yield* Ref.make<Partial<Record<Endpoint, Skipped>>>({})

    const failPreflight = (endpoint: Endpoint, { caseId, reason }: Preflight.PreflightFailure) => {
      const skipped = skip(reason, caseId)
      return Effect.zipRight(Ref.update(failures, (all) => ({ ...all, [endpoint]: skipped })), skipped)
    }

    const isOfToken = (steps: ReadonlyArray<Step>): boolean =>
      steps.length > 0 && steps.every(({ to }) => to === "token")

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
        if (tokenFailure !== undefined) return yield* failPreflight("token", tokenFailure)
        if (isOfToken(steps)) return undefined
        const { apiFailure } = yield* session.state
        if (Option.isSome(apiFailure)) return yield* skip(apiFailure.value)
        const exchanges = yield* sendCheck
        const amlFailure = Preflight.amlFailure(exchanges)
        if (Preflight.isAmlPreflight(steps)) return amlFailure
        const failure = amlFailure ?? Preflight.missingCredential(exchanges)
        return failure === undefined ? undefined : yield* failPreflight("aml", failure)
      })

    const isStranger = (step: Step): boolean =>
      step.to === "together"
        ? step.steps.some(isStranger)
        : step.to === "aml" && typeof step.person === "object" && isDocumentedCheck(step)

    const knowsStrangers = yield* Ref.make<boolean | undefined>(undefined)

    /**
     * The exchanges of steps. A sandbox that answers about none of the first invented persons, but about the test person
     * beside them, knows the test persons of the user only, and checks of other invented persons are skipped.
     */
    const sendChecked = (reading: Reading, steps: ReadonlyArray<Step>) =>
      Effect.gen(function*() {
        const sending = sendSteps(steps, reading === "credential withheld")
        if (kind === "mock" || target.persons === undefined || !steps.some(isStranger)) return yield* sending
        const known = yield* Ref.get(knowsStrangers)
        if (known === true) return yield* sending
        if (known === undefined) {
          const exchanges = yield* sending
          const [answered, refused] = Arr.partition(
            exchanges,
            ({ exchange }) => !Preflight.isSuccessOf("aml", exchange)
          )
          const isAnswered = answered.some(({ step }) => isStranger(step))
          const isUnclear = refused.some(({ step }) => !isStranger(step) && isDocumentedCheck(step))
          yield* Ref.set(knowsStrangers, isAnswered || (isUnclear ? undefined : false))
          if (isAnswered || isUnclear) return exchanges
        }
        return yield* skip(ownPersonsOnly)
      })

    /** Skips the first probe of a case whose further fields the service does not ignore. */
    const checkIgnored = ({ firstIfIgnored, steps: first }: Case, { steps }: Probe): Effect.Effect<void, Skipped> =>
      Effect.gen(function*() {
        const other = Cases.cases.find(({ id }) => id === firstIfIgnored)
        if (other === undefined || steps !== first) return
        if (read(other.reading, yield* sendSteps(other.steps)) !== "ignored") yield* skip(inapplicable.refusesOthers)
      })

    /** The exchanges of a probe. A case without steps reads exchanges of the other cases. */
    const exchangesOf = (reading: Reading, steps: ReadonlyArray<Step>) =>
      steps.length > 0
        ? sendChecked(reading, steps)
        : Effect.map(
          session.state,
          ({ checks, earlyRefusals, tokenRequests }) =>
            reading === "early refusals" ? earlyRefusals : reading === "every grant" ? tokenRequests : checks
        )

    const outcomeOf = (testCase: Case, each: Probe): Effect.Effect<Outcome, Skipped> =>
      Effect.gen(function*() {
        const { dependsOn, id, reading } = testCase
        const { steps } = each
        const failure = yield* checkPreflight(steps)
        yield* checkIgnored(testCase, each)
        const isPreflight = Preflight.isTokenPreflight(steps) || Preflight.isAmlPreflight(steps)
        const exchanges = Preflight.isAmlPreflight(steps) ? yield* sendCheck : yield* exchangesOf(reading, steps)
        const observed = read(reading, exchanges)
        const details = Curl.detailsOf(reading, observed, exchanges, steps.length > 0, yield* sentAlone)
        if (observed === timeOfSearch && isTooShort(exchanges)) return yield* skip(inapplicable.tooShort)
        const noResult = noResults[reading]
        if (observed === "no result" && noResult !== undefined) return yield* skip(noResult)
        if (isPreflight) {
          const isSkipped = failure !== undefined && failure.caseId !== id && !failure.shownBy.includes(reading)
          return { observed, ...details, ...(isSkipped && { skipped: failure.reason, dependsOn: failure.caseId }) }
        }
        if (dependsOn !== undefined && !Preflight.isRefused(exchanges)) {
          return yield* skip("there was no refusal", dependsOn)
        }
        yield* Ref.update(refusals, Preflight.addRefusal(id, exchanges))
        return { observed, ...details }
      })

    /** What the probes showed that were sent before their cases were observed, and how many requests that took. */
    const early = yield* Ref.make(HashMap.empty<string, readonly [outcome: Outcome, requests: number]>())
    const keyOf = (testCase: Case, each: Probe): string => Plan.nameOf({ testCase, probe: each })

    /** One probe, and how many requests it took. Its skip is an outcome too. */
    const probeOnce = (testCase: Case, each: Probe): Effect.Effect<readonly [Outcome, number]> =>
      withRequests(Effect.catchTag(
        outcomeOf(testCase, each),
        "Skipped",
        (skipped) => Effect.succeed(outcomeOfSkip(skipped))
      ))

    const probe = (testCase: Case, each: Probe) =>
      Effect.flatMap(Ref.get(early), (sent) =>
        Option.match(HashMap.get(sent, keyOf(testCase, each)), {
          onNone: () => probeOnce(testCase, each),
          onSome: (before) => Effect.succeed(before)
        }))

    const sendPlanned: Run["send"] = ({ probe, testCase }) =>
      Effect.gen(function*() {
        if (probe.steps.length === 0) return
        const outcome = yield* oneAtATime.withPermits(1)(probeOnce(testCase, probe))
        yield* Ref.update(early, HashMap.set(keyOf(testCase, probe), outcome))
        if (!isWithoutEffect(outcome[0])) return
        const sent = yield* Ref.get(early)
        const next = Plan.probesOf(target, testCase).find((each) =>
          isBudget(plan.whyNot(testCase, each) ?? "") && !HashMap.has(sent, keyOf(testCase, each))
        )
        if (next !== undefined) yield* sendPlanned({ testCase, probe: next })
      })

    /** Observes the probes in turn. */
    const observeOne = (testCase: Case, probes: ReadonlyArray<Probe>): Effect.Effect<Observation> =>
      Effect.gen(function*() {
        const startedAt = yield* Clock.currentTimeMillis
        const results = yield* Effect.forEach(
          probes,
          (each) => Effect.map(probe(testCase, each), (result) => [each.title, ...result] as const)
        )
        const outcomes = results.map(([title, outcome]) => [title, outcome] as const)
        const requests = results.reduce((sum, [, , requests]) => sum + requests, 0)
        const millis = (yield* Clock.currentTimeMillis) - startedAt
        const all = Plan.probesOf(target, testCase)
        const isUnknown = (yield* Ref.get(knowsStrangers)) === false
        const [unplanned] = all.flatMap((each) => {
          const reason = plan.whyNot(testCase, each)
          return reason === undefined ? [] : isUnknown && each.steps.some(isStranger) ? ownPersonsOnly : reason
        })
        const { aml, token } = yield* Ref.get(failures)
        const failure = token ?? (isOfToken(testCase.steps) ? undefined : aml)
        // A larger budget does not help a case whose documented requests failed.
        const isHopeless = failure !== undefined && outcomes.length === 0 && isBudget(unplanned ?? "")
        const observation: Observation = {
          ...combined(testCase, isHopeless ? [["", outcomeOfSkip(failure)]] : outcomes, unplanned),
          requests,
          millis
        }
        yield* observer.onObservation?.(observation) ?? Effect.void
        return observation
      })

    /** The probes of the plan, and those that took the place of others. */
    const observe: Run["observe"] = (testCase) => {
      const observing = Effect.flatMap(Ref.get(early), (sent) =>
        observeOne(
          testCase,
          Plan.probesOf(target, testCase).filter((each) =>
            plan.whyNot(testCase, each) === undefined || HashMap.has(sent, keyOf(testCase, each))
          )
        ))
      return isIndependent(target, testCase) ? observing : oneAtATime.withPermits(1)(observing)
    }

    /** Sends the documented request if refusals are unconfirmed. Returns why they remain so, or an empty string. */
    const confirmEndpoint = (endpoint: Endpoint): Effect.Effect<string> =>
      Effect.gen(function*() {
        const { apiFailure, lastSuccess } = yield* session.state
        if (!Preflight.hasUnconfirmed(yield* Ref.get(refusals), lastSuccess, endpoint)) return ""
        if (endpoint === "aml" && Option.isSome(apiFailure)) return apiFailure.value
        const sent = yield* endpoint === "token"
          ? session.send(Preflight.tokenStep, session.customer, "")
          : session.sendWithSharedToken(Preflight.amlStep)
        return Preflight.isSuccessOf(endpoint, sent.exchange) ? "" : yield* session.failureOf(endpoint, sent)
      }).pipe(Effect.catchTag("Skipped", ({ reason }) => Effect.succeed(reason)))

    const confirm: Run["confirm"] = (observations) =>
      Effect.gen(function*() {
        yield* pacing.releaseReserve
        const [reasons, requests] = yield* withRequests(
          Effect.all({ token: confirmEndpoint("token"), aml: confirmEndpoint("aml") })
        )
        const { lastSuccess } = yield* session.state
        const confirmed = Preflight.withConfirmed(
          observations,
          yield* Ref.get(refusals),
          lastSuccess,
          (endpoint) => `the refusal is not confirmed: ${reasons[endpoint]}`
        )
        return confirmed.map((observation, i) =>
          i === confirmed.length - 1 ? { ...observation, requests: observation.requests + requests } : observation
        )
      }).pipe(oneAtATime.withPermits(1))

    return { observe, send: sendPlanned, confirm, plan }
  })
