/** Runs an effect when it is first needed, and only then. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { once } from "../journal/once.ts"

/**
 * Returns an effect that waits for the result. The first use starts the run, in a fiber of its own. `Effect.cached`
 * would run it in the fiber of the first request: if that client closed the connection, every later request would be
 * interrupted too.
 */
export const make = <A, R>(effect: Effect.Effect<A, never, R>): Effect.Effect<Effect.Effect<A>, never, R> =>
  Effect.map(Effect.runtime<R>(), (runtime) => Effect.promise(once(() => Runtime.runPromise(runtime)(effect))))
