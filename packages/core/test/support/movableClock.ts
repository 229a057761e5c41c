/**
 * A clock whose time passes as always, and that a test also moves forward. A sleep of at most `longestReal`, by default five
 * seconds, takes real time: it is a timeout or a pause between requests, and the database needs real time.
 */
import { Clock, Duration, Effect } from "effect"

export const make = (longestReal = 5000) => {
  let moved = 0
  const waiting = new Set<() => void>()
  const now = () => Date.now() + moved
  const nanos = () => BigInt(now()) * 1_000_000n
  const clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeMillis: now,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.async((resume) => {
        const end = now() + Duration.toMillis(duration)
        let timer: NodeJS.Timeout | undefined
        const arm = () => {
          clearTimeout(timer)
          timer = setTimeout(() => {
            waiting.delete(arm)
            resume(Effect.void)
          }, Math.min(end - now(), 2 ** 31 - 1))
        }
        if (Duration.toMillis(duration) > longestReal) waiting.add(arm)
        arm()
        return Effect.sync(() => {
          clearTimeout(timer)
          waiting.delete(arm)
        })
      })
  }
  const move = (duration: Duration.DurationInput) =>
    Effect.sync(() => {
      moved += Duration.toMillis(duration)
      for (const arm of waiting) arm()
    })
  /**
   * Moves the clock once the client has read what was sent: it reads between two of these ticks, also in a process that
   * did not run for a while.
   */
  const moveOnceRead = (duration: Duration.DurationInput, ticks = 20) => {
    if (ticks === 0) Effect.runSync(move(duration))
    else setTimeout(() => moveOnceRead(duration, ticks - 1), 10)
  }
  return { clock, move, moveOnceRead, /** How many sleeps only `move` ends soon. */ waiting: () => waiting.size }
}

export type MovableClock = ReturnType<typeof make>
