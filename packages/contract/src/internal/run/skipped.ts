/** Why a case does not run. */
import * as Data from "effect/Data"
import * as TargetOptions from "../targetOptions.ts"

export class Skipped extends Data.TaggedError("Skipped")<{
  readonly reason: string
  /** The id of the failed case that this one depends on. */
  readonly dependsOn?: string
}> {}

export const skip = (reason: string, dependsOn?: string): Skipped =>
  new Skipped({ reason, ...(dependsOn !== undefined && { dependsOn }) })

/** The reasons why a case cannot apply to a target. A report without such a case is complete. */
export const inapplicable = {
  testCustomer: "every id that begins with test- is a customer of the mock server",
  unchanged: "the change makes no difference to this customer, token or person",
  refusesOthers: "the service refuses a further field, so others show nothing",
  tooShort: "the checks of this run took less than 10 s in all, which does not show whether searched_on moves",
  fewPeople: "the run had the results of too few people",
  noRepetition: "the run had no person twice"
}

/** The reasons of cases that would exceed the limits of a sandbox, with the budget that all cases need. */
const enough = (budget: number): string =>
  `${budget} requests are enough, and allow ${TargetOptions.checksOf(budget)} checks that may be billed (--budget)`
export const budgetSpent = (budget: number, sufficient: number): string =>
  `the budget of ${budget} requests is spent; ${enough(sufficient)}`
export const checksSpent = (checks: number, sufficient: number): string =>
  `the budget of ${checks} check${checks === 1 ? "" : "s"} that may be billed is spent; ${enough(sufficient)}`
export const wrongCredentialsSpent = (most: number): string =>
  `a sandbox receives at most ${most} wrong credentials (--wrong-keys)`
export const badTokensSpent = (most: number): string => `a sandbox receives at most ${most} bad tokens (--wrong-keys)`

export const isBudget = (reason: string): boolean => / spent; .*\(--budget\)$|^a sandbox receives at most /.test(reason)

/** Whether the user can change the reason with a flag, which it names at its end. */
export const isChosen = (reason: string): boolean => /\(--[a-z-]+\)$/.test(reason)

/** Whether the service no longer responded as before in the middle of the run. */
export const isFailure = (reason: string): boolean =>
  /^(rate limited|the refusal is not confirmed)|the documented request/.test(reason)
