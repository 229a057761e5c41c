/**
 * Signs up an applicant: claims the key, screens the names, stores the decision, and then responds.
 *
 * A "No" is a welcome. A match, an outage and a name that looks damaged all get the same response after
 * the same time, and become a case for the back office.
 */
import type { WebError } from "@effect-idv/core"
import type { HttpApiError } from "@effect/platform"
import { Clock, Context, Data, DateTime, Duration, Effect, Fiber, FiberMap, Layer, Option } from "effect"
import { KeyReused, type SignedUp, type SignUpForm } from "./Api.ts"
import { Cases } from "./Cases.ts"
import { notAvailable } from "./ErrorResponses.ts"
import { type People, peopleOf, Screening } from "./Screening.ts"
import { settings } from "./Settings.ts"
import { type Claim, type Decision, interrupted, Store, type StoreUnavailable } from "./Store.ts"

type Rejected = KeyReused | WebError.WebError | HttpApiError.HttpApiDecodeError

export class SignUp extends Context.Tag("onboarding-api/SignUp")<SignUp, {
  readonly signUp: (key: string, form: typeof SignUpForm.Type) => Effect.Effect<SignedUp, Rejected>
}>() {}

const inReview: Decision = { outcome: "review", reason: "InReview", sent: "no", checks: 0 }

const make = Effect.gen(function*() {
  const { isInReview } = yield* Cases
  const { screen } = yield* Screening
  const store = yield* Store
  const { lease, maxInFlight, maxPerSecond, responseAfter } = yield* settings

  /** Waits until another process stores the decision, or until its lease expires. */
  const awaitDecision = ({ applicantId, startedAt }: Claim, people: People) => {
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
            // The checks may have been sent, so they are not sent again.
            onTrue: () => store.decide(applicantId, 1, interrupted(people.length)),
            onFalse: () => Effect.delay(Effect.suspend(() => poll), "200 millis")
          })
      }))
    )
    return poll
  }

  const decide = Effect.fnUntraced(function*(key: string, people: People, form: typeof SignUpForm.Type) {
    const claim = yield* store.claim(key, people, form)
    if (!claim.isSamePerson) return yield* new KeyReused()
    const decision = !claim.isNew
      ? awaitDecision(claim, people)
      // A second form after an outage would otherwise reveal a match: an outage ends, and a match does not.
      : (yield* isInReview(claim.applicantId, people))
      ? store.decide(claim.applicantId, 1, inReview)
      : screen({ ...claim, attempt: 1 }, people)
    return { ...claim, outcome: (yield* decision).outcome }
  })

  const permits = yield* Effect.makeSemaphore(maxInFlight)
  let starts: ReadonlyArray<number> = []
  const isWithinRate = Effect.map(Clock.currentTimeMillis, (now) => {
    const lastSecond = starts.filter((start) => start > now - 1000)
    const isWithin = lastSecond.length < maxPerSecond
    starts = isWithin ? [...lastSecond, now] : lastSecond
    return isWithin
  })

  const respond = Effect.fn("SignUp.respond")(
    function*(
      key: string,
      people: People,
      form: typeof SignUpForm.Type
    ): Effect.fn.Return<SignedUp, KeyReused | WebError.NotAvailable> {
      const decided = Effect.if(isWithinRate, { onTrue: () => decide(key, people, form), onFalse: () => notAvailable })
      const [took, { applicantId, isNew, outcome, startedAt }] = yield* permits.withPermitsIfAvailable(1)(decided).pipe(
        Effect.flatMap(Option.match({ onNone: () => notAvailable, onSome: Effect.succeed })),
        Effect.catchTag(
          "StoreUnavailable",
          ({ code, operation }) =>
            Effect.zipRight(Effect.logError("the database is not available", { operation, code }), notAvailable)
        ),
        // Monotonic: if the wall clock is set, the response time must not reveal the reason.
        Effect.timed
      )
      if (outcome === "clear") return { applicantId, status: "welcome" }
      // A match is known at once, and an outage only at the deadline: the response time must not differ.
      const elapsed = isNew ? took : DateTime.distance(startedAt, yield* DateTime.now)
      yield* Effect.sleep(Duration.subtract(Duration.sum(responseAfter, "100 millis"), elapsed))
      return { applicantId, status: "received" }
    }
  )

  // Runs apart from the request, so that an applicant who disconnects is still stored.
  const inFlight = yield* FiberMap.make<
    { readonly key: string; readonly people: People },
    SignedUp,
    KeyReused | WebError.NotAvailable
  >()
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeoutOption(FiberMap.awaitEmpty(inFlight), lease)))
  const mutex = yield* Effect.makeSemaphore(1)

  return SignUp.of({
    signUp: Effect.fnUntraced(function*(key, form) {
      const people = yield* peopleOf(form)
      const id = Data.struct({ key, people: Data.array(people) })
      const fiber = yield* FiberMap.get(inFlight, id).pipe(
        Effect.orElse(() => FiberMap.run(inFlight, id, respond(key, people, form))),
        mutex.withPermits(1)
      )
      return yield* Fiber.join(fiber)
    })
  })
})

export const layer = Layer.scoped(SignUp, make)
