/** Whether somebody can be born on a day already. */
import type { DateOfBirth } from "@effect-idv/core/DateOfBirth"
import * as DateTime from "effect/DateTime"

interface Day {
  readonly year: number
  readonly month: number
  readonly day: number
}

const ordinal = ({ day, month, year }: Day): number => year * 10_000 + month * 100 + day

/** Whether the day has begun anywhere on earth: days begin first at UTC+14. `now` is in milliseconds since 1970. */
export const hasBegun = (dateOfBirth: DateOfBirth, now: number): boolean =>
  ordinal(dateOfBirth) <= ordinal(DateTime.toPartsUtc(DateTime.add(DateTime.unsafeMake(now), { hours: 14 })))
