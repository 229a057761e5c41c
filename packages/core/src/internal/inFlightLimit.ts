/** Limits how many checks are in flight at once, so that the responses to the first are read before the last are sent. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Deadline from "./deadline.ts"
import * as Instant from "./instant.ts"

/**
 * Returns a function that runs an effect once fewer than `max` are running, in the order of the calls. The effect
 * receives how long it waited, in milliseconds. If that is the whole deadline, it runs beyond the limit, and must only
 * fail.
 */
export const make = (max: number) => {
  let free = max
  /** The functions that grant a slot to a caller. */
  const waiting = new Set<() => void>()

  const release = (): void => {
    const [grant] = waiting
    if (grant === undefined) free++
    else {
      waiting.delete(grant)
      grant()
    }
  }

  return <A, E>(
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
        if (free > 0) {
          free--
          return runAndRelease(0)
        }
        const clock = Context.get(caller.currentDefaultServices, Clock.Clock)
        const startedAt = Instant.of(clock)
        let isGranted = false
        const wait = Effect.async<void>((resume) => {
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
}
