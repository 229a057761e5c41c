/**
 * A time on two clocks, because one alone is not reliable: the wall clock may be changed, and the monotonic clock stops
 * while the machine is suspended.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"

/** In milliseconds. Only differences between two values of `monotonic` are meaningful. */
export interface Instant {
  readonly wall: number
  readonly monotonic: number
}

const live = Context.get(DefaultServices.liveServices, Clock.Clock)

/** Whether the clock is that of the machine, and not of a test. */
export const isLive = (clock: Clock.Clock): boolean => clock === live

/** Reads a clock. */
export const of = (clock: Clock.Clock): Instant => ({
  wall: clock.unsafeCurrentTimeMillis(),
  monotonic: Number(clock.unsafeCurrentTimeNanos()) / 1e6
})

export const now: Effect.Effect<Instant> = Effect.clockWith((clock) => Effect.succeed(of(clock)))

/** The time since `since` in milliseconds, on the clock on which more has passed. */
export const elapsed = (since: Instant, now: Instant): number =>
  Math.max(now.wall - since.wall, now.monotonic - since.monotonic)
