/**
 * Runs effects of the engine in Effect 4, and effects of Effect 4 in the engine. An interruption passes in both directions,
 * and waits until the other fiber has ended. A conversion that throws is a defect.
 */
import * as Effect3 from "effect-3/Effect"
import * as Either3 from "effect-3/Either"
import * as Exit3 from "effect-3/Exit"
import * as FiberId3 from "effect-3/FiberId"
import * as Runtime3 from "effect-3/Runtime"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ambient from "./ambient.ts"
import * as Causes from "./causes.ts"

/** How the value and the error of an effect become those of the other version. */
export interface Conversion<in A, in E, out A2, out E2> {
  readonly onSuccess: (value: A) => A2
  readonly onFailure: (error: E) => E2
}

/** Runs an effect of the engine, with the clock, the tracer, the loggers and the span of the caller. */
export const run = <A3, E3, A, E>(
  effect: Effect3.Effect<A3, E3>,
  { onFailure, onSuccess }: Conversion<A3, E3, A, E>
): Effect.Effect<A, E> =>
  Effect.withFiber<A, E>(({ context }) =>
    Effect.callback<A, E>((resume) => {
      const fiber = Runtime3.runFork(Ambient.runtimeOf(context))(effect)
      fiber.addObserver((exit) =>
        resume(
          Exit3.isSuccess(exit)
            ? Effect.sync(() => onSuccess(exit.value))
            : Effect.suspend(() => Effect.failCause(Causes.toCause(exit.cause, onFailure)))
        )
      )
      return Effect.callback<void>((ended) => {
        fiber.addObserver(() => ended(Effect.void))
        fiber.unsafeInterruptAsFork(FiberId3.none)
      })
    })
  )

/** Runs an effect of Effect 4 in a fiber of the engine, with the services in `context`. */
export const embed = <A, E, R, A3, E3>(
  effect: Effect.Effect<A, E, R>,
  context: Context.Context<R>,
  { onFailure, onSuccess }: Conversion<A, E, A3, E3>
): Effect3.Effect<A3, E3> =>
  Effect3.withFiberRuntime<A3, E3>((caller) =>
    Effect3.async<A3, E3>((resume) => {
      const fiber = Effect.runForkWith(Ambient.within(context, caller))(effect)
      fiber.addObserver((exit) =>
        resume(
          Exit.isSuccess(exit)
            ? Effect3.sync(() => onSuccess(exit.value))
            : Effect3.suspend(() => Effect3.failCause(Causes.fromCause(exit.cause, onFailure)))
        )
      )
      return Effect3.async<void>((ended) => {
        fiber.addObserver(() => ended(Effect3.void))
        fiber.interruptUnsafe()
      })
    })
  )

export const fromEither = <A, E3, E>(
  either: Either3.Either<A, E3>,
  onFailure: (error: E3) => E
): Effect.Effect<A, E> => Either3.isRight(either) ? Effect.succeed(either.right) : Effect.fail(onFailure(either.left))
