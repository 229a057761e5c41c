/**
 * A clock whose time passes as always, and that a test also moves forward. A sleep of at most five seconds takes real time:
 * it is a timeout or a pause between requests, and the database needs real time.
 */
import { Clock, Duration, Effect } from "effect"

const longestReal = 5000

export const make = () => {
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
  /** Moves the clock once the client has had this many real milliseconds to read what was sent. */
  const moveAfter = (millis: number, duration: Duration.DurationInput) => {
    setTimeout(() => Effect.runSync(move(duration)), millis)
  }
  return { clock, move, moveAfter }
}

export type MovableClock = ReturnType<typeof make>
