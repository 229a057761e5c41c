/** A duration as it stands in JSON: milliseconds as a number, or a text such as "2 seconds". */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Wait from "./wait.ts"

/** Encodes as a number of milliseconds. */
const make = (least: number, most = Number.MAX_VALUE) => {
  const range = `from ${least}${most === Wait.longest ? ` to ${most} (24.8 days)` : ""}`
  const expected = `a number of milliseconds ${range}, or a text such as "2 seconds"`
  const isAllowed = Wait.isBetween(least, most)
  return Schema.transformOrFail(
    Schema.Union(Schema.Number, Schema.String).annotations({ description: expected }),
    Schema.DurationFromSelf.pipe(
      Schema.filter(isAllowed, {
        ...Violation.expecting(`a finite duration ${range}`),
        arbitrary: () => (fc) => fc.integer({ min: least, max: 86_400_000 }).map((millis) => Duration.millis(millis))
      })
    ),
    {
      strict: true,
      decode: (input, _, ast) =>
        Option.match(Wait.isNoSpan(input) ? Option.none() : Option.filter(Duration.decodeUnknown(input), isAllowed), {
          onNone: () => ParseResult.fail(new ParseResult.Type(ast, input)),
          onSome: (duration) => ParseResult.succeed(duration)
        }),
      encode: (duration) => ParseResult.succeed(Duration.toMillis(duration))
    }
  ).annotations(Violation.expecting(expected))
}

/** A span of the time of a session, whose clock can be moved. */
export const DurationText = make(0)

export const PositiveDurationText = make(1)

/** What is waited for, by a timer. */
export const WaitText = make(0, Wait.longest)

export const PositiveWaitText = make(1, Wait.longest)
