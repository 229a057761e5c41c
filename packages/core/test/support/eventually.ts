/** Waits for an event. A test that would hang reports what it waited for and what it saw last. */
import { Cause, Duration, Effect } from "effect"
import { inspect } from "node:util"

/** Longer than any wait on a busy machine, and shorter than the limit of vitest. */
const hang = Duration.minutes(4)

const live = <A>(millis: number, value: A) =>
  Effect.async<A>((resume) => {
    const timer = setTimeout(() => resume(Effect.succeed(value)), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/** Ends with the effect, and dies with the message if that hangs. Its time is real, also under a `TestClock`. */
export const orHang = <A, E, R>(effect: Effect.Effect<A, E, R>, what: () => string): Effect.Effect<A, E, R> =>
  Effect.raceFirst(effect, Effect.flatMap(live(Duration.toMillis(hang), what), (what) => Effect.dieMessage(what())))

/** Looks every few milliseconds until the value is as expected, and returns it. */
export const eventually = <A, E = never, R = never>(
  what: string,
  look: Effect.Effect<A, E, R> | (() => A),
  isThere: (value: A) => boolean
): Effect.Effect<A, E, R> => {
  let seen: unknown = "nothing"
  const see = Effect.tap(Effect.isEffect(look) ? look : Effect.sync(look), (value) => Effect.sync(() => (seen = value)))
  return orHang(
    Effect.repeat(Effect.zipRight(live(10, undefined), see), { until: isThere }),
    () => `waited for ${what}, and saw ${inspect(seen)}`
  )
}

/**
 * Runs what depends on a limit in real time, such as a time to live. On a busy machine the limit may be too short, so if
 * it fails, it runs again with twice the limit, up to 64 times. What is wrong fails with every limit.
 */
export const withLongerLimits = <A, E, R>(
  millis: number,
  run: (millis: number) => Effect.Effect<A, E, R>,
  longest = 64 * millis
): Effect.Effect<A, E, R> =>
  Effect.catchAllCause(run(millis), (cause) =>
    Cause.isInterruptedOnly(cause) || millis >= longest
      ? Effect.failCause(cause)
      : withLongerLimits(2 * millis, run, longest))
