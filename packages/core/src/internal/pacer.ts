/** One pace for many fibers: so many a second, and none of them while the service asks to wait. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A gateway that asks for more does not mean it. */
const longestPauseMillis = 3_600_000

/** How late a turn may be taken without a later one being late as well: timers are no better than that. */
const slackMillis = 10

export interface Pacer {
  /** Waits for a turn. */
  readonly turn: Effect.Effect<void>
  /**
   * Nobody has a turn for so long; without a duration 1 second, doubled each time in a row up to 60.
   * Gives how many pauses there were in a row. What comes during a pause is part of it.
   */
  readonly pause: (duration: Duration.Duration | undefined) => Effect.Effect<number>
  /** The service accepts again. */
  readonly accepted: () => void
}

export const make = (rate: number | undefined): Pacer => {
  const interval = rate === undefined ? 0 : 1000 / rate
  let resumesAt = 0
  let nextAt = 0
  let inARow = 0

  const turn: Effect.Effect<void> = Effect.clockWith((clock) => {
    const now = clock.unsafeCurrentTimeMillis()
    const at = Math.max(resumesAt, nextAt)
    if (now < at) return Effect.zipRight(Effect.sleep(at - now), turn)
    nextAt = Math.max(now - slackMillis, nextAt) + interval
    return Effect.void
  })

  return {
    turn,
    pause: (duration = Duration.seconds(Math.min(60, 2 ** inARow))) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (now >= resumesAt) inARow++
        resumesAt = Math.max(resumesAt, now + Math.min(longestPauseMillis, Duration.toMillis(duration)))
        return inARow
      }),
    accepted: () => {
      inARow = 0
    }
  }
}
