/** What a user may write for a duration, as a schema: neither endless nor negative. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

export const DurationInput = Schema.transformOrFail(Schema.Unknown, Schema.DurationFromSelf, {
  strict: true,
  decode: (input, _, ast) =>
    Option.match(
      Option.filter(Duration.decodeUnknown(input), (duration) => Duration.isFinite(duration) && isSpan(input)),
      {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, input)),
        onSome: ParseResult.succeed
      }
    ),
  encode: ParseResult.succeed
}).annotations({ description: "a finite duration, such as \"30 seconds\"" })

/** What `Duration` would take for 0. */
const isSpan = (input: unknown): boolean =>
  typeof input === "string"
    ? !input.startsWith("-")
    : Array.isArray(input)
    ? input.every(isSpan)
    : typeof input !== "number" && typeof input !== "bigint" || input >= 0

export const Positive = DurationInput.pipe(
  Schema.greaterThanDuration(0, { description: "a duration over 0, such as \"30 seconds\"" })
)
