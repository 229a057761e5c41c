/**
 * Converts values between the two versions. `Equal` of Effect 4 calls two different `Redacted` of Effect 3 equal, and a
 * `Duration` of Effect 3 has 0 milliseconds in Effect 4, so none may pass unconverted.
 */
import type * as DateTime3 from "effect-3/DateTime"
import * as Duration3 from "effect-3/Duration"
import * as FiberId3 from "effect-3/FiberId"
import * as Option3 from "effect-3/Option"
import * as Redacted3 from "effect-3/Redacted"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

export const redacted = <A>(self: Redacted3.Redacted<A>): Redacted.Redacted<A> => Redacted.make(Redacted3.value(self))

/** A program without types may pass a value that is not `Redacted`, which the engine refuses by the name of its option. */
export const fromRedacted = <A>(self: Redacted.Redacted<A>): Redacted3.Redacted<A> =>
  Redacted.isRedacted(self) ? Redacted3.make(Redacted.value(self)) : self

export const duration = (self: Duration3.Duration): Duration.Duration => Duration.millis(Duration3.toMillis(self))

/**
 * An input for the engine. Effect 3 would read a negative duration as 0, so it becomes a text, which the engine refuses as
 * it refuses every other invalid input.
 */
export const fromDuration = (input: Duration.Input): Duration3.DurationInput => {
  const duration = Option.getOrUndefined(Duration.fromInput(input))
  if (duration === undefined) return "-1 millis"
  const millis = Duration.toMillis(duration)
  return millis < 0 ? "-1 millis" : Duration3.millis(millis)
}

export const dateTime = (self: DateTime3.Utc): DateTime.Utc => DateTime.makeUnsafe(self.epochMillis)

export const option = <A>(self: Option3.Option<A>): Option.Option<A> =>
  Option3.isSome(self) ? Option.some(self.value) : Option.none()

const symbolsOf = (value: object | null): ReadonlyArray<symbol> =>
  value === null ? [] : [...Object.getOwnPropertySymbols(value), ...symbolsOf(Object.getPrototypeOf(value))]

/**
 * Whether a value was made by Effect 3, whose type ids are symbols. Those of Effect 4 are texts, but its errors have the
 * symbol of their arguments, as those of Effect 3.
 */
export const isFromEffect3 = (value: unknown): boolean =>
  ((typeof value === "object" && value !== null) || typeof value === "function") &&
  symbolsOf(value).some(({ description }) => /^@?effect\/(?!Data\/Error\/)/.test(description ?? ""))

/** Converts a defect, or a part of a log line. What has no counterpart becomes its text, or an error with its message. */
export const unknown = (value: unknown): unknown => {
  if (!isFromEffect3(value)) return value
  if (Redacted3.isRedacted(value)) return redacted(value)
  if (Duration3.isDuration(value)) return duration(value)
  if (value instanceof Error) return Object.assign(new Error(value.message), { name: value.name })
  return String(value)
}

export const same = <A>(value: A): A => value

export const noFiber = FiberId3.none

/** The conversion of an effect whose value and error are the same in both versions. */
export const unchanged = <A, E>() => ({ onSuccess: same<A>, onFailure: same<E> })
