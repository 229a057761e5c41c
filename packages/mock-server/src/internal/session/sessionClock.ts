/**
 * The clock of one session. It has the time of the program's `Clock` until it is moved, set or frozen, and a time of the
 * years 1 to 9999.
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"

/** The years 1 to 9999 in milliseconds since 1970. `searched_on` cannot show other times. */
const range = { first: Date.parse("0001-01-01T00:00:00.000Z"), last: Date.parse("9999-12-31T23:59:59.999Z") }

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

/** A time in JSON: ISO 8601 with a time zone, or a date alone. */
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

/** Frozen `at` a time, or running `offset` milliseconds ahead of the clock of the program. */
type State = { readonly at: number } | { readonly offset: number }

export interface Reading {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly frozen: boolean
}

export interface SessionClock {
  /** Milliseconds since 1970. */
  readonly now: Effect.Effect<number>
  readonly read: Effect.Effect<Reading>
  /** The time of the program's clock, in milliseconds since 1970. */
  readonly real: Effect.Effect<number>
  /** Sets the time, in milliseconds since 1970. It stays frozen if it was. */
  readonly set: (now: number) => Effect.Effect<void>
  readonly freeze: Effect.Effect<void>
  /** Starts the clock again at the time at which it stopped. */
  readonly resume: Effect.Effect<void>
  /** Returns to the clock of the program. */
  readonly reset: Effect.Effect<void>
}

const initialState: State = { offset: 0 }

export const make: Effect.Effect<SessionClock> = Effect.map(Ref.make<State>(initialState), (ref) => {
  const update = (change: (state: State, real: number) => State): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (real) => Ref.update(ref, (state) => change(state, real)))
  const timeOf = (state: State, real: number) => clamp("at" in state ? state.at : real + state.offset)
  const moveTo = (state: State, now: number, real: number): State =>
    "at" in state ? { at: clamp(now) } : { offset: clamp(now) - real }
  const read = Effect.zipWith(Ref.get(ref), Clock.currentTimeMillis, (state, real): Reading => ({
    now: timeOf(state, real),
    frozen: "at" in state
  }))
  return {
    now: Effect.map(read, ({ now }) => now),
    read,
    real: Clock.currentTimeMillis,
    set: (now) => update((state, real) => moveTo(state, now, real)),
    freeze: update((state, real) => ({ at: timeOf(state, real) })),
    resume: update((state, real) => ({ offset: timeOf(state, real) - real })),
    reset: Ref.set(ref, initialState)
  }
})
