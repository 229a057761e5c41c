/** Computes a value, or runs an effect, when it is first needed, and only then. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"

/** Computes a value when it is first needed, and only then. Afterwards it keeps the value alone. */
export const once = <A>(compute: () => A): () => A => {
  let state: { readonly compute: () => A } | { readonly value: A } = { compute }
  return () => {
    if ("compute" in state) state = { value: state.compute() }
    return state.value
  }
}

/**
 * Returns an effect that waits for the result. The first use starts the run, in a fiber of its own. `Effect.cached`
 * would run it in the fiber of the first request: if that client closed the connection, every later request would be
 * interrupted too.
 */
export const runOnce = <A, R>(effect: Effect.Effect<A, never, R>): Effect.Effect<Effect.Effect<A>, never, R> =>
  Effect.map(Effect.runtime<R>(), (runtime) => Effect.promise(once(() => Runtime.runPromise(runtime)(effect))))
