/**
 * Signs up an applicant: claims the key, screens the person, stores the decision, and then responds.
 *
 * A "No" is a welcome. A match, an outage and a name that looks damaged all get the same response after
 * the same time, and become a case for the back office.
 */
import { AmlCheck, AmlClient, Failure, Person, WebError } from "@effect-idv/core"
import { Config, Context, Data, DateTime, Duration, Effect, Fiber, FiberMap, Layer, Option, Schedule } from "effect"
import { KeyReused, type SignedUp } from "./Api.ts"
import { notAvailable } from "./ErrorResponses.ts"
import { type Claim, type Decision, interrupted, Store, type StoreUnavailable, timeout } from "./Store.ts"
import * as Variable from "./Variable.ts"

export interface Service {
  readonly signUp: (
    key: string,
    input: Person.Input
  ) => Effect.Effect<SignedUp, KeyReused | WebError.WebError>
}

export class SignUp extends Context.Tag("onboarding-api/SignUp")<SignUp, Service>() {}

/** Retries of storing a decision, because the service performed the check and may have billed it. */
const storeRetries = 5
const firstPause = Duration.millis(100)

/** The longest time to store a decision: all attempts, and the pauses between them, each twice the last. */
const maxStoreTime = Duration.sum(
  Duration.times(timeout, storeRetries + 1),
  Duration.times(firstPause, 2 ** storeRetries - 1)
)

/** The settings, from `ANSWER_AFTER` and `SIGN_UPS_AT_ONCE`, and the times that follow from them. */
export const settings = Config.all({
  /** The time of a `received` response. At least twice the part of it that is left for the database. */
  responseAfter: Config.withDefault(Variable.duration("ANSWER_AFTER", "1 second", "1 minute"), Duration.seconds(4)),
  /** The number of sign-ups in flight. Further ones get the 503. */
  maxInFlight: Config.withDefault(Variable.integer("SIGN_UPS_AT_ONCE", 1, 10_000), 200)
}).pipe(
  Config.map(({ maxInFlight, responseAfter }) => {
    // Longer than the claim, the check and storing can take, plus a margin for clocks that differ. After
    // it, the process that started the sign-up cannot be working on it.
    const lease = Duration.sum(responseAfter, Duration.sum(timeout, Duration.sum(maxStoreTime, "5 seconds")))
    // Longer than the lease, so that a request that waits for another process gets a decision.
    const gracePeriod = Duration.sum(lease, Duration.times(timeout, 3))
    return { responseAfter, maxInFlight, lease, gracePeriod }
  })
)

interface Screened {
  readonly decision: Decision
  readonly check: Option.Option<AmlCheck.AmlCheck>
}

const review = (reason: string, sent: Decision["sent"]): Decision => ({ outcome: "review", reason, sent })

const fromCheck = (check: AmlCheck.AmlCheck): Screened => ({
  check: Option.some(check),
  decision: AmlCheck.match<Decision, Decision, Decision>(check, {
    onNo: () => ({ outcome: "clear", reason: "No", sent: "answered" }),
    // The lists do not contain a damaged name, so "No" is not enough.
    onDoubtfulNo: () => review("DoubtfulNo", "answered"),
    onPotentialMatch: () => review("PotentialMatch", "answered")
  })
})

const fromFailure = (failure: Failure.Failure) => {
  const { sent } = Failure.facts(failure)
  return Effect.as(
    Effect.logWarning("not screened", { reason: failure._tag, sent }),
    { decision: review(failure._tag, sent), check: Option.none() }
  )
}

