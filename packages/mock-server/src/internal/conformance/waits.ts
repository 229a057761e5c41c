/** The waits of a target, which are given in code. */
import * as Effect from "effect/Effect"
import type { Target } from "../../Conformance.ts"
import * as DurationText from "../durationText.ts"

/** One that no timer can wait is a defect that names it: without it a run would never end. */
export const check = ({ deadline = "10 seconds", spacing = "500 millis" }: Target): Effect.Effect<void> => {
  const refuse = (option: string, least: number) =>
    Effect.die(new TypeError(`${option} should be ${DurationText.expectedWait(least)}`))
  if (!DurationText.isWait(deadline, 1)) return refuse("deadline", 1)
  return DurationText.isWait(spacing, 0) ? Effect.void : refuse("spacing", 0)
}
