/** Durations: in JSON, where one is a number of milliseconds or a text such as "2 seconds", and as options in code. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** The longest time in milliseconds that a timer can wait. A longer one would end at once or never. */
const maxTimerMillis = 2 ** 31 - 1

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
const decode = (input: unknown): Option.Option<Duration.Duration> =>
  isNegativeOrNaN(input)
    ? Option.none()
    : Option.orElse(
      Duration.decodeUnknown(input),
      () => typeof input === "string" ? decodeShort(input) : Option.none()
    )

/** Whether a duration is in a range of milliseconds, both ends included. */
const isBetween = (least: number, most: number) => (duration: Duration.Duration): boolean => {
  const millis = Duration.toMillis(duration)
  return millis >= least && millis <= most
}

/** Whether a timer can wait this duration, of at least `least` milliseconds. */
export const isWait = (input: Duration.DurationInput, least: number): boolean =>
  Option.exists(decode(input), isBetween(least, maxTimerMillis))

/** The durations that {@link isWait} accepts, in words. */
export const expected = (least: number): string => `a duration from ${least} to ${maxTimerMillis} ms (24.8 days)`

/** `limit` is the longest duration, in milliseconds and in words. */
const make = (least: number, limit?: readonly [millis: number, words: string]) => {
  const most = limit === undefined ? Number.MAX_VALUE : limit[0]
  const range = `from ${least}${limit === undefined ? "" : ` to ${most} (${limit[1]})`}`
  const expected = `a number of milliseconds ${range}, or a text such as "2 seconds"`
  const isInRange = isBetween(least, most)
  return Schema.transformOrFail(
    Schema.Union(Schema.Number, Schema.String).annotations({ description: expected }),
    Schema.DurationFromSelf.pipe(
      Schema.filter(isInRange, {
        ...Violation.expecting(`a finite duration ${range}`),
        arbitrary: () => (fc) =>
          fc.integer({ min: least, max: Math.min(most, 86_400_000) }).map((millis) => Duration.millis(millis))
      })
    ),
    {
      strict: true,
      decode: (input, _, ast) =>
        Option.match(Option.filter(decode(input), isInRange), {
          onNone: () => ParseResult.fail(new ParseResult.Type(ast, input)),
          onSome: (duration) => ParseResult.succeed(duration)
        }),
      encode: (duration) => ParseResult.succeed(Duration.toMillis(duration))
    }
  ).annotations(Violation.expecting(expected))
}

const timer = [maxTimerMillis, "24.8 days"] as const

/** The delay of a response. */
export const DelayText = make(0, [600_000, "10 minutes"])

/** A span of a session's time, of any length, because that clock can be moved. */
export const DurationText = make(0)

/** A span of a session's time of at least a millisecond. */
export const PositiveDurationText = make(1)

/** A duration that a timer waits: at most 24.8 days. */
export const WaitText = make(0, timer)

/** A duration of at least a millisecond that a timer waits: at most 24.8 days. */
export const PositiveWaitText = make(1, timer)

const signedExpected = Violation.expecting("a number of milliseconds, or a text such as \"-2 seconds\"")

/** The milliseconds of the years 1 to 9999. */
const maxSigned = 3.2e14

/** A span of time that may be negative, as a number of milliseconds: `Duration` has no negative values. */
export const SignedDurationText = Schema.transformOrFail(
  Schema.Union(Schema.Number, Schema.String).annotations(signedExpected),
  Schema.Number.pipe(Schema.between(-maxSigned, maxSigned, signedExpected)),
  {
    strict: true,
    decode: (input, _, ast) => {
      const isNegative = typeof input === "string" ? input.startsWith("-") : input < 0
      const size = typeof input === "string" ? input.replace(/^-/, "") : Math.abs(input)
      return Option.match(Option.filter(decode(size), isBetween(0, maxSigned)), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, input)),
        onSome: (duration) => ParseResult.succeed((isNegative ? -1 : 1) * Duration.toMillis(duration))
      })
    },
    encode: ParseResult.succeed
  }
).annotations(signedExpected)
