/** A time as it stands in JSON: ISO 8601 with a time zone, or a date alone, within the range of a session's clock. */
import * as Violation from "@effect-idv/core/Violation"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as SessionClock from "../session/sessionClock.ts"

const expected = "a time of the years 1 to 9999, such as 2026-01-31T12:00:00Z; a date alone is its midnight in UTC"

/** `Date` makes a time also of "in 5 minutes", and of the 30th of February. */
const parse = (text: string): Option.Option<DateTime.Utc> => {
  const day = text.slice(0, 10)
  return Option.filter(DateTime.make(day), (time) => DateTime.formatIsoDateUtc(time) === day).pipe(
    Option.flatMap(() => DateTime.make(text)),
    Option.map(DateTime.toUtc),
    Option.filter((time) => SessionClock.isInRange(DateTime.toEpochMillis(time)))
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
