/** Limits the rate at which checks start, and pauses all of them while the service asks to wait. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A longer pause is shortened to this, because a gateway that asks for more than an hour is misconfigured. */
const longestPauseMillis = 3_600_000

/** A check that starts late by this or less, because timers are imprecise, does not delay the later ones. */
const toleranceMillis = 10

export interface Pacer {
  /** Waits for the next slot and takes it: start one check after each call. */
  readonly takeSlot: Effect.Effect<void>
  /**
   * Lets no check start for this long. Without a duration the pause takes 1 second, doubled with each consecutive pause
   * up to 60 seconds. Returns the number of consecutive pauses. A call during a pause extends it and does not count.
   */
  readonly pause: (duration: Duration.Duration | undefined) => Effect.Effect<number>
  /** Resets the number of consecutive pauses, once a response other than 429 has arrived. */
  readonly resetPauses: () => void
}

/** `rate` is in checks per second; `undefined` means no limit. */
export const make = (rate: number | undefined): Pacer => {
  const interval = rate === undefined ? 0 : 1000 / rate
  let resumesAt = 0
  let nextAt = 0
  let consecutivePauses = 0

  const takeSlot: Effect.Effect<void> = Effect.clockWith((clock) => {
    const now = clock.unsafeCurrentTimeMillis()
    const at = Math.max(resumesAt, nextAt)
    if (now < at) return Effect.zipRight(Effect.sleep(at - now), takeSlot)
    nextAt = Math.max(now - toleranceMillis, nextAt) + interval
    return Effect.void
  })

  return {
    takeSlot,
    pause: (duration = Duration.seconds(Math.min(60, 2 ** consecutivePauses))) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (now >= resumesAt) consecutivePauses++
        resumesAt = Math.max(resumesAt, now + Math.min(longestPauseMillis, Duration.toMillis(duration)))
        return consecutivePauses
      }),
    resetPauses: () => {
      consecutivePauses = 0
    }
  }
}
