/** Values that several kinds of faults have: how late a response is, and its `Retry-After`. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import { constant } from "effect/Function"
import * as Schema from "effect/Schema"
import { discriminatedUnion } from "../schema/discriminatedUnion.ts"
import { number, wholeNumber } from "../schema/fields.ts"
import * as FaultFields from "./faultFields.ts"

/**
 * How late a response is. The delay is never negative and at most 10 minutes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Distribution = discriminatedUnion(Schema.Union(
  FaultFields.variant("fixed", "The same delay each time", {
    /** @default 2 seconds */
    delay: FaultFields.delay(2000)
  }),
  FaultFields.variant("uniform", "Any delay from min up to, but not including, max, with equal probability", {
    /** @default 0 */
    min: FaultFields.delay(0),
    /** @default 4 seconds */
    max: FaultFields.delay(4000)
  }).pipe(
    Schema.filter(({ max, min }) => Duration.lessThanOrEqualTo(min, max), {
      ...Violation.expecting("a min that is at most max"),
      jsonSchema: {}
    })
  ),
  FaultFields.variant("normal", "A normal distribution", {
    /** @default 2 seconds */
    mean: FaultFields.delay(2000),
    /** @default 500 milliseconds */
    deviation: FaultFields.delay(500)
  }),
  FaultFields.variant(
    "logNormal",
    "A log-normal distribution, close to real services: near the median, with a long tail",
    {
      /** @default 2 seconds */
      median: FaultFields.delay(2000),
      /**
       * The standard deviation of the delay's logarithm.
       *
       * @default 0.5
       */
      sigma: Schema.optionalWith(number(0, 10), { exact: true, default: constant(0.5) })
    }
  )
))

/**
 * @category models
 * @since 0.1.0
 */
export type Distribution = typeof Distribution.Type

/**
 * The value of a `Retry-After` header.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RetryAfter = discriminatedUnion(Schema.Union(
  FaultFields.variant("seconds", "A number of seconds", {
    /** @default 1 */
    seconds: Schema.optionalWith(wholeNumber(0), { exact: true, default: constant(1) })
  }),
  FaultFields.variant("date", "An HTTP date that is `in` after the session's time", {
    /**
     * How long after the session's time the date is.
     *
     * @default 1 second
     */
    in: FaultFields.duration(1000)
  }),
  FaultFields.variant("garbage", "A text that is neither a number nor a date", {
    /** @default "soon" */
    text: Schema.optionalWith(FaultFields.headerText, { exact: true, default: constant("soon") })
  })
))

/**
 * @category models
 * @since 0.1.0
 */
export type RetryAfter = typeof RetryAfter.Type
