/** Limits the rate at which checks start, and pauses all of them while the service asks to wait. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Instant from "../schema/instant.ts"

/**
 * A shorter pause is lengthened to this. With a pause of zero, each 429 of the checks in flight would count as another
 * pause, and all retries would follow at once.
 */
const shortestPauseMillis = 1000

/** A longer pause is shortened to this, because a gateway that asks for more than an hour is misconfigured. */
const longestPauseMillis = 3_600_000

/** A check that starts late by this or less, because timers are imprecise, does not delay the later ones. */
const toleranceMillis = 10

export interface Pacer {
  /** Waits for the next slot without taking it. */
  readonly awaitSlot: Effect.Effect<void>
  /** Waits for the next slot and takes it: start one check after each call. */
  readonly takeSlot: Effect.Effect<void>
  /**
   * Lets no check start for this long, but at least 1 second and at most one hour. Without a duration the pause takes 1
   * second, doubled with each consecutive pause up to 60 seconds. Returns the number of consecutive pauses. A call
   * during a pause extends it and does not count.
   */
  readonly pause: (duration: Duration.Duration | undefined) => Effect.Effect<number>
  /** Resets the number of consecutive pauses, once a response other than 429 has arrived. */
  readonly resetPauses: () => void
}

/**
 * `rate` is in checks per second; `undefined` means no limit. The times are those of the monotonic clock, so that a
 * change of the wall clock neither stops the checks nor ends a pause.
 */
export const make = (rate: number | undefined): Pacer => {
  const interval = rate === undefined ? 0 : 1000 / rate
  let resumesAt = 0
  let nextAt = 0
  let consecutivePauses = 0

  const awaitSlotThen = (take: (now: number) => void): Effect.Effect<void> => {
    const wait: Effect.Effect<void> = Effect.clockWith((clock) => {
      const now = Instant.of(clock).monotonic
      const at = Math.max(resumesAt, nextAt)
      // A sleep for a part of a nanosecond takes no time on a `TestClock`, so that the wait would not end.
      if (now < at) return Effect.zipRight(Effect.sleep(Math.ceil(at - now)), wait)
      take(now)
      return Effect.void
    })
    return wait
  }

  return {
    awaitSlot: awaitSlotThen(constVoid),
    takeSlot: awaitSlotThen((now) => {
      nextAt = Math.max(now - toleranceMillis, nextAt) + interval
    }),
    pause: (duration = Duration.seconds(Math.min(60, 2 ** consecutivePauses))) =>
      Effect.map(Instant.now, ({ monotonic: now }) => {
        if (now >= resumesAt) consecutivePauses++
        const millis = Math.min(longestPauseMillis, Math.max(shortestPauseMillis, Duration.toMillis(duration)))
        resumesAt = Math.max(resumesAt, now + millis)
        return consecutivePauses
      }),
    resetPauses: () => {
      consecutivePauses = 0
    }
  }
}
