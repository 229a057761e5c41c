/** Runs a fiber that yields at any step, so that a test can interrupt it there. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"

export const moments = Arr.cartesianWith(Arr.range(1, 4), Arr.range(0, 30), (steps, ticks) => ({ steps, ticks }))

/**
 * Forks the effect, and returns its fiber after `ticks` turns of the scheduler. The fiber yields about every four steps.
 * With 1 to 4 `steps` before the effect, it yields at each. With fewer than 11 operations, a fiber would only yield.
 */
export const forkUntil = <A, E, R>(
  { steps, ticks }: { readonly steps: number; readonly ticks: number },
  effect: Effect.Effect<A, E, R>
) =>
  Arr.reduce(Arr.range(1, steps), effect, (next) => Effect.suspend(() => next)).pipe(
    Effect.withMaxOpsBeforeYield(11),
    Effect.fork,
    Effect.zipLeft(Effect.repeatN(Effect.yieldNow(), ticks))
  )
