/** Waits for a callback. */
import * as Effect from "effect/Effect"

/**
 * Like `Effect.async` with a function instead of an effect to cancel. It also cancels if the fiber yields after
 * `register` and is interrupted before it waits: `Effect.async` would ignore its canceler then.
 */
export const make = <A, E = never>(
  register: (resume: (effect: Effect.Effect<A, E>) => void) => (() => void) | undefined
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    let cancel: (() => void) | undefined
    const wait = Effect.async<A, E>((resume) => {
      cancel = register(resume)
    })
    return Effect.onInterrupt(wait, () => Effect.sync(() => cancel?.()))
  })
