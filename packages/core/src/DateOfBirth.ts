/**
 * A day in the Gregorian calendar: year, month and day, and never a JS `Date`, which moves by a
 * day with the time zone and turns 31 February into 3 March.
 *
 * ISO in (`1990-02-01`), `dd-mm-yyyy` on the wire (API document, section 4.2). A form like
 * `03/04/1980` is refused, because nobody can say which of the two is the month.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { NodeInspectSymbol } from "effect/Inspectable"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AmlError from "./AmlError.ts"
import * as Violation from "./Violation.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Parts {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** Only this module can make one: the private name is in no copy, and in nothing that looks alike. */
class DateOfBirth extends Data.Class<Parts> {
  readonly #exists = true
  static is(u: unknown): u is DateOfBirth {
    return Predicate.isObject(u) && #exists in u
  }
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

export type {
  /**
   * Any day of the years 1 to 9999 that exists. Equal by value; it does not print itself.
   *
   * @category models
   * @since 0.1.0
   */
  DateOfBirth
}

/**
 * What {@link make} takes: an ISO date, or its parts.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = string | Parts

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
    if (!exists(parts)) return reject("no_such_date")
    if (ordinal(parts) > ordinal(today)) return reject("in_future")
    if (ordinal(parts) < ordinal({ ...today, year: today.year - 130 })) return reject("too_long_ago")
    return Effect.succeed(new DateOfBirth({ year: parts.year, month: parts.month, day: parts.day }))
  })

const reject = (code: AmlError.InputIssue["code"]) =>
  new AmlError.AmlInputRejected({ issues: [new AmlError.InputIssue({ field: "dateOfBirth", code })] })

const exists = ({ day, month, year }: Parts): boolean => {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const lastDay = month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= lastDay
}

const ordinal = (parts: Parts): number => parts.year * 10_000 + parts.month * 100 + parts.day

const isoDate = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})$/
const wireDate = /^(?<day>\d{2})-(?<month>\d{2})-(?<year>\d{4})$/

const parse = (pattern: RegExp, text: string): Parts | undefined => {
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
  Schema.declare(DateOfBirth.is, { identifier: "DateOfBirth" }),
  {
    strict: true,
    decode: (text, _options, ast) => {
      const parts = parse(wireDate, text)
      return parts !== undefined && exists(parts)
        ? Either.right(new DateOfBirth(parts))
        : Either.left(new ParseResult.Type(ast, text))
    },
    encode: ({ day, month, year }) =>
      Either.right(
        [String(day).padStart(2, "0"), String(month).padStart(2, "0"), String(year).padStart(4, "0")].join("-")
      )
  }
).annotations(Violation.expecting("a date that exists, as dd-mm-yyyy"))
