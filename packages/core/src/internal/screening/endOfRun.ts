/** Reads from the exit of a check what a screening needs to know, and whether the screening ends early. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { AmlCheck } from "../../AmlCheck.ts"
import type * as AmlError from "../../AmlError.ts"
import * as Failure from "../../Failure.ts"

export type CheckExit = Exit.Exit<AmlCheck, Failure.Failure>

export const failureOf = (exit: CheckExit): Failure.Failure | undefined =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined

/** Whether the end of the grace period interrupted the check. */
export const isInterrupted = (exit: CheckExit): boolean => Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)

export const rateLimitOf = (exit: CheckExit): AmlError.AmlRateLimited | undefined => {
  const error = failureOf(exit)
  return error?._tag === "AmlRateLimited" ? error : undefined
}

/** Whether a response other than 429 arrived. It resets the length of the pauses. */
export const hasResponseOtherThan429 = (exit: CheckExit): boolean => {
  const error = failureOf(exit)
  return Exit.isSuccess(exit) ||
    (error !== undefined && error._tag !== "AmlRateLimited" && Failure.facts(error).sent === "answered")
}

/** The failures that can end a run. The others concern one person. */
export type Stopped = Exclude<Failure.Failure, AmlError.AmlInputRejected | AmlError.AmlResponseMismatch>

/**
 * Returns a function that takes the failure of each check, or `undefined` after a result, and returns the reason to end
 * the run: a failure that concerns everyone, or the last of `stopAfter` consecutive failures that concern the service.
 * A result, or a failure that concerns one person, resets the count. Rejected input leaves the count unchanged.
 */
export const make = (stopAfter: number) => {
  let consecutive = 0
  return (error: Failure.Failure | undefined): Stopped | undefined => {
    if (error === undefined || error._tag === "AmlResponseMismatch") {
      consecutive = 0
      return undefined
    }
    if (error._tag === "AmlInputRejected") return undefined
    const { concerns } = Failure.facts(error)
    consecutive = concerns === "service" ? consecutive + 1 : 0
    return concerns === "everyone" || consecutive >= stopAfter ? error : undefined
  }
}
