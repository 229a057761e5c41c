/**
 * A day in the Gregorian calendar: year, month and day, and never a JS `Date`, which moves by a
 * day with the time zone and turns 31 February into 3 March.
 *
 * ISO in (`1990-02-01`), `dd-mm-yyyy` on the wire (API document, section 4.2). A form like
 * `03/04/1980` is refused, because nobody can say which of the two is the month.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { NodeInspectSymbol } from "effect/Inspectable"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AmlError from "./AmlError.ts"

const daysInMonth = (year: number, month: number): number => {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/**
 * Any day of the years 1 to 9999 that exists. It does not print itself.
 *
 * @category models
 * @since 0.1.0
 */
export class DateOfBirth extends Schema.Class<DateOfBirth>("@effect-idv/core/DateOfBirth")(
  Schema.Struct({
    year: Schema.Int.pipe(Schema.between(1, 9999)),
    month: Schema.Int.pipe(Schema.between(1, 12)),
    day: Schema.Int.pipe(Schema.between(1, 31))
  }).pipe(
    Schema.filter(({ day, month, year }) => day <= daysInMonth(year, month), { description: "a day that exists" })
  )
) {
  override toString(): string {
    return "DateOfBirth(<redacted>)"
  }
  toJSON(): string {
    return "<redacted>"
  }
  [NodeInspectSymbol](): string {
    return this.toString()
  }
}

/**
 * What {@link make} takes: an ISO date, or its parts.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = string | { readonly year: number; readonly month: number; readonly day: number }

/**
 * A date of birth that can be screened, or `AmlInputRejected` with one of the codes `format`,
 * `no_such_date`, `other_calendar`, `in_future`, `too_long_ago`.
 *
 * Today is what the `Clock` says, at the place on earth where the day is oldest (UTC+14).
 *
 * @example
 * import { DateOfBirth } from "@effect-idv/core"
 *
 * DateOfBirth.make("1990-02-01")
 * DateOfBirth.make({ year: 1990, month: 2, day: 1 })
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: Input): Effect.Effect<DateOfBirth, AmlError.AmlInputRejected> =>
  Effect.flatMap(DateTime.now, (now) => {
    const today = DateTime.toPartsUtc(DateTime.add(now, { hours: 14 }))
    const parts = typeof input === "string" ? parse(isoDate, input) : input
    if (parts === undefined || ![parts.year, parts.month, parts.day].every(Number.isInteger)) return reject("format")
    if ([13, 14, 24, 25].includes(Math.floor(parts.year / 100))) return reject("other_calendar")
    const decoded = decode(parts)
    if (Either.isLeft(decoded)) return reject("no_such_date")
    const date = decoded.right
    if (ordinal(date) > ordinal(today)) return reject("in_future")
    if (ordinal(date) < ordinal({ ...today, year: today.year - 130 })) return reject("too_long_ago")
    return Either.right(date)
  })

const decode = Schema.decodeUnknownEither(DateOfBirth)

const reject = (code: AmlError.InputIssue["code"]) =>
  Either.left(
    new AmlError.AmlInputRejected({ issues: [new AmlError.InputIssue({ field: "dateOfBirth", code })] })
  )

const ordinal = (date: { readonly year: number; readonly month: number; readonly day: number }): number =>
  date.year * 10_000 + date.month * 100 + date.day

const isoDate = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})$/
const wireDate = /^(?<day>\d{2})-(?<month>\d{2})-(?<year>\d{4})$/

const parse = (pattern: RegExp, text: string) => {
  const groups = pattern.exec(text)?.groups
  return groups && { year: Number(groups["year"]), month: Number(groups["month"]), day: Number(groups["day"]) }
}

/**
 * The form on the wire: `dd-mm-yyyy` (API document, section 4.2). It knows which days exist, not
 * who can have been born on them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FromWire: Schema.Schema<DateOfBirth, string> = Schema.transformOrFail(
  Schema.String,
  Schema.typeSchema(DateOfBirth),
  {
    strict: true,
    decode: (text, _options, ast) =>
      Either.mapLeft(decode(parse(wireDate, text)), () => new ParseResult.Type(ast, text)),
    encode: ({ day, month, year }) =>
      ParseResult.succeed(
        `${String(day).padStart(2, "0")}-${String(month).padStart(2, "0")}-${String(year).padStart(4, "0")}`
      )
  }
).annotations({ description: "a date that exists, as dd-mm-yyyy" })
