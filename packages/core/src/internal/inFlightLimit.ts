/** Limits how many checks are in flight at once, so that the responses to the first are read before the last are sent. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Deadline from "./deadline.ts"
import * as Instant from "./instant.ts"

/** Makes a limit of `max`. */
export const make = (max: number) => {
  let free = max
  /** The functions that grant a place to a caller. */
  const waiting = new Set<() => void>()

  const hasFree = (): boolean => free > 0

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
   * Waits for a place, in the order of the calls, and holds it while the effect runs. The effect receives how long it
   * waited, in milliseconds. If that is the whole deadline, it holds no place, and must only fail.
   *
   * A place may have become free since the caller called `hasFree`, because a fiber may yield at any step. No later
   * `release` is certain to come, so the place is taken at once.
   */
  const wait = <A, E>(
    deadline: Duration.Duration,
    effect: (waitedMillis: number) => Effect.Effect<A, E>
  ): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) => {
      const runAndRelease = (waitedMillis: number) =>
        Effect.matchCauseEffect(restore(effect(waitedMillis)), {
          onFailure: (cause) => {
            release()
            return Effect.failCause(cause)
          },
          onSuccess: (value) => {
            release()
            return Effect.succeed(value)
          }
        })
      return Effect.withFiberRuntime<A, E>((caller) => {
        const clock = Context.get(caller.currentDefaultServices, Clock.Clock)
        const startedAt = Instant.of(clock)
        let isGranted = false
        const wait = Effect.async<void>((resume) => {
          if (take()) {
            isGranted = true
            return resume(Effect.void)
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
          return Effect.sync(() => {
            waiting.delete(grant)
            cancelTimer()
          })
        })
        return Effect.matchCauseEffect(restore(wait), {
          onFailure: (cause) => {
            // The interruption came after the grant.
            if (isGranted) release()
            return Effect.failCause(cause)
          },
          onSuccess: () => {
            const waitedMillis = Instant.elapsed(startedAt, Instant.of(clock))
            return isGranted
              ? runAndRelease(waitedMillis)
              : restore(effect(Math.max(waitedMillis, Duration.toMillis(deadline))))
          }
        })
      })
    })

  return { hasFree, take, release, wait }
}
