/** Paces many fibers: limits their rate, and pauses all of them while the service asks to wait. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A gateway that asks for more than an hour is misconfigured. */
const longestPauseMillis = 3_600_000

/** How late a fiber may take its turn without delaying the next turn. Timers are not more precise. */
const slackMillis = 10

export interface Pacer {
  /** Waits for a turn. */
  readonly turn: Effect.Effect<void>
  /**
   * Lets no fiber take a turn for this long. Without a duration: for 1 second, doubled with each consecutive pause up
   * to 60. Returns the number of consecutive pauses. A call during a pause extends it and does not count.
   */
  readonly pause: (duration: Duration.Duration | undefined) => Effect.Effect<number>
  /** Resets the number of consecutive pauses, once the service has accepted a request. */
  readonly accepted: () => void
}

/** `rate` is in turns per second; `undefined` means no limit. */
export const make = (rate: number | undefined): Pacer => {
  const interval = rate === undefined ? 0 : 1000 / rate
  let resumesAt = 0
  let nextAt = 0
  let consecutivePauses = 0

  const turn: Effect.Effect<void> = Effect.clockWith((clock) => {
    const now = clock.unsafeCurrentTimeMillis()
    const at = Math.max(resumesAt, nextAt)
    if (now < at) return Effect.zipRight(Effect.sleep(at - now), turn)
    nextAt = Math.max(now - slackMillis, nextAt) + interval
    return Effect.void
  })

  return {
    turn,
    pause: (duration = Duration.seconds(Math.min(60, 2 ** consecutivePauses))) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (now >= resumesAt) consecutivePauses++
        resumesAt = Math.max(resumesAt, now + Math.min(longestPauseMillis, Duration.toMillis(duration)))
        return consecutivePauses
      }),
    accepted: () => {
      consecutivePauses = 0
    }
  }
}
