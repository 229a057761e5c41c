/** Decides after each check whether a screening ends early. */
import type * as AmlError from "../AmlError.ts"
import * as Failure from "../Failure.ts"

/** The failures that can end a run. The others concern one person. */
export type Stopped = Exclude<Failure.Failure, AmlError.AmlInputRejected | AmlError.AmlAnswerMismatch>

/**
 * Returns a function that takes the failure of each check, or `undefined` after a result, and returns the reason to end
 * the run: a failure that concerns everyone, or the last of `stopAfter` consecutive failures that concern the service.
 * A result, or a failure that concerns one person, resets the count. Rejected input leaves the count unchanged.
 */
export const make = (stopAfter: number) => {
  let consecutive = 0
  return (error: Failure.Failure | undefined): Stopped | undefined => {
    if (error === undefined || error._tag === "AmlAnswerMismatch") {
      consecutive = 0
      return undefined
    }
    if (error._tag === "AmlInputRejected") return undefined
    const { concerns } = Failure.facts(error)
    consecutive = concerns === "service" ? consecutive + 1 : 0
    return concerns === "everyone" || consecutive >= stopAfter ? error : undefined
  }
}
