/** The waits of a target, which are given in code. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Target } from "../Conformance.ts"

/** What a timer can wait, in milliseconds. */
const longest = 2 ** 31 - 1

const isWait = (input: Duration.DurationInput, least: number): boolean =>
  Option.exists(
    Duration.decodeUnknown(input),
    (duration) => Duration.toMillis(duration) >= least && Duration.toMillis(duration) <= longest
  )

/** One that no timer can wait is a defect that names it: without a deadline a run would never end. */
export const check = ({ deadline = "10 seconds", spacing = "500 millis" }: Target): Effect.Effect<void> => {
  const refuse = (option: string, least: number) =>
    Effect.die(new TypeError(`${option} should be a duration from ${least} to ${longest} ms (24.8 days)`))
  if (!isWait(deadline, 1)) return refuse("deadline", 1)
  return isWait(spacing, 0) ? Effect.void : refuse("spacing", 0)
}
