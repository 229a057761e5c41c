/** Converts causes and exits between the two versions. */
import * as Failure3 from "@effect-idv/core/Failure"
import * as Cause3 from "effect-3/Cause"
import * as Exit3 from "effect-3/Exit"
import * as FiberId3 from "effect-3/FiberId"
import * as HashSet3 from "effect-3/HashSet"
import * as Schema3 from "effect-3/Schema"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Failures from "./failures.ts"
import * as Values from "./values.ts"

const isFailure3 = Schema3.is(Failure3.Failure)

/** Converts a defect, or an error of unknown type. */
export const unknown = (error: unknown): unknown =>
  isFailure3(error) ? Failures.toFailure(error) : Values.unknown(error)

export const toCause = <E3, E>(cause: Cause3.Cause<E3>, onFailure: (error: E3) => E): Cause.Cause<E> =>
  Cause.fromReasons<E>([
    ...Array.from(Cause3.failures(cause), (error) => Cause.makeFailReason(onFailure(error))),
    ...Array.from(Cause3.defects(cause), (defect) => Cause.makeDieReason(unknown(defect))),
    ...(HashSet3.size(Cause3.interruptors(cause)) > 0 ? [Cause.makeInterruptReason()] : [])
  ])

export const fromCause = <E, E3>(cause: Cause.Cause<E>, onFailure: (error: E) => E3): Cause3.Cause<E3> =>
  cause.reasons.map((reason): Cause3.Cause<E3> => {
    switch (reason._tag) {
      case "Fail":
        return Cause3.fail(onFailure(reason.error))
      case "Die":
        return Cause3.die(reason.defect)
      case "Interrupt":
        return Cause3.interrupt(FiberId3.none)
    }
  }).reduce((left, right) => Cause3.isEmptyType(left) ? right : Cause3.sequential(left, right), Cause3.empty)

/** The exit of a span, without its value, which may be personal data. */
export const toSpanExit = (exit: Exit3.Exit<unknown, unknown>): Exit.Exit<void, unknown> =>
  Exit3.isSuccess(exit) ? Exit.void : Exit.failCause(toCause(exit.cause, unknown))
