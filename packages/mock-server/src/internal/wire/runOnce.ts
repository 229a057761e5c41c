/** Runs an effect when it is first needed, and again only after a failure. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"

/**
 * Returns an effect that waits for the result. The first use starts the run, in a fiber of its own. `Effect.cached`
 * would run it in the fiber of the first request: if that client closed the connection, every later request would be
 * interrupted too. It would also keep a failure.
 */
export const runOnce = <A, R>(effect: Effect.Effect<A, never, R>): Effect.Effect<Effect.Effect<A>, never, R> =>
  Effect.map(Effect.runtime<R>(), (runtime) => {
    let current: Fiber.RuntimeFiber<A> | undefined
    const start = () => {
      const fiber = Runtime.runFork(runtime)(effect)
      current = fiber
      fiber.addObserver((exit) => {
        if (Exit.isFailure(exit)) current = undefined
      })
      return fiber
    }
    return Effect.flatten(Effect.suspend(() => Fiber.await(current ?? start())))
  })
