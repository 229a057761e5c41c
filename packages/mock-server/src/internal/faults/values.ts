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
  Schema.Struct({
    kind: Schema.Literal("fixed"),
    /** @default 2 seconds */
    delay: FaultFields.delay(2000)
  }).annotations(FaultFields.closedWithDescription("The same delay each time")),
  Schema.Struct({
    kind: Schema.Literal("uniform"),
    /** @default 0 */
    min: FaultFields.delay(0),
    /** @default 4 seconds */
    max: FaultFields.delay(4000)
  }).annotations(
    FaultFields.closedWithDescription("Any delay from min up to, but not including, max, with equal probability")
  ).pipe(
    Schema.filter(({ max, min }) => Duration.lessThanOrEqualTo(min, max), {
      ...Violation.expecting("a min that is at most max"),
      jsonSchema: {}
    })
  ),
  Schema.Struct({
    kind: Schema.Literal("normal"),
    /** @default 2 seconds */
    mean: FaultFields.delay(2000),
    /** @default 500 milliseconds */
    deviation: FaultFields.delay(500)
  }).annotations(FaultFields.closedWithDescription("A normal distribution")),
  Schema.Struct({
    kind: Schema.Literal("logNormal"),
    /** @default 2 seconds */
    median: FaultFields.delay(2000),
    /**
     * The standard deviation of the delay's logarithm.
     *
     * @default 0.5
     */
    sigma: Schema.optionalWith(number(0, 10), { exact: true, default: constant(0.5) })
  }).annotations(
    FaultFields.closedWithDescription(
      "A log-normal distribution, close to real services: near the median, with a long tail"
    )
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
  Schema.Struct({
    kind: Schema.Literal("seconds"),
    /** @default 1 */
    seconds: Schema.optionalWith(wholeNumber(0), { exact: true, default: constant(1) })
  }).annotations(FaultFields.closedWithDescription("A number of seconds")),
  Schema.Struct({
    kind: Schema.Literal("date"),
    /**
     * How long after the session's time the date is.
     *
     * @default 1 second
     */
    in: FaultFields.duration(1000)
  }).annotations(FaultFields.closedWithDescription("An HTTP date that is `in` after the session's time")),
  Schema.Struct({
    kind: Schema.Literal("garbage"),
    /** @default "soon" */
    text: Schema.optionalWith(FaultFields.headerText, { exact: true, default: constant("soon") })
  }).annotations(FaultFields.closedWithDescription("A text that is neither a number nor a date"))
))

/**
 * @category models
 * @since 0.1.0
 */
export type RetryAfter = typeof RetryAfter.Type
