/** The header `Retry-After` in each of its forms. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import type { Profile } from "../../Profile.ts"
import { discriminatedUnion, variant } from "../schema/discriminatedUnion.ts"
import { DurationText } from "../schema/durationText.ts"
import { wholeNumber, withDefault } from "../schema/fields.ts"
import type { Headers } from "../wire/response.ts"

const headerExpected = "a text of printable ASCII characters"

/** The value of a header. */
export const headerText = Schema.String.annotations({ description: headerExpected }).pipe(
  Schema.pattern(/^[\x20-\x7e]*$/, Violation.expecting(headerExpected))
)

/**
 * The value of a `Retry-After` header.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RetryAfter = discriminatedUnion(Schema.Union(
  variant("seconds", "A number of seconds", {
    /** @default 1 */
    seconds: withDefault(wholeNumber(0), 1)
  }),
  variant("date", "An HTTP date that is `in` after the session's time", {
    /**
     * How long after the session's time the date is.
     *
     * @default 1 second
     */
    in: withDefault(DurationText, Duration.seconds(1))
  }),
  variant("garbage", "A text that is neither a number nor a date", {
    /** @default "soon" */
    text: withDefault(headerText, "soon")
  })
))

/**
 * @category models
 * @since 0.1.0
 */
export type RetryAfter = typeof RetryAfter.Type

/** Returns the header. `now` is the session's time in milliseconds since 1970. */
export const headers = (form: RetryAfter | undefined, now: number): Headers =>
  form === undefined ? {} : { "retry-after": value(form, now) }

const value = (form: RetryAfter, now: number): string => {
  switch (form.kind) {
    case "seconds":
      return String(form.seconds)
    case "date":
      // An HTTP date has no milliseconds. It is rounded up, so that a client that waits until then is not too early.
      return new Date(Math.ceil((now + Duration.toMillis(form.in)) / 1000) * 1000).toUTCString()
    case "garbage":
      return form.text
  }
}

/** Returns the form that a profile selects, for a wait of `retryIn`. */
export const ofProfile = ({ rateLimit }: Profile, retryIn: Duration.Duration): RetryAfter | undefined => {
  switch (rateLimit) {
    case "seconds":
      return { kind: "seconds", seconds: Math.ceil(Duration.toSeconds(retryIn)) }
    case "date":
      return { kind: "date", in: retryIn }
    case "none":
      return undefined
    case "garbage":
      return { kind: "garbage", text: "soon" }
  }
}
