/**
 * A sign-up: the key is claimed, the person screened, the decision stored, and only then answered.
 *
 * A "No" is a welcome. Everything else, a match, an outage, a name that looks damaged, is the same
 * answer after the same time, and a case for the back office.
 */
import { AmlClient, AmlCredential, type Evidence, Failure, Person, WebError } from "@effect-idv/core"
import { Config, Context, Data, DateTime, Duration, Effect, Fiber, FiberMap, Layer, Option, Schedule } from "effect"
import { notAvailable } from "./Answers.ts"
import { KeyReused, type SignedUp } from "./Api.ts"
import { type Claim, type Decision, interrupted, Store, type StoreUnavailable, timeout } from "./Store.ts"
import * as Variable from "./Variable.ts"

export interface Service {
  readonly signUp: (
    key: string,
    input: Person.Input
  ) => Effect.Effect<SignedUp, KeyReused | WebError.WebError>
}

export class SignUp extends Context.Tag("onboarding-api/SignUp")<SignUp, Service>() {}

/** The check was performed, and perhaps billed: its result is not given up at once. */
const retries = 5
const firstPause = Duration.millis(100)

/** The longest that all those tries and the pauses between them take: each pause is twice the one before. */
const keepTakes = Duration.sum(Duration.times(timeout, retries + 1), Duration.times(firstPause, 2 ** retries - 1))

/**
 * - `answerAfter`: when whoever is not welcomed is answered; at least twice what storing gets of it.
 * - `atOnce`: how many sign-ups may be under way; whoever comes then is asked to come back.
 * - `lease`: longer than a claim, a check and its storing take, with some for clocks that differ:
 *   then whoever began it is gone.
 * - `gracePeriod`: longer than `lease`, after which whoever waits for another process is decided.
 */
export const settings = Config.all({
  answerAfter: Config.withDefault(Variable.duration("ANSWER_AFTER", "1 second", "1 minute"), Duration.seconds(4)),
  atOnce: Config.withDefault(Variable.integer("SIGN_UPS_AT_ONCE", 1, 10_000), 200)
}).pipe(
  Config.map(({ answerAfter, atOnce }) => {
    const lease = Duration.sum(answerAfter, Duration.sum(timeout, Duration.sum(keepTakes, "5 seconds")))
    return { answerAfter, atOnce, lease, gracePeriod: Duration.sum(lease, Duration.times(timeout, 3)) }
  })
)

interface Screened {
  readonly decision: Decision
  readonly evidence: Option.Option<Evidence.Evidence>
}

const review = (reason: string, sent: Decision["sent"]): Decision => ({ outcome: "review", reason, sent })

const fromEvidence = (evidence: Evidence.Evidence): Screened => ({
  evidence: Option.some(evidence),
  decision: AmlCredential.match<Decision, Decision>(evidence.credential, {
    // A damaged name is found on no list: "No" means less there.
    onNo: () =>
      evidence.warnings.length === 0
        ? { outcome: "clear", reason: "No", sent: "answered" }
        : review("DoubtfulName", "answered"),
    onPotentialMatch: () => review("PotentialMatch", "answered")
  })
})

const fromFailure = (failure: Failure.Failure) => {
  const { sent } = Failure.facts(failure)
  return Effect.as(
    Effect.logWarning("not screened", { reason: failure._tag, sent }),
    { decision: review(failure._tag, sent), evidence: Option.none() }
  )
}

