/** Durations that are waited for, as they are given in code. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** What a timer can wait, in milliseconds: with more, what it ends would never end, or end at once. */
export const longest = 2 ** 31 - 1

/** What `Duration` would quietly take for 0, or for no end. */
export const isNoSpan = (input: unknown): boolean =>
  typeof input === "string"
    ? input.startsWith("-")
    : Array.isArray(input)
    ? input.some(isNoSpan)
    : (typeof input === "number" || typeof input === "bigint") && !(input >= 0)

export const isBetween = (least: number, most: number) => (duration: Duration.Duration): boolean => {
  const millis = Duration.toMillis(duration)
  return millis >= least && millis <= most
}

/** Whether a timer can wait it. */
export const isWait = (input: Duration.DurationInput, least: number): boolean =>
  !isNoSpan(input) && Option.exists(Duration.decodeUnknown(input), isBetween(least, longest))

/** What {@link isWait} takes. */
export const expected = (least: number): string => `a duration from ${least} to ${longest} ms (24.8 days)`
