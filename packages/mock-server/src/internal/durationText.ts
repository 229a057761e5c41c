/** A duration as it stands in JSON: milliseconds as a number, or a text such as "2 seconds". */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** What `Duration` would quietly take for 0, or for no end. */
const isNoSpan = (input: unknown): boolean =>
  typeof input === "string"
    ? input.startsWith("-")
    : Array.isArray(input)
    ? input.some(isNoSpan)
    : (typeof input === "number" || typeof input === "bigint") && !(input >= 0)

/** What a timer can wait, in milliseconds: with more, what it ends would never end, or end at once. */
const longestWait = 2 ** 31 - 1

const isBetween = (least: number, most: number) => (duration: Duration.Duration): boolean => {
  const millis = Duration.toMillis(duration)
  return millis >= least && millis <= most
}

/** Encodes as a number of milliseconds. */
const make = (least: number, most = Number.MAX_VALUE) => {
  const range = `from ${least}${most === longestWait ? ` to ${most} (24.8 days)` : ""}`
  const expected = `a number of milliseconds ${range}, or a text such as "2 seconds"`
  const isAllowed = isBetween(least, most)
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

/** A span of the time of a session, whose clock can be moved. */
export const DurationText = make(0)

export const PositiveDurationText = make(1)

/** What is waited for, by a timer. */
export const WaitText = make(0, longestWait)

export const PositiveWaitText = make(1, longestWait)

/** Whether a duration that is given in code is one that a timer can wait. */
export const isWait = (wait: Duration.DurationInput, least: number): boolean =>
  !isNoSpan(wait) && Option.exists(Duration.decodeUnknown(wait), isBetween(least, longestWait))

export const expectedWait = (least: number): string => `a duration from ${least} to ${longestWait} ms (24.8 days)`
