/** Decides after each check whether a screening ends early. */
import type * as AmlError from "../AmlError.ts"
import * as Failure from "../Failure.ts"

/** Every failure that can end a run: the others are about one person. */
export type Stopped = Exclude<Failure.Failure, AmlError.AmlInputRejected | AmlError.AmlAnswerMismatch>

const canStop = (error: Failure.Failure): error is Stopped =>
  error._tag !== "AmlInputRejected" && error._tag !== "AmlAnswerMismatch"

/**
 * Gives the reason to end the run after a check, if there is one: a failure that concerns everyone, or
 * the last of `stopAfter` in a row that say nothing about the person. A result ends the row, and so does
 * an answer about one person. A person who cannot be sent says nothing of the service, and does neither.
 */
export const make = (stopAfter: number) => {
  let inARow = 0
  return (error: Failure.Failure | undefined): Stopped | undefined => {
    if (error === undefined) {
      inARow = 0
      return undefined
    }
    const { concerns, sent } = Failure.facts(error)
    if (concerns === "service") inARow++
    else if (sent !== "no") inARow = 0
    const isOver = concerns === "everyone" || (concerns === "service" && inARow >= stopAfter)
    return isOver && canStop(error) ? error : undefined
  }
}
