/**
 * What a bank's own team might build on `AmlClient`: somebody wants an account, is screened, and is told
 * one of three things. This is the consumer that the tests beside it keep to its contract.
 *
 * The applicant is told the same for a potential match as for a service that is down: anything else
 * would tip off a listed person. What really happened is in the case file.
 */
import { AmlClient, AmlCredential, Failure, Person, type PersonInput } from "@effect-idv/core"
import { Context, Data, Effect } from "effect"

/** `reference` is the bank's own, to know the case by. */
export interface Applicant extends Person.Input {
  readonly reference: string
}

/** What the applicant is told. */
export type Answer = Data.TaggedEnum<{
  Welcome: {}
  Pending: {}
  Correction: { readonly issues: ReadonlyArray<PersonInput.Issue> }
}>

export const Answer = Data.taggedEnum<Answer>()

/**
 * What the bank does next.
 *
 * - `reconcile`: it was sent and no answer came. It may be on the bill, so somebody looks before it is
 *   sent again.
 * - `alert`: every later check fails too.
 * - `investigate`: the answer is not to be believed, or the request was refused.
 */
export type Next = "open" | "review" | "correct" | "retry" | "reconcile" | "alert" | "investigate"

/**
 * An entry of the case file. `because` is the tag of a failure, or why a "No" was not enough. There is no
 * name in it.
 */
export interface Entry {
  readonly reference: string
  readonly next: Next
  readonly checkId?: string
  readonly because?: Failure.Failure["_tag"] | "DoubtfulName"
}

/** Where the bank keeps its cases. */
export class CaseFile extends Context.Tag("contract-testing/CaseFile")<CaseFile, {
  readonly add: (entry: Entry) => Effect.Effect<void>
}>() {}

interface Decision {
  readonly answer: Answer
  readonly entry: Omit<Entry, "reference">
}

const nextAfter = (failure: Failure.Failure): Next => {
  if (failure._tag === "AmlInputRejected") return "correct"
  const { concerns, isRetryable, sent } = Failure.facts(failure)
  if (sent === "unknown") return "reconcile"
  if (concerns === "everyone") return "alert"
  return isRetryable ? "retry" : "investigate"
}

/** A failure says nothing about the person, so nobody gets an account by one. */
const withoutResult = (failure: Failure.Failure): Decision => ({
  answer: failure._tag === "AmlInputRejected" ? Answer.Correction({ issues: failure.issues }) : Answer.Pending(),
  entry: { next: nextAfter(failure), because: failure._tag }
})

/** Screens an applicant, writes down the case, and gives what the applicant is told. */
export const onboard = Effect.fn("onboard")(function*(applicant: Applicant) {
  const aml = yield* AmlClient.AmlClient
  const cases = yield* CaseFile
  const { answer, entry } = yield* Person.make(applicant).pipe(
    Effect.flatMap(aml.checkWithEvidence),
    Effect.map(({ checkId, credential, warnings }) =>
      AmlCredential.match(credential, {
        // A damaged name is found on no list: "No" means less there.
        onNo: (): Decision =>
          warnings.length === 0
            ? { answer: Answer.Welcome(), entry: { next: "open", checkId } }
            : { answer: Answer.Pending(), entry: { next: "review", checkId, because: "DoubtfulName" } },
        onPotentialMatch: (): Decision => ({ answer: Answer.Pending(), entry: { next: "review", checkId } })
      })
    ),
    Effect.catchAll((failure) => Effect.succeed(withoutResult(failure)))
  )
  yield* cases.add({ reference: applicant.reference, ...entry })
  return answer
})
