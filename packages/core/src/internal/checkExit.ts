/** Reads from the exit of a check what a screening needs to know. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { AmlCheck } from "../AmlCheck.ts"
import type * as AmlError from "../AmlError.ts"
import * as Failure from "../Failure.ts"

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
