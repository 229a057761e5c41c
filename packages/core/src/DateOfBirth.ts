/**
 * A date of birth in the Gregorian calendar, as year, month and day. It is not a JS `Date`, which depends on the time
 * zone and turns 31 February into 3 March.
 *
 * The input format is ISO (`1990-02-01`), and the wire format is `dd-mm-yyyy` (service document, section 4.2). A format
 * such as `03/04/1980` is rejected, because its day and month are ambiguous.
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
import * as Names from "./internal/names/arbitraryNames.ts"
import * as PersonInput from "./internal/names/personInput.ts"
import * as Violation from "./Violation.ts"

/**
 * The year, the month and the day of a date.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parts {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
  /**
   * How much of the date is known. With `year`, the month and the day must be 1, because the evidence reports that 1
   * January was sent.
   *
   * @default "day"
   */
  readonly known?: "day" | "year"
}

/** A valid date. Only this module can create one: copies and other objects lack the private field. */
class Day extends Data.Class<Required<Parts>> {
  readonly #exists = true
  static is(u: unknown): u is Day {
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

/**
 * An existing day of the years 1 to 9999. It is compared by value, and its printed form is redacted. `known` is `year`
 * if only the year is known, see {@link assumed}.
 *
 * @category models
 * @since 0.1.0
 */
export interface DateOfBirth extends Day {}

/**
 * The input of {@link make}: an ISO date, or the parts of a date, such as a `DateOfBirth`.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = string | Parts

/**
 * Makes a date of birth. `AmlInputRejected` has one of the codes `format`, `incomplete`, `contradictory`,
 * `no_such_date`, `other_calendar`, `in_future`, `too_long_ago`.
 *
 * A date is in the future if it is after today at UTC+14, where each day starts first.
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
  Effect.flatMap(today, (today) => {
    if (Predicate.isString(input) && incompleteDate.test(input)) return reject("incomplete")
    const parts = Predicate.isString(input) ? parse(isoDate, input) : input
    if (!Predicate.isRecord(parts)) return reject("format")
    // Each part is read once, so that the checked values are the ones sent.
    const { day, known = "day", month, year } = parts
    const date = { year, month, day, known }
    if (!Number.isInteger(year)) return reject("format")
    if ([day, month].some((part) => part === undefined || part === null || part === 0)) return reject("incomplete")
    if (![day, month].every(Number.isInteger) || !["day", "year"].includes(known)) return reject("format")
    if (known === "year" && (month !== 1 || day !== 1)) return reject("contradictory")
    if ([13, 14, 24, 25].includes(Math.floor(year / 100))) return reject("other_calendar")
    if (!exists(date)) return reject("no_such_date")
    if (ordinal(date) > ordinal(today)) return reject("in_future")
    if (ordinal(date) < ordinal(yearsBefore(today, 130))) return reject("too_long_ago")
    return Effect.succeed(new Day(date))
  })

/**
 * Makes a date of birth of which only the year is known: 1 January of that year is sent, and the evidence of the check
 * reports it. It fails with the codes of {@link make}.
 *
 * @example
 * import { DateOfBirth } from "@effect-idv/core"
 *
 * DateOfBirth.assumed(1957)
 *
 * @category constructors
 * @since 0.1.0
 */
export const assumed = (year: number): Effect.Effect<DateOfBirth, AmlError.AmlInputRejected> =>
  make({ year, month: 1, day: 1, known: "year" })

/**
 * Returns the changes to a date: `assumed`, if only its year is known.
 *
 * @category getters
 * @since 0.1.0
 */
export const changes = (date: DateOfBirth): ReadonlyArray<PersonInput.Change> =>
  date.known === "year" ? [new PersonInput.Change({ field: "dateOfBirth", code: "assumed" })] : []

/**
 * Returns the warnings about a date: `very_old`, if it is more than 110 years ago.
 *
 * @category getters
 * @since 0.1.0
 */
export const warnings = (date: DateOfBirth): Effect.Effect<ReadonlyArray<PersonInput.Warning>> =>
  Effect.map(today, (today) =>
    ordinal(date) < ordinal(yearsBefore(today, 110))
      ? [new PersonInput.Warning({ field: "dateOfBirth", code: "very_old" })]
      : [])

const reject = (code: PersonInput.Issue["code"]) =>
  new AmlError.AmlInputRejected({ issues: [new PersonInput.Issue({ field: "dateOfBirth", code })] })

/** The date at UTC+14, where each day starts first. */
const today = Effect.map(DateTime.now, (now): Parts => DateTime.toPartsUtc(DateTime.add(now, { hours: 14 })))

const yearsBefore = ({ day, month, year }: Parts, years: number): Parts => ({ year: year - years, month, day })

const exists = ({ day, month, year }: Parts): boolean => {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const lastDay = month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= lastDay
}

const ordinal = (parts: Parts): number => parts.year * 10_000 + parts.month * 100 + parts.day

const isoDate = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})$/
const incompleteDate = /^\d{4}(?:-\d{2})?$|^\d{4}-(?:(?:00|xx|\?\?)-(?:\d{2}|xx|\?\?)|\d{2}-(?:00|xx|\?\?))$/i
const wireDate = /^(?<day>\d{2})-(?<month>\d{2})-(?<year>\d{4})$/

