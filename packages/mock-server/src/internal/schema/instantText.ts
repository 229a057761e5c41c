/** A time in JSON: ISO 8601 with a time zone, or a date alone, in the years 1 to 9999. A day: `yyyy-mm-dd`. */
import { FromWire } from "@effect-idv/core/DateOfBirth"
import * as Violation from "@effect-idv/core/Violation"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** The years 1 to 9999 in milliseconds since 1970. `searched_on` cannot show other times. */
export const range = { first: Date.parse("0001-01-01T00:00:00.000Z"), last: Date.parse("9999-12-31T23:59:59.999Z") }

/** Whether a time, in milliseconds since 1970, is in the years 1 to 9999. */
export const isInRange = (millis: number): boolean => millis >= range.first && millis <= range.last

/** The nearest time, in milliseconds since 1970, in the years 1 to 9999. */
export const clamp = (millis: number): number => Math.min(Math.max(millis, range.first), range.last)

const expected = "a time of the years 1 to 9999, such as 2026-01-31T12:00:00Z; a date alone is its midnight in UTC"

/** Refuses days that do not exist. `Date` would turn the 30th of February into a day in March. */
const parse = (text: string): Option.Option<DateTime.Utc> => {
  const day = text.slice(0, 10)
  return Option.filter(DateTime.make(day), (time) => DateTime.formatIsoDateUtc(time) === day).pipe(
    Option.flatMap(() => DateTime.make(text)),
    Option.map(DateTime.toUtc),
    Option.filter((time) => isInRange(DateTime.toEpochMillis(time)))
  )
}

export const Instant = Schema.transformOrFail(
  Schema.String.annotations({ description: expected }).pipe(
    Schema.pattern(
      /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/,
      Violation.expecting(expected)
    )
  ),
  Schema.DateTimeUtcFromSelf,
  {
    strict: true,
    decode: (text, _, ast) =>
      Option.match(parse(text), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, text)),
        onSome: (time) => ParseResult.succeed(time)
      }),
    encode: (time) => ParseResult.succeed(DateTime.formatIso(time))
  }
).annotations(Violation.expecting(expected))

const dayExpected = "a date that exists, as yyyy-mm-dd"

const reversed = (text: string): string => text.split("-").toReversed().join("-")

/** An existing day in JSON: `yyyy-mm-dd`. Unlike a date of birth for a check, it may be after today. */
export const IsoDay = Schema.compose(
  Schema.transform(
    Schema.String.annotations({ description: dayExpected }).pipe(
      Schema.pattern(/^\d{4}-\d\d-\d\d$/, Violation.expecting(dayExpected))
    ),
    Schema.String,
    { strict: true, decode: reversed, encode: reversed }
  ),
  FromWire
).annotations(Violation.expecting(dayExpected))
