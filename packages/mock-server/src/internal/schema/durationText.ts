/** A duration in JSON: a number of milliseconds, or a text such as "2 seconds". It is encoded as the number. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Wait from "./wait.ts"

const make = (least: number, most = Number.MAX_VALUE) => {
  const range = `from ${least}${most === Wait.maxTimerMillis ? ` to ${most} (24.8 days)` : ""}`
  const expected = `a number of milliseconds ${range}, or a text such as "2 seconds"`
  const isInRange = Wait.isBetween(least, most)
  return Schema.transformOrFail(
    Schema.Union(Schema.Number, Schema.String).annotations({ description: expected }),
    Schema.DurationFromSelf.pipe(
      Schema.filter(isInRange, {
        ...Violation.expecting(`a finite duration ${range}`),
        arbitrary: () => (fc) => fc.integer({ min: least, max: 86_400_000 }).map((millis) => Duration.millis(millis))
      })
    ),
    {
      strict: true,
      decode: (input, _, ast) =>
        Option.match(Option.filter(Wait.decode(input), isInRange), {
          onNone: () => ParseResult.fail(new ParseResult.Type(ast, input)),
          onSome: (duration) => ParseResult.succeed(duration)
        }),
      encode: (duration) => ParseResult.succeed(Duration.toMillis(duration))
    }
  ).annotations(Violation.expecting(expected))
}

/** A span of a session's time, of any length, because that clock can be moved. */
export const DurationText = make(0)

/** A span of a session's time of at least a millisecond. */
export const PositiveDurationText = make(1)

/** A duration that a timer waits: at most 24.8 days. */
export const WaitText = make(0, Wait.maxTimerMillis)

/** A duration of at least a millisecond that a timer waits: at most 24.8 days. */
export const PositiveWaitText = make(1, Wait.maxTimerMillis)
