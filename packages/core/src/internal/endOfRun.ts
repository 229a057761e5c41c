/** Decides after each check whether a screening ends early. */
import type * as AmlError from "../AmlError.ts"
import * as Failure from "../Failure.ts"

/** The failures that can end a run. The others concern one person. */
export type Stopped = Exclude<Failure.Failure, AmlError.AmlInputRejected | AmlError.AmlAnswerMismatch>

const canStop = (error: Failure.Failure): error is Stopped =>
  error._tag !== "AmlInputRejected" && error._tag !== "AmlAnswerMismatch"

/**
 * Returns a function that takes the failure of each check, or `undefined` after a result, and returns the reason to end
 * the run: a failure that concerns everyone, or the last of `stopAfter` consecutive failures that concern the service.
 * A result or a response about one person resets the count. A person who cannot be sent leaves it unchanged.
 */
export const make = (stopAfter: number) => {
  let consecutive = 0
  return (error: Failure.Failure | undefined): Stopped | undefined => {
    if (error === undefined) {
      consecutive = 0
      return undefined
    }
    const { concerns, sent } = Failure.facts(error)
    if (concerns === "service") consecutive++
    else if (sent !== "no") consecutive = 0
    const isOver = concerns === "everyone" || (concerns === "service" && consecutive >= stopAfter)
    return isOver && canStop(error) ? error : undefined
  }
}
