import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

/**
 * Provides a service for the rest of the fiber. `Effect.provideService` restores the context afterwards, which takes
 * ten times as many steps, so this is for fibers in which no effect of the user runs later.
 */
export const provide = <I, S>(tag: Context.Tag<I, S>, service: S): Effect.Effect<void> =>
  FiberRef.update(FiberRef.currentContext, Context.add(tag, service))
