/** Limits how many checks are in flight at once, so that the responses to the first are read before the last are sent. */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Instant from "../schema/instant.ts"
import * as Async from "../wire/async.ts"
import * as Deadline from "../wire/deadline.ts"

/** Makes a limit of `max`. */
export const make = (max: number) => {
  let free = max
  /** The functions that grant a place to a caller. */
  const waiting = new Set<() => void>()

  /** Takes a place if one is free. The caller calls `release` once for each call that returned `true`. */
  const take = (): boolean => {
    if (free === 0) return false
    free--
    return true
  }

  const release = (): void => {
    const [grant] = waiting
    if (grant === undefined) {
      free++
      return
    }
    waiting.delete(grant)
    grant()
  }

  /**
   * Waits for a place, in the order of the calls, in an uninterruptible region of the caller. Then runs `effect` with the
   * time that it waited, in milliseconds, and with whether it has a place, which the effect releases. If it has none,
   * it has waited for the whole deadline. Runs `onInterrupt` instead if the wait is interrupted.
   *
   * Like the deadline of a check in flight, it uses the monotonic clock.
   */
  const wait = <A, E>(restore: Deadline.Restore, { deadline, effect, onInterrupt }: {
    readonly deadline: Duration.Duration
    readonly effect: (waitedMillis: number, hasPlace: boolean) => Effect.Effect<A, E>
    readonly onInterrupt: (cause: Cause.Cause<never>) => Effect.Effect<A, E>
  }): Effect.Effect<A, E> =>
    Effect.withFiberRuntime<A, E>((caller) => {
      const clock = Context.get(caller.currentDefaultServices, Clock.Clock)
      const startedAt = Instant.of(clock).monotonic
      let isGranted = false
      const wait = Async.make<void>((resume) => {
        // A place may have become free since the caller called `take`. No later `release` is certain to come.
        if (take()) {
          isGranted = true
          resume(Effect.void)
          return
        }
        const grant = () => {
          isGranted = true
          cancelTimer()
          resume(Effect.void)
        }
        waiting.add(grant)
        const cancelTimer = Deadline.timerOf(deadline)(caller, () => {
          if (waiting.delete(grant)) resume(Effect.void)
        })
        return () => {
          waiting.delete(grant)
          cancelTimer()
        }
      })
      return Effect.matchCauseEffect(restore(wait), {
        onFailure: (cause) => {
          // The interruption came after the grant.
          if (isGranted) release()
          return onInterrupt(cause)
        },
        onSuccess: () => {
          const waitedMillis = Instant.of(clock).monotonic - startedAt
          return effect(isGranted ? waitedMillis : Math.max(waitedMillis, Duration.toMillis(deadline)), isGranted)
        }
      })
    })

  return { take, release, wait }
}