const parse = (pattern: RegExp, text: string): Parts | undefined => {
  const groups = pattern.exec(text)?.groups
  return groups && { year: Number(groups["year"]), month: Number(groups["month"]), day: Number(groups["day"]) }
}

const digits = (part: number, length: number): string => String(part).padStart(length, "0")

/**
 * A schema of dates made by this module. Its `Arbitrary` generates the dates of living people, mostly adults.
 *
 * @category schemas
 * @since 0.1.0
 */
export const DateOfBirth: Schema.Schema<DateOfBirth> = Schema.declare(Day.is, {
  identifier: "DateOfBirth",
  ...Violation.expecting("a date of birth"),
  arbitrary: () => (fc) => Names.dateOfBirth(fc).map(Schema.decodeSync(FromWire))
})

const isoDescription = "a date of birth that can be screened, as yyyy-mm-dd"

/**
 * A schema that decodes an ISO date with {@link make}. A date made by {@link assumed} cannot be encoded.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FromIso: Schema.Schema<DateOfBirth, string> = Schema.transformOrFail(Schema.String, DateOfBirth, {
  strict: true,
  decode: (text, _, ast) => Effect.mapError(make(text), ({ message }) => new ParseResult.Type(ast, text, message)),
  encode: (date, _, ast) =>
    date.known === "day"
      ? Either.right(toIso(date))
      : Either.left(new ParseResult.Type(ast, date))
}).annotations({
  description: isoDescription,
  message: ({ actual }) => ({
    message: `Expected ${Day.is(actual) ? "a date whose day and month are known" : isoDescription}`,
    override: true
  })
})

/** Formats a date as `yyyy-mm-dd`. */
const toIso = ({ day, month, year }: Parts): string => [digits(year, 4), digits(month, 2), digits(day, 2)].join("-")

/**
 * A schema of the wire format `dd-mm-yyyy` (service document, section 4.2). It accepts every existing day, even one in
 * the future.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FromWire: Schema.Schema<DateOfBirth, string> = Schema.transformOrFail(Schema.String, DateOfBirth, {
  strict: true,
  decode: (text, _, ast) => {
    const parts = parse(wireDate, text)
    return parts !== undefined && exists(parts)
      ? Either.right(new Day({ ...parts, known: "day" }))
      : Either.left(new ParseResult.Type(ast, text))
  },
  encode: ({ day, month, year }) => Either.right([digits(day, 2), digits(month, 2), digits(year, 4)].join("-"))
}).annotations(Violation.expecting("a date that exists, as dd-mm-yyyy"))
