/**
 * A date of birth in the Gregorian calendar, as year, month and day. It is not a JS `Date`, which depends on the time
 * zone and turns 31 February into 3 March.
 *
 * @since 0.1.0
 */
import * as DateOfBirth3 from "@effect-idv/core/DateOfBirth"
import type * as Effect from "effect/Effect"
import { NodeInspectSymbol } from "effect/Inspectable"
import type { AmlInputRejected } from "./AmlError.ts"
import * as Effects from "./internal/engine/effects.ts"
import * as Failures from "./internal/engine/failures.ts"

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

/**
 * An existing day of the years 1 to 9999. Its printed form is redacted. `known` is `year` if only the year is known, see
 * {@link assumed}.
 *
 * @category models
 * @since 0.1.0
 */
export class DateOfBirth implements Parts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly known: "day" | "year"

  /** Takes a date that the engine has checked. */
  constructor({ day, known, month, year }: Required<Parts>) {
    this.year = year
    this.month = month
    this.day = day
    this.known = known
  }
  toString(): string {
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
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: Input): Effect.Effect<DateOfBirth, AmlInputRejected> =>
  Effects.run(DateOfBirth3.make(input), {
    onSuccess: (date) => new DateOfBirth(date),
    onFailure: Failures.toFailure
  })

/**
 * Makes a date of birth of which only the year is known: 1 January of that year is sent, and the evidence of the check
 * reports it. It fails with the codes of {@link make}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const assumed = (year: number): Effect.Effect<DateOfBirth, AmlInputRejected> =>
  make({ year, month: 1, day: 1, known: "year" })
