/**
 * Screens all names of an applicant, and stores the decision. The worst result decides: a potential match, then a check
 * without a result, then a doubtful "No".
 */
import { AmlCheck, AmlClient, Failure, Person, WebError } from "@effect-idv/core"
import { HttpApiError } from "@effect/platform"
import { Array as Arr, Context, Duration, Effect, Either, Layer, Option, Order, Schedule } from "effect"
import { type Decision as Checked, decisionOf } from "../recipes/screening.ts"
import type { SignUpForm } from "./Api.ts"
import * as Settings from "./Settings.ts"
import { type Decision, Store, type StoreUnavailable } from "./Store.ts"

/** The applicant under each name. The first is the one that the applicant gave as theirs. */
export type People = Arr.NonEmptyReadonlyArray<Person.Person>

/** Each name once, because each is a check. The error names the position of another name that cannot be sent. */
export const peopleOf = (
  { dateOfBirth, name, otherNames }: typeof SignUpForm.Type
): Effect.Effect<People, WebError.WebError | HttpApiError.HttpApiDecodeError> =>
  Effect.gen(function*() {
    const person = yield* Effect.mapError(Person.make({ name, dateOfBirth }), (error) => WebError.fromFailure(error))
    const others = yield* Effect.forEach(
      otherNames,
      (name, index) =>
        Effect.mapError(Person.make({ name, dateOfBirth }), () =>
          new HttpApiError.HttpApiDecodeError({
            message: "The request cannot be read",
            issues: [{ _tag: "Type", path: ["otherNames", index], message: "does not match the API definition" }]
          }))
    )
    return Arr.dedupe(Arr.prepend(others, person))
  })

export class Screening extends Context.Tag("onboarding-api/Screening")<Screening, {
  /**
   * Checks each name, and stores the decision of this attempt, also about the checks of earlier attempts. Returns the
   * decision that is stored.
   */
  readonly screen: (
    applicant: { readonly applicantId: string; readonly attempt: number },
    people: ReadonlyArray<Person.Person>,
    earlier?: ReadonlyArray<AmlCheck.AmlCheck>
  ) => Effect.Effect<Decision, StoreUnavailable>
}>() {}

/** In the order of the results. */
const severity = ({ check }: Checked) =>
  check === undefined ? 1 : AmlCheck.match(check, { onPotentialMatch: () => 0, onDoubtfulNo: () => 2, onNo: () => 3 })

/** `clear` only if every name got a "No". */
const decisionOfAll = (decisions: ReadonlyArray<Checked>, earlier: ReadonlyArray<AmlCheck.AmlCheck>): Decision => {
  const [worst = defect, ...others] = Arr.sortWith(
    [...decisions, ...earlier.map((check) => decisionOf(Either.right(check)))],
    severity,
    Order.number
  )
  const sent = decisions.map(({ sent }) => sent)
  return {
    outcome: [worst, ...others].every(({ outcome }) => outcome === "clear") ? "clear" : "review",
    reason: worst.reason,
    sent: sent.includes("unknown") ? "unknown" : sent.includes("answered") ? "answered" : "no",
    checks: sent.filter((sent) => sent !== "no").length
  }
}

const defect: Checked = { outcome: "review", reason: "Defect", sent: "unknown" }

const make = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const store = yield* Store
  const { responseAfter } = yield* Settings.settings
  // Leaves time for the database, so that the response to an outage is not later than that to a match.
  const deadline = Duration.subtract(responseAfter, "500 millis")

  const check = (person: Person.Person): Effect.Effect<Checked> =>
    aml.check(person).pipe(
      AmlClient.withPolicy({ deadline }),
      Effect.tapError((failure) =>
        Effect.logWarning("not screened", { reason: failure._tag, sent: Failure.facts(failure).sent })
      ),
      Effect.either,
      Effect.map(decisionOf),
      Effect.catchAllDefect(() => Effect.as(Effect.logError("the check failed with a defect"), defect))
    )

  return Screening.of({
    screen: Effect.fnUntraced(function*({ applicantId, attempt }, people, earlier = []) {
      const decisions = yield* Effect.forEach(people, check, { concurrency: "unbounded" })
      const checks = Arr.filterMap(decisions, ({ check }) => Option.fromNullable(check))
      const decision = decisionOfAll(decisions, earlier)
      return yield* Effect.retry(store.decide(applicantId, attempt, decision, checks), {
        schedule: Schedule.exponential(Settings.firstPause),
        times: Settings.storeRetries
      }).pipe(
        // With the ids of the checks, an employee can ask the service about billed checks.
        Effect.onError(() =>
          Effect.logError("not stored", {
            applicantId,
            ...(checks.length > 0 && { checkIds: checks.map(({ checkId }) => checkId) })
          })
        ),
        Effect.tap(() => Effect.logInfo("stored", { applicantId, attempt, checks: decision.checks }))
      )
    })
  })
})

export const layer = Layer.effect(Screening, make)