const make = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const store = yield* Store
  const { lease, maxInFlight, responseAfter } = yield* settings
  // Leaves time for the database, so that the response to an outage is not later than that to a match.
  const deadline = Duration.subtract(responseAfter, "500 millis")

  const screen = (person: Person.Person): Effect.Effect<Screened> =>
    aml.check(person).pipe(
      AmlClient.withPolicy({ deadline }),
      Effect.map(fromCheck),
      Effect.catchAll(fromFailure),
      Effect.catchAllDefect(() =>
        Effect.as(Effect.logError("the check failed with a defect"), {
          decision: review("Defect", "unknown"),
          check: Option.none()
        })
      )
    )

  const storeDecision = (applicantId: string, { check, decision }: Screened) =>
    Effect.retry(store.decide(applicantId, decision, check), {
      schedule: Schedule.exponential(firstPause),
      times: storeRetries
    }).pipe(
      // With the check id, an employee can ask the service about a billed check.
      Effect.onError(() =>
        Effect.logError("not stored", {
          applicantId,
          ...(Option.isSome(check) && { checkId: check.value.checkId })
        })
      )
    )

  /** Waits until another process stores the decision, or until its lease expires. */
  const awaitDecision = ({ applicantId, startedAt }: Claim) => {
    const isAbandoned = Effect.map(
      DateTime.now,
      (now) => DateTime.greaterThan(now, DateTime.addDuration(startedAt, lease))
    )
    const poll: Effect.Effect<Decision, StoreUnavailable> = store.decision(
      applicantId
    ).pipe(
      Effect.flatMap(Option.match({
        onSome: Effect.succeed,
        onNone: () =>
          Effect.if(isAbandoned, {
            // The check may have been sent, so it is not sent again.
            onTrue: () => store.decide(applicantId, interrupted, Option.none()),
            onFalse: () => Effect.delay(Effect.suspend(() => poll), "200 millis")
          })
      }))
    )
    return poll
  }

  const decide = Effect.fnUntraced(function*(key: string, person: Person.Person) {
    const claim = yield* store.claim(key, person)
    if (!claim.isSamePerson) return yield* new KeyReused()
    const decision = claim.isNew
      ? yield* Effect.flatMap(screen(person), (screened) => storeDecision(claim.applicantId, screened))
      : yield* awaitDecision(claim)
    yield* Effect.logInfo("stored", { applicantId: claim.applicantId, isNew: claim.isNew })
    return { ...claim, outcome: decision.outcome }
  })

  const permits = yield* Effect.makeSemaphore(maxInFlight)

  const respond = Effect.fn("SignUp.respond")(
    function*(key: string, person: Person.Person): Effect.fn.Return<SignedUp, KeyReused | WebError.NotAvailable> {
      const { applicantId, outcome, startedAt } = yield* permits.withPermitsIfAvailable(1)(decide(key, person)).pipe(
        Effect.flatMap(Option.match({ onNone: () => notAvailable, onSome: Effect.succeed })),
        Effect.catchTag(
          "StoreUnavailable",
          ({ code, operation }) =>
            Effect.zipRight(Effect.logError("the database is not available", { operation, code }), notAvailable)
        )
      )
      if (outcome === "clear") return { applicantId, status: "welcome" }
      // A match is known at once, and an outage only at the deadline: the response time must not differ.
      const elapsed = DateTime.distance(startedAt, yield* DateTime.now)
      yield* Effect.sleep(Duration.subtract(Duration.sum(responseAfter, "100 millis"), elapsed))
      return { applicantId, status: "received" }
    }
  )

  // Runs apart from the request, so that an applicant who disconnects is still stored.
  const inFlight = yield* FiberMap.make<
    { readonly key: string; readonly person: Person.Person },
    SignedUp,
    KeyReused | WebError.NotAvailable
  >()
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeoutOption(FiberMap.awaitEmpty(inFlight), lease)))
  const mutex = yield* Effect.makeSemaphore(1)

  return SignUp.of({
    signUp: Effect.fnUntraced(function*(key: string, input: Person.Input) {
      const person = yield* Effect.mapError(Person.make(input), (rejected) => WebError.fromFailure(rejected))
      const id = Data.struct({ key, person })
      const fiber = yield* FiberMap.get(inFlight, id).pipe(
        Effect.orElse(() => FiberMap.run(inFlight, id, respond(key, person))),
        mutex.withPermits(1)
      )
      return yield* Fiber.join(fiber)
    })
  })
})

export const layer = Layer.scoped(SignUp, make)
