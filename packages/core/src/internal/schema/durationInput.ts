/** Schemas of the durations in options. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** The longest time that a timer can wait, in milliseconds. A longer deadline would never end, or end at once. */
const maxTimerMillis = 2 ** 31 - 1

const maxTimerText = `${maxTimerMillis} ms (24.8 days)`

const make = (expected: string, isAllowed: (duration: Duration.Duration) => boolean) =>
  Schema.transformOrFail(Schema.Unknown, Schema.DurationFromSelf, {
    strict: true,
    decode: (input, _, ast) =>
      Option.match(
        Option.filter(Duration.decodeUnknown(input), (duration) => isNotNegative(input) && isAllowed(duration)),
        {
          onNone: () => ParseResult.fail(new ParseResult.Type(ast, input)),
          onSome: ParseResult.succeed
        }
      ),
    encode: ParseResult.succeed
  }).annotations({ description: expected })

/** Whether an input is not negative. `Duration` decodes negative inputs as 0. */
const isNotNegative = (input: unknown): boolean =>
  typeof input === "string"
    ? !input.startsWith("-")
    : Array.isArray(input)
    ? input.every(isNotNegative)
    : typeof input !== "number" && typeof input !== "bigint" || input >= 0

export const DurationInput = make(
  `a duration of at most ${maxTimerText}, such as "30 seconds"`,
  Duration.lessThanOrEqualTo(maxTimerMillis)
)

const isOverZero = Duration.greaterThan(0)

export const Positive = make(
  `a duration over 0 and at most ${maxTimerText}, such as "30 seconds"`,
  (duration) => isOverZero(duration) && Duration.lessThanOrEqualTo(duration, maxTimerMillis)
)

/** A duration for which no timer waits, so it may be longer than a timer can wait. */
export const PositiveFinite = make(
  "a finite duration over 0, such as \"48 hours\"",
  (duration) => isOverZero(duration) && Duration.isFinite(duration)
)

export const UpToOneHour = make(
  "a duration over 0 and at most \"1 hour\"",
  (duration) => isOverZero(duration) && Duration.lessThanOrEqualTo(duration, "1 hour")
)
