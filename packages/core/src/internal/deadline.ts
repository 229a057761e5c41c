import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * A deadline that holds whoever calls and whatever is called: also for a caller that cannot be
 * interrupted, and for an `HttpClient` that cannot.
 */
export const within =
  <E2>(duration: Duration.Duration, onTimeout: Effect.Effect<never, E2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    effect.pipe(
      Effect.disconnect,
      Effect.interruptible,
      Effect.timeoutTo({ duration, onSuccess: Effect.succeed, onTimeout: () => onTimeout }),
      Effect.flatten,
      // Its failure reaches the caller, and is not unhandled because a fiber of ours ended with it.
      Effect.withUnhandledErrorLogLevel(Option.none())
    )
