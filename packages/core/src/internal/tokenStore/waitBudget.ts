/**
 * Limits how long a caller waits. Only the time counts in which this process runs. After a process waited for the CPU
 * or was stopped, it first reads the responses that arrived meanwhile, before its wait ends.
 */
import * as Effect from "effect/Effect"
import * as Instant from "../schema/instant.ts"
import * as Deadline from "../wire/deadline.ts"

/** What is left of the limit. Several effects, one after the other, may share it. */
export interface WaitBudget {
  leftMillis: number
}

/**
 * The budget is spent in ticks of this length, so that the process reads responses between two ticks. A tick that ends
 * late, because the process did not run, counts as one tick.
 */
const tickMillis = 10

/** Runs an effect until it ends, or until the budget is spent, and then runs `onTimeout`, as `Deadline.within` does. */
export const within =
  <A2, E2>(budget: WaitBudget, onTimeout: Effect.Effect<A2, E2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | A2, E | E2, R> =>
    Effect.clockWith((clock) => {
      // The clock of a test is never late.
      const longest = Instant.isLive(clock) ? tickMillis : Infinity
      let startedAt = Instant.of(clock)
      const spend = Effect.sync(() => {
        const now = Instant.of(clock)
        budget.leftMillis = Math.max(0, budget.leftMillis - Math.min(longest, Instant.elapsed(startedAt, now)))
        startedAt = now
      })
      const tick = Effect.suspend(() => Effect.sleep(Math.min(longest, budget.leftMillis)))
      const countdown = Effect.zipRight(tick, spend).pipe(
        Effect.repeat({ while: () => budget.leftMillis > 0 }),
        // Reads what arrived during the last tick.
        Effect.zipRight(Effect.sleep(0))
      )
      return effect.pipe(Deadline.until(countdown, onTimeout), Effect.ensuring(spend))
    })
