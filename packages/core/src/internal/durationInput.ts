/** Schemas of the durations in options. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** The longest time of a timer, in milliseconds. With a longer one, a deadline would never end or end at once. */
const longest = 2 ** 31 - 1

const longestInWords = `${longest} ms (24.8 days)`

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
  `a duration of at most ${longestInWords}, such as "30 seconds"`,
  Duration.lessThanOrEqualTo(longest)
)

const isOverZero = Duration.greaterThan(0)

export const Positive = make(
  `a duration over 0 and at most ${longestInWords}, such as "30 seconds"`,
  (duration) => isOverZero(duration) && Duration.lessThanOrEqualTo(duration, longest)
)

/** A duration without a timer, which may be longer than a timer can wait. */
export const Distance = make(
  "a finite duration over 0, such as \"48 hours\"",
  (duration) => isOverZero(duration) && Duration.isFinite(duration)
)

export const UpToOneHour = make(
  "a duration over 0 and at most \"1 hour\"",
  (duration) => isOverZero(duration) && Duration.lessThanOrEqualTo(duration, "1 hour")
)
