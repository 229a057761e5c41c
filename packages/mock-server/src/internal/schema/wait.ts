/** Durations that a timer waits, as options in code. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** The longest time in milliseconds that a timer can wait. A longer one would end at once or never. */
export const maxTimerMillis = 2 ** 31 - 1

/** Whether `Duration` would silently read the input as 0 or as infinite. */
const isNegativeOrNaN = (input: unknown): boolean =>
  typeof input === "string"
    ? input.startsWith("-")
    : Array.isArray(input)
    ? input.some(isNegativeOrNaN)
    : (typeof input === "number" || typeof input === "bigint") && !(input >= 0)

const units: Readonly<Record<string, (value: number) => Duration.Duration>> = {
  ms: Duration.millis,
  s: Duration.seconds,
  min: Duration.minutes,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days
}

/** Decodes a number with the short name of a unit, such as `1h` or `3600 s`, and a duration of ISO 8601, such as `PT1H`. */
const decodeShort = (text: string): Option.Option<Duration.Duration> => {
  const [, value, unit = ""] = /^(\d+(?:\.\d+)?) ?(ms|s|min|m|h|d)$/.exec(text) ?? []
  return value === undefined ? Duration.fromIso(text) : Option.fromNullable(units[unit]?.(Number(value)))
}

/** Decodes a duration, and refuses negative ones. */
export const decode = (input: unknown): Option.Option<Duration.Duration> =>
  isNegativeOrNaN(input)
    ? Option.none()
    : Option.orElse(
      Duration.decodeUnknown(input),
      () => typeof input === "string" ? decodeShort(input) : Option.none()
    )

/** Whether a duration is in a range of milliseconds, both ends included. */
export const isBetween = (least: number, most: number) => (duration: Duration.Duration): boolean => {
  const millis = Duration.toMillis(duration)
  return millis >= least && millis <= most
}

/** Whether a timer can wait this duration, of at least `least` milliseconds. */
export const isWait = (input: Duration.DurationInput, least: number): boolean =>
  Option.exists(decode(input), isBetween(least, maxTimerMillis))

/** The durations that {@link isWait} accepts, in words. */
export const expected = (least: number): string => `a duration from ${least} to ${maxTimerMillis} ms (24.8 days)`