const make = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const store = yield* Store
  const { answerAfter, atOnce, lease } = yield* settings
  // The rest is for claiming and storing: an outage is not to be answered later than a match.
  const deadline = Duration.subtract(answerAfter, "500 millis")

  const screen = (person: Person.Person): Effect.Effect<Screened> =>
    aml.checkWithEvidence(person).pipe(
      AmlClient.withPolicy({ deadline }),
      Effect.map(fromEvidence),
      Effect.catchAll(fromFailure),
      Effect.catchAllDefect(() =>
        Effect.as(Effect.logError("the check died"), {
          decision: review("Defect", "unknown"),
          evidence: Option.none()
        })
      )
    )

  const keep = (applicantId: string, { decision, evidence }: Screened) =>
    Effect.retry(store.decide(applicantId, decision, evidence), {
      schedule: Schedule.exponential(firstPause),
      times: retries
    }).pipe(
      // What was paid for can then be asked about, and the case is found by its id.
      Effect.onError(() =>
        Effect.logError("not stored", {
          applicantId,
          ...(Option.isSome(evidence) && { checkId: evidence.value.checkId })
        })
      )
    )

  /** Of somebody who was there before: by another process, or by one that is gone. */
  const settle = ({ applicantId, startedAt }: Claim) => {
    const isLeft = Effect.map(DateTime.now, (now) => DateTime.greaterThan(now, DateTime.addDuration(startedAt, lease)))
    const look: Effect.Effect<Decision, StoreUnavailable> = store.decision(
      applicantId
    ).pipe(
      Effect.flatMap(Option.match({
        onSome: Effect.succeed,
        onNone: () =>
          Effect.if(isLeft, {
            // Whether the service was asked is not known, so it is not asked again.
            onTrue: () => store.decide(applicantId, interrupted, Option.none()),
            onFalse: () => Effect.delay(Effect.suspend(() => look), "200 millis")
          })
      }))
    )
    return look
  }

  const decide = Effect.fnUntraced(function*(key: string, person: Person.Person) {
    const claim = yield* store.claim(key, person)
    if (!claim.isSamePerson) return yield* new KeyReused()
    const decision = claim.isNew
      ? yield* Effect.flatMap(screen(person), (screened) => keep(claim.applicantId, screened))
      : yield* settle(claim)
    yield* Effect.logInfo("stored", { applicantId: claim.applicantId, isNew: claim.isNew })
    return { ...claim, outcome: decision.outcome }
  })

  const places = yield* Effect.makeSemaphore(atOnce)

  const answer = Effect.fn("SignUp.answer")(
    function*(key: string, person: Person.Person): Effect.fn.Return<SignedUp, KeyReused | WebError.NotAvailable> {
      const { applicantId, outcome, startedAt } = yield* places.withPermitsIfAvailable(1)(decide(key, person)).pipe(
        Effect.flatMap(Option.match({ onNone: () => notAvailable, onSome: Effect.succeed })),
        Effect.catchTag(
          "StoreUnavailable",
          ({ code, operation }) =>
            Effect.zipRight(Effect.logError("the database is not available", { operation, code }), notAvailable)
        )
      )
      if (outcome === "clear") return { applicantId, status: "welcome" }
      // A match is told at once, an outage after its deadline: the time would tell them apart.
      const elapsed = DateTime.distance(startedAt, yield* DateTime.now)
      yield* Effect.sleep(Duration.subtract(Duration.sum(answerAfter, "100 millis"), elapsed))
      return { applicantId, status: "received" }
    }
  )

  // Apart from the request: an applicant who leaves was screened all the same, and is stored.
  const underWay = yield* FiberMap.make<
    { readonly key: string; readonly person: Person.Person },
    SignedUp,
    KeyReused | WebError.NotAvailable
  >()
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeoutOption(FiberMap.awaitEmpty(underWay), lease)))
  const one = yield* Effect.makeSemaphore(1)

  return SignUp.of({
    signUp: Effect.fnUntraced(function*(key: string, input: Person.Input) {
      const person = yield* Effect.mapError(Person.make(input), (rejected) => WebError.fromFailure(rejected))
      const id = Data.struct({ key, person })
      const fiber = yield* FiberMap.get(underWay, id).pipe(
        Effect.orElse(() => FiberMap.run(underWay, id, answer(key, person))),
        one.withPermits(1)
      )
      return yield* Fiber.join(fiber)
    })
  })
})

export const layer = Layer.scoped(SignUp, make)
