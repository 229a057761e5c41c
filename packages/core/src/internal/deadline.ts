import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

/**
 * A deadline that holds whoever calls and whatever is called: also for a caller that cannot be
 * interrupted, and for an `HttpClient` that cannot. What is too late is interrupted, and not waited
 * for; neither is it when the caller is interrupted.
 *
 * Two fibers of its own, where `Effect.disconnect` and `Effect.timeout` take four and carry every
 * fiber ref back.
 */
export const within =
  <E2>(duration: Duration.Duration, onTimeout: Effect.Effect<never, E2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const ended = yield* Deferred.make<Exit.Exit<A, E> | undefined>()
        const tell = (exit: Exit.Exit<A, E> | undefined) => Deferred.succeed(ended, exit)
        const running = yield* Effect.forkDaemon(Effect.flatMap(Effect.exit(Effect.interruptible(effect)), tell))
        const timer = yield* Effect.forkDaemon(
          Effect.zipRight(Effect.interruptible(Effect.sleep(duration)), tell(undefined))
        )
        const stop = Effect.zipRight(Fiber.interruptFork(timer), Fiber.interruptFork(running))
        const exit = yield* Effect.onInterrupt(restore(Deferred.await(ended)), () => stop)
        yield* exit === undefined ? stop : Fiber.interruptFork(timer)
        return yield* exit ?? onTimeout
      })
    )
