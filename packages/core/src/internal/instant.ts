/**
 * A moment by two clocks, because each can lie alone: the wall clock is set forward and back, and
 * the monotonic one stands still while the machine is suspended.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** In milliseconds. Only differences of `monotonic` mean anything. */
export interface Instant {
  readonly wall: number
  readonly monotonic: number
}

/** What a clock says now. */
export const of = (clock: Clock.Clock): Instant => ({
  wall: clock.unsafeCurrentTimeMillis(),
  monotonic: Number(clock.unsafeCurrentTimeNanos()) / 1e6
})

export const now: Effect.Effect<Instant> = Effect.clockWith((clock) => Effect.succeed(of(clock)))

/** How long ago `since` was, in milliseconds: by whichever clock says longer. */
export const elapsed = (since: Instant, now: Instant): number =>
  Math.max(now.wall - since.wall, now.monotonic - since.monotonic)
