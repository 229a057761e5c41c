/** Runs an effect with a deadline. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Instant from "./instant.ts"

/**
 * Runs an effect in a separate fiber until the deadline, and then runs `onTimeout`. The deadline applies even if the
 * caller or the effect is uninterruptible, as an `HttpClient` may be: the fiber is interrupted, and the caller does not
 * wait for its end. Changes of `FiberRef`s in the fiber do not reach the caller. `DurationInput` limits the duration to
 * what a timer can wait.
 */
export const within = <A2, E2>(duration: Duration.Duration, onTimeout: Effect.Effect<A2, E2>) =>
  withTimer(timer(duration), onTimeout)

/** Like {@link within}, but the deadline is the time at which the effect `end` succeeds. */
export const until = <A2, E2>(end: Effect.Effect<void>, onTimeout: Effect.Effect<A2, E2>) =>
  withTimer(sleepTimer(end), onTimeout)

const withTimer =
  <A2, E2>(timer: Effect.Effect<Timer>, onTimeout: Effect.Effect<A2, E2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | A2, E | E2, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        Effect.forkDaemon(Effect.interruptible(Effect.zipRight(withoutUnhandledLog, effect))),
        (fiber) =>
          Effect.flatMap(timer, ({ cancel, onEnd }) => {
            const firstExit = Effect.async<A | A2, E | E2>((resume) => {
              fiber.addObserver(resume)
              onEnd(() => resume(onTimeout))
            })
            // A caller that is already interrupted does not wait. Its timer and its fiber end here too.
            return Effect.flatMap(Effect.exit(restore(firstExit)), (exit) => {
              cancel()
              if (fiber.unsafePoll() === null) fiber.unsafeInterruptAsFork(FiberId.none)
              return exit
            })
          })
      )
    )

/** The caller receives the failure, so the fiber must not log it as unhandled. */
const withoutUnhandledLog = FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none())

interface Timer {
  readonly onEnd: (end: () => void) => void
  readonly cancel: () => void
}

/**
 * Sets a timer without a fiber if the clock is the live one. A fiber that runs `Clock.sleep` would take a sixth of the
 * time of a check.
 */
const timer = (duration: Duration.Duration): Effect.Effect<Timer> =>
  Effect.clockWith((clock) =>
    Instant.isLive(clock) ? Effect.sync(() => timeout(duration)) : sleepTimer(clock.sleep(duration))
  )

const timeout = (duration: Duration.Duration): Timer => {
  let handle: ReturnType<typeof setTimeout> | undefined
  return {
    onEnd: (end) => {
      handle = setTimeout(end, Duration.toMillis(duration))
    },
    cancel: () => clearTimeout(handle)
  }
}

const sleepTimer = (sleep: Effect.Effect<void>): Effect.Effect<Timer> =>
  Effect.map(Effect.forkDaemon(Effect.interruptible(sleep)), (sleepFiber) => ({
    onEnd: (end) =>
      sleepFiber.addObserver((exit) => {
        if (exit._tag === "Success") end()
      }),
    cancel: () => sleepFiber.unsafeInterruptAsFork(FiberId.none)
  }))
