/** A duration as it stands in JSON: milliseconds as a number, or a text such as "2 seconds". */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** What `Duration` would quietly take for 0, or for no end. */
const isNoSpan = (input: number | string): boolean => typeof input === "number" ? !(input >= 0) : input.startsWith("-")

/** Encodes as a number of milliseconds. */
const make = (range: string, least: number) => {
  const expected = `a number of milliseconds ${range}, or a text such as "2 seconds"`
  const isAllowed = (duration: Duration.Duration) => Duration.isFinite(duration) && Duration.toMillis(duration) >= least
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
        Option.match(isNoSpan(input) ? Option.none() : Option.filter(Duration.decodeUnknown(input), isAllowed), {
          onNone: () => ParseResult.fail(new ParseResult.Type(ast, input)),
          onSome: (duration) => ParseResult.succeed(duration)
        }),
      encode: (duration) => ParseResult.succeed(Duration.toMillis(duration))
    }
  ).annotations(Violation.expecting(expected))
}

export const DurationText = make("from 0", 0)

export const PositiveDurationText = make("from 1", 1)
