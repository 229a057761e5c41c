/** Runs an effect with a deadline. */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type * as RuntimeFlags from "effect/RuntimeFlags"
import * as Instant from "../schema/instant.ts"

/**
 * Runs an effect in a separate fiber until the deadline, and then runs `onTimeout`. The deadline applies even if the
 * caller or the effect is uninterruptible, as an `HttpClient` may be: the fiber is interrupted, and the caller does not
 * wait for its end. Changes of `FiberRef`s in the fiber do not reach the caller. `DurationInput` limits the duration to
 * what a timer can wait.
 */
export const within = <A2, E2>(duration: Duration.Duration, onTimeout: Effect.Effect<A2, E2>) =>
  withTimer(timerOf(duration), onTimeout)

/** Like {@link within}, but the deadline is the time at which the effect `end` succeeds. */
export const until = <A2, E2>(end: Effect.Effect<void>, onTimeout: Effect.Effect<A2, E2>) =>
  withTimer((caller, onEnd) => startSleep(caller, end, onEnd), onTimeout)

const withTimer =
  <A2, E2>(startTimer: StartTimer, onTimeout: Effect.Effect<A2, E2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | A2, E | E2, R> =>
    Effect.contextWithEffect((context: Context.Context<R>) =>
      Effect.uninterruptibleMask((restore) => run(effect, restore, { context, startTimer, onTimeout }))
    )

/** Runs an effect as interruptible as it was outside of the region that `Effect.uninterruptibleMask` makes. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

type Caller = Fiber.RuntimeFiber<unknown, unknown>

/** Calls `onEnd` after some time, unless the caller calls the returned function before. */
type StartTimer = (caller: Caller, onEnd: () => void) => () => void

/** Options of {@link run}. */
export interface Options<in R, in A, in out A2, in E, in out E2> {
  /** The context of the separate fiber. */
  readonly context: Context.Context<R>
  readonly startTimer: StartTimer
  readonly onTimeout: Effect.Effect<A2, E2>
  /** Runs in the caller, even if the caller is interrupted before the effect starts. */
  readonly onExit?: (exit: Exit.Exit<A | A2, E | E2>) => Effect.Effect<void>
}

/** As {@link within}, with all options, in an uninterruptible region of the caller. */
export const run = <A, E, R, A2, E2>(
  effect: Effect.Effect<A, E, R>,
  restore: Restore,
  { context, onExit, onTimeout, startTimer }: Options<R, A, A2, E, E2>
): Effect.Effect<A | A2, E | E2> =>
  Effect.withFiberRuntime<A | A2, E | E2>((caller, { runtimeFlags }) => {
    let fiber: Fiber.RuntimeFiber<A, E> | undefined
    let cancelTimer: (() => void) | undefined
    // A caller that is already interrupted does not start the fiber.
    const firstExit = Effect.async<A | A2, E | E2>((resume) => {
      fiber = fork(caller, { context, runtimeFlags }, effect)
      if (fiber.unsafePoll() === null) cancelTimer = startTimer(caller, () => resume(onTimeout))
      fiber.addObserver(resume)
    })
    const end = (exit: Exit.Exit<A | A2, E | E2>) => {
      cancelTimer?.()
      if (fiber?.unsafePoll() === null) fiber.unsafeInterruptAsFork(FiberId.none)
      return onExit === undefined ? exit : Effect.zipRight(onExit(exit), exit)
    }
    // A canceler would not run if the caller yields after the start of the fiber and is interrupted before it waits.
    return Effect.matchCauseEffect(restore(firstExit), {
      onFailure: (cause: Cause.Cause<E | E2>) => end(Exit.failCause(cause)),
      onSuccess: (value) => end(Exit.succeed(value))
    })
  })

/**
 * Starts a fiber that does not end with its caller. `Effect.forkDaemon` would wait for a turn of the scheduler. With
 * flags of an uninterruptible caller, the fiber is interruptible only within its effect, so it can silence its failure.
 */
const fork = <A, E, R>(
  caller: Caller,
  options: { readonly context: Context.Context<R>; readonly runtimeFlags: RuntimeFlags.RuntimeFlags },
  effect: Effect.Effect<A, E, R>
): Fiber.RuntimeFiber<A, E> =>
  Runtime.runFork(
    Runtime.make({ ...options, fiberRefs: caller.getFiberRefs() }),
    Effect.matchCauseEffect(Effect.interruptible(effect), { onFailure: failWithoutLog, onSuccess: Effect.succeed })
  )

/** The caller receives the failure, so the fiber must not log it as unhandled. */
const failWithoutLog = <E>(cause: Cause.Cause<E>): Effect.Effect<never, E> =>
  Effect.zipRight(FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none()), Effect.failCause(cause))

/**
 * Sets a timer without a fiber if the clock is the live one. A fiber that runs `Clock.sleep` would take a sixth of the
 * time of a check.
 */
export const timerOf = (duration: Duration.Duration): StartTimer => {
  const millis = Duration.toMillis(duration)
  return (caller, onEnd) => {
    const clock = Context.get(caller.currentDefaultServices, Clock.Clock)
    if (!Instant.isLive(clock)) return startSleep(caller, clock.sleep(duration), onEnd)
    const handle = setTimeout(onEnd, millis)
    return () => clearTimeout(handle)
  }
}

const startSleep = (caller: Caller, sleep: Effect.Effect<void>, onEnd: () => void) => {
  const options = { context: caller.currentContext, runtimeFlags: Runtime.defaultRuntimeFlags }
  const fiber = fork(caller, options, sleep)
  fiber.addObserver((exit) => {
    if (Exit.isSuccess(exit)) onEnd()
  })
  return () => fiber.unsafeInterruptAsFork(FiberId.none)
}
