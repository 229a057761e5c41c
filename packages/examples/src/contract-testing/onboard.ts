/**
 * Screens an applicant who wants to open an account, stores the case, and returns one of three messages.
 * A bank's own team might write this module on `AmlClient`; the tests beside it check what it promises.
 *
 * A potential match and an outage of the service return the same message, because a different one would
 * tip off a listed person. The case file records what happened.
 */
import { AmlCheck, AmlClient, Failure, Person } from "@effect-idv/core"
import { Context, Data, Effect } from "effect"

export interface Applicant extends Person.Input {
  /** The bank's own id of the case. */
  readonly reference: string
}

/** The message to the applicant. */
export type Message = Data.TaggedEnum<{
  Welcome: {}
  Pending: {}
  Correction: { readonly issues: ReadonlyArray<Person.Issue> }
}>

export const Message = Data.taggedEnum<Message>()

/**
 * The bank's next step.
 *
 * - `reconcile`: the check was sent and no response arrived. It may be billed, so an employee compares it
 *   with the invoice before it is sent again.
 * - `alert`: every later check will fail too.
 * - `investigate`: the response is not credible, or the service rejected the request.
 */
export type NextStep = "open" | "review" | "correct" | "retry" | "reconcile" | "alert" | "investigate"

/** An entry of the case file. It contains no name and no date of birth. */
export interface Entry {
  readonly reference: string
  readonly next: NextStep
  readonly checkId?: string
  /** The tag of the error, or why a "No" was not enough. */
  readonly reason?: Failure.Failure["_tag"] | "DoubtfulNo"
}

/** The bank's storage of cases. */
export class CaseFile extends Context.Tag("contract-testing/CaseFile")<CaseFile, {
  readonly add: (entry: Entry) => Effect.Effect<void>
}>() {}

interface Decision {
  readonly message: Message
  readonly entry: Omit<Entry, "reference">
}

const nextStepAfter = (failure: Failure.Failure): NextStep => {
  if (failure._tag === "AmlInputRejected") return "correct"
  const { concerns, isRetryable, sent } = Failure.facts(failure)
  if (sent === "unknown") return "reconcile"
  if (concerns === "everyone") return "alert"
  return isRetryable ? "retry" : "investigate"
}

/** A failure says nothing about the person, so it never opens an account. */
const fromFailure = (failure: Failure.Failure): Decision => ({
  message: failure._tag === "AmlInputRejected" ? Message.Correction({ issues: failure.issues }) : Message.Pending(),
  entry: { next: nextStepAfter(failure), reason: failure._tag }
})

/** Screens an applicant, stores the case, and returns the message to the applicant. */
export const onboard = Effect.fn("onboard")(function*(applicant: Applicant) {
  const aml = yield* AmlClient.AmlClient
  const caseFile = yield* CaseFile
  const { entry, message } = yield* Person.make(applicant).pipe(
    Effect.flatMap(aml.check),
    Effect.map(AmlCheck.match({
      onNo: ({ checkId }): Decision => ({ message: Message.Welcome(), entry: { next: "open", checkId } }),
      // The lists do not contain a damaged name, so "No" is not enough.
      onDoubtfulNo: ({ checkId }): Decision => ({
        message: Message.Pending(),
        entry: { next: "review", checkId, reason: "DoubtfulNo" }
      }),
      onPotentialMatch: ({ checkId }): Decision => ({ message: Message.Pending(), entry: { next: "review", checkId } })
    })),
    Effect.catchAll((failure) => Effect.succeed(fromFailure(failure)))
  )
  yield* caseFile.add({ reference: applicant.reference, ...entry })
  return message
})
