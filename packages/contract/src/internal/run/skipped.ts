/** Why a case does not run. */
import * as Data from "effect/Data"

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
  unchanged: "the change makes no difference to this customer or token",
  tooShort: "the run was too short to see the time move"
}

/** The reasons of cases that would exceed the budget of a sandbox. */
export const budgetSpent = (budget: number): string => `the budget of ${budget} requests is spent`
export const checksSpent = (checks: number): string => `the ${checks} checks that may be billed are spent`

export const isBudget = (reason: string): boolean => / (requests is|billed are) spent$/.test(reason)

/** Whether the service no longer responded as before in the middle of the run. */
export const isFailure = (reason: string): boolean =>
  /^(rate limited|the refusal is not confirmed)|the documented request/.test(reason)
