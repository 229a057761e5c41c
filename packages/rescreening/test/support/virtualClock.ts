/**
 * A clock whose time passes as soon as all fibers wait for it, event by event. `TestClock` would let all that is due
 * until the next step happen at its end.
 */
import { Clock, Duration, Effect } from "effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Until the fibers that can run have run. */
const idle = Effect.async<void>((resume) => {
  setImmediate(() => setImmediate(() => resume(Effect.void)))
})

const epoch = Date.UTC(2026, 10, 1)

export const make = () => {
  let now = 0
  let sleepers: Array<Sleeper> = []
  const clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeMillis: () => epoch + now,
    unsafeCurrentTimeNanos: () => BigInt(Math.round(now * 1e6)),
    currentTimeMillis: Effect.sync(() => epoch + now),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(now * 1e6))),
    sleep: (duration) =>
      Effect.async((resume) => {
        const sleeper = { at: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        sleepers.push(sleeper)
        return Effect.sync(() => {
          sleepers = sleepers.filter((other) => other !== sleeper)
        })
      })
  }

  /** Wakes the next fiber at its time, or a later one. */
  const step = Effect.zipRight(
    idle,
    Effect.sync(() => {
      const at = Math.min(...sleepers.map(({ at }) => at))
      if (!Number.isFinite(at)) return
      now = Math.max(now, at)
      const due = sleepers.filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at)
      sleepers = sleepers.filter(({ at }) => at > now)
      for (const { wake } of due) wake()
    })
  )

  return {
    clock,
    now: () => now,
    /** The whole machine is suspended. */
    stall: (millis: number) => {
      now += millis
    },
    step,
    /** Lets time pass until `until` is true. */
    run: (until: () => boolean) => Effect.repeat(step, { until })
  }
}
