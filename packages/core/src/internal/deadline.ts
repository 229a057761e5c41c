import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"

/**
 * A deadline that holds whoever calls and whatever is called: also for a caller that cannot be
 * interrupted, and for an `HttpClient` that cannot. So what is called runs in a fiber of its own,
 * which is interrupted and not waited for, and what it sets in its `FiberRef`s stays there. Two
 * fibers are half of what `Effect.disconnect` and `Effect.timeout` take.
 */
export const within =
  <E2>(duration: Duration.Duration, onTimeout: Effect.Effect<never, E2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        Effect.forkDaemon(Effect.interruptible(Effect.zipRight(handled, effect))),
        (running) =>
          Effect.flatMap(Effect.forkDaemon(Effect.interruptible(Effect.sleep(duration))), (timer) => {
            const first = Effect.async<A, E | E2>((resume) => {
              running.addObserver(resume)
              timer.addObserver((exit) => {
                if (exit._tag === "Success") resume(onTimeout)
              })
            })
            // A caller that is interrupted already does not come to wait, and leaves nothing behind.
            return Effect.ensuring(
              restore(first),
              Effect.sync(() => {
                timer.unsafeInterruptAsFork(FiberId.none)
                running.unsafeInterruptAsFork(FiberId.none)
              })
            )
          })
      )
    )

/** Its failure reaches the caller, and is not unhandled because a fiber of ours ended with it. */
const handled = FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none())
