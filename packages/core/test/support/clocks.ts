/** The `TestClock` with a wall clock that can lie, and a monotonic one that can stand still. */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"

export const make = Effect.map(TestClock.testClock(), (clock) => {
  let offWall = 0
  const unsafeCurrentTimeMillis = () => clock.unsafeCurrentTimeMillis() + offWall
  const lying: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis,
    unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.sync(unsafeCurrentTimeMillis),
    currentTimeNanos: clock.currentTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  return {
    clock: lying,
    /** Both clocks move on. */
    adjust: (duration: Duration.DurationInput) => clock.adjust(duration),
    /** The wall clock is set, or moves on alone because the machine is suspended. */
    moveWall: (duration: number) => Effect.sync(() => offWall += duration)
  }
})
