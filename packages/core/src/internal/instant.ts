/**
 * A moment by two clocks, because each can lie alone: the wall clock is set forward and back, and
 * the monotonic one stands still while the machine is suspended.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"

/** In milliseconds. Only differences of `monotonic` mean anything. */
export interface Instant {
  readonly wall: number
  readonly monotonic: number
}

const live = Context.get(DefaultServices.liveServices, Clock.Clock)

/** Whether it is the time of the machine, and not of a test. */
export const isLive = (clock: Clock.Clock): boolean => clock === live

/** What a clock says now. Its nanoseconds are a `bigint`, which takes twice as long as what the machine itself says. */
export const of = (clock: Clock.Clock): Instant => ({
  wall: clock.unsafeCurrentTimeMillis(),
  monotonic: isLive(clock) ? performance.timeOrigin + performance.now() : Number(clock.unsafeCurrentTimeNanos()) / 1e6
})

export const now: Effect.Effect<Instant> = Effect.clockWith((clock) => Effect.succeed(of(clock)))

/** How long ago `since` was, in milliseconds: by whichever clock says longer. */
export const elapsed = (since: Instant, now: Instant): number =>
  Math.max(now.wall - since.wall, now.monotonic - since.monotonic)
