import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Instant from "./instant.ts"

/**
 * A deadline that holds whoever calls and whatever is called: also for a caller that cannot be
 * interrupted, and for an `HttpClient` that cannot. So what is called runs in a fiber of its own,
 * which is interrupted and not waited for, and what it sets in its `FiberRef`s stays there. The
 * duration is one that a timer can wait: see `DurationInput`.
 */
export const within =
  <E2>(duration: Duration.Duration, onTimeout: Effect.Effect<never, E2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        Effect.forkDaemon(Effect.interruptible(Effect.zipRight(handled, effect))),
        (running) =>
          Effect.flatMap(timer(duration), ({ cancel, onEnd }) => {
            const first = Effect.async<A, E | E2>((resume) => {
              running.addObserver(resume)
              onEnd(() => resume(onTimeout))
            })
            // A caller that is interrupted already does not come to wait, and leaves nothing behind.
            return Effect.flatMap(Effect.exit(restore(first)), (exit) => {
              cancel()
              if (running.unsafePoll() === null) running.unsafeInterruptAsFork(FiberId.none)
              return exit
            })
          })
      )
    )

/** Its failure reaches the caller, and is not unhandled because a fiber of ours ended with it. */
const handled = FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none())

interface Timer {
  readonly onEnd: (end: () => void) => void
  readonly cancel: () => void
}

/** The live clock would set the same timer, in a fiber that is interrupted nearly every time: a sixth of a check. */
const timer = (duration: Duration.Duration): Effect.Effect<Timer> =>
  Effect.clockWith((clock) =>
    Instant.isLive(clock) ? Effect.sync(() => timeout(duration)) : sleeper(clock.sleep(duration))
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

const sleeper = (sleep: Effect.Effect<void>): Effect.Effect<Timer> =>
  Effect.map(Effect.forkDaemon(Effect.interruptible(sleep)), (sleeping) => ({
    onEnd: (end) =>
      sleeping.addObserver((exit) => {
        if (exit._tag === "Success") end()
      }),
    cancel: () => sleeping.unsafeInterruptAsFork(FiberId.none)
  }))
