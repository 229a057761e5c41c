/** The `TestClock` with a separate wall clock, which can be changed and moved without the monotonic clock. */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"

export const make = Effect.map(TestClock.testClock(), (clock) => {
  let offWall = 0
  const unsafeCurrentTimeMillis = () => clock.unsafeCurrentTimeMillis() + offWall
  const wallClock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis,
    unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.sync(unsafeCurrentTimeMillis),
    currentTimeNanos: clock.currentTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  return {
    clock: wallClock,
    /** Moves both clocks. */
    adjust: (duration: Duration.DurationInput) => clock.adjust(duration),
    /** Moves only the wall clock, as when it is set or the machine is suspended. */
    moveWall: (duration: number) => Effect.sync(() => offWall += duration)
  }
})
