/** The fields that errors have in common. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Violation from "../Violation.ts"

/** The `host:port` of an address. */
export const Host = Schema.optionalKey(Schema.String)

/** In milliseconds when encoded. A negative duration, which only Effect 4 has, would mean no wait. */
export const NonNegativeDuration = Schema.DurationFromMillis.check(
  Schema.makeFilter((duration) => !Duration.isNegative(duration) || "a duration that is not negative")
)

/** How long the service asked to wait, if it did. */
export const RetryAfter = Schema.optionalKey(NonNegativeDuration)

/** A field that exists in memory only: it is omitted when encoded, and ignored when decoded. */
const omittedWhenEncoded = <S extends Schema.Top>(schema: S) =>
  Schema.optionalKey(Schema.Unknown).pipe(
    Schema.decodeTo(Schema.optionalKey(Schema.toType(schema)), {
      decode: SchemaGetter.omit(),
      encode: SchemaGetter.omit()
    })
  )

/** The fields of an error that come from the body of the error response. */
export const errorBody = {
  /**
   * The error code of the response (OAuth `error`, the `type` of a problem, or `code`), if it matches a safe-character
   * pattern and repeats no part of the person or the token. The comparison does not detect the name of another person,
   * or a Latin spelling of a name in another script.
   */
  code: Schema.optionalKey(Schema.String),
  /**
   * The free text of the response, at most 1000 characters. It may contain personal data, so it is redacted, and
   * omitted when the error is encoded.
   */
  detail: omittedWhenEncoded(Schema.Redacted(Schema.String))
}

/** The fields of the error of a response that is not valid. */
export const invalidResponse = {
  /** The `host:port` of the address. */
  host: Host,
  status: Schema.Int,
  /** One of a few known media types, or `other`. */
  contentType: Schema.optionalKey(Schema.String),
  /** The length of the body, in bytes. */
  length: Schema.Int,
  /** The invalid fields, without their values. */
  violations: Schema.Array(Violation.Violation)
}
