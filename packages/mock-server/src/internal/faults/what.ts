/** What a fault does, with the fields of each kind. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import { constant } from "effect/Function"
import * as Schema from "effect/Schema"
import { discriminatedUnion, literalOr } from "../schema/discriminatedUnion.ts"
import { PositiveDurationText } from "../schema/durationText.ts"
import { number, wholeNumber } from "../schema/fields.ts"
import * as FaultFields from "./faultFields.ts"
import * as FaultKinds from "./faultKinds.ts"

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

const kind = <const Kind extends keyof typeof FaultKinds.table, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  fields: Fields
) =>
  Schema.Struct({ kind: Schema.Literal(kind), ...fields }).annotations(
    FaultFields.closedWithDescription(FaultKinds.table[kind].description)
  )

const responseKinds = [
  kind("latency", {
    /** @default a fixed delay of 2 seconds */
    distribution: Schema.optionalWith(Distribution, {
      exact: true,
      default: (): Distribution => ({ kind: "fixed", delay: Duration.seconds(2) })
    })
  }),
  kind("status", {
    /** @default 503 */
    status: Schema.optionalWith(wholeNumber(200, 599), { exact: true, default: constant(503) }),
    /** @default none */
    body: Schema.optionalWith(FaultFields.text, { exact: true }),
    /**
     * The type of the body, if there is one.
     *
     * @default "text/plain; charset=utf-8"
     */
    contentType: Schema.optionalWith(FaultFields.headerText, {
      exact: true,
      default: constant("text/plain; charset=utf-8")
    }),
    /** @default none */
    retryAfter: Schema.optionalWith(RetryAfter, { exact: true })
  }),
  kind("reset", {
    /** @default "headers" */
    at: FaultFields.at
  }),
  kind("fin", {
    /** @default "headers" */
    at: FaultFields.at
  }),
  kind("truncation", {
    /**
     * How many bytes of the body are sent.
     *
     * @default half of them
     */
    keep: Schema.optionalWith(wholeNumber(0), { exact: true })
  }),
  kind("badChunk", {}),
  kind("falseGzip", {}),
  kind("duplicateLength", {}),
  kind("randomBytes", {
    /** @default 512 */
    length: Schema.optionalWith(wholeNumber(1, 1_048_576), { exact: true, default: constant(512) })
  }),
  kind("malformedJson", {}),
  kind("invalidUtf8", {}),
  kind("empty", {}),
  kind("html", {}),
  kind("drip", {
    /**
     * How many bytes are sent at a time.
     *
     * @default 1
     */
    bytes: Schema.optionalWith(wholeNumber(1), { exact: true, default: constant(1) }),
    /** @default 100 milliseconds */
    every: FaultFields.wait(100)
  }),
  kind("hang", {
    /** @default "headers" */
    at: FaultFields.at
  }),
  kind("oversize", {
    /**
     * The size that the body exceeds, at most 64 MiB.
     *
     * @default 2 MiB
     */
    bytes: Schema.optionalWith(wholeNumber(1, 64 * 1_048_576), { exact: true, default: constant(2 * 1_048_576) })
  }),
  kind("somebodyElse", {}),
  kind("unknownMatch", {})
] as const

/** Kinds that act before the request is decided: on the token, or on the count of requests. */
const requestKinds = [
  kind("tokenExpiry", {}),
  kind("tokenRevocation", {}),
  kind("quota", {
    /** @default 10 */
    limit: Schema.optionalWith(wholeNumber(1), { exact: true, default: constant(10) }),
    /** @default 1 minute */
    per: Schema.optionalWith(PositiveDurationText, { exact: true, default: () => Duration.minutes(1) }),
    /**
     * The `Retry-After` of a request above the limit.
     *
     * @default "profile": the form that the session's profile has
     */
    retryAfter: Schema.optionalWith(literalOr(["profile"], RetryAfter), {
      exact: true,
      default: constant("profile" as const)
    })
  })
] as const

/**
 * What goes wrong. `Fault.kinds` describes each kind. Every field has a default.
 *
 * @category schemas
 * @since 0.1.0
 */
export const What = discriminatedUnion(Schema.Union(...responseKinds, ...requestKinds))

/** The kinds that act on the response. */
export const ResponseWhat = discriminatedUnion(Schema.Union(...responseKinds))

/**
 * @category models
 * @since 0.1.0
 */
export type What = typeof What.Type
