/**
 * A declarative fault: what goes wrong, when, and how often. The same value comes from code, from the
 * command line and from the control plane.
 *
 * A fault is deterministic: even a probability is a function of a seed and of the number of the
 * request, so a run that failed can be run again.
 *
 * @since 0.1.0
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as ParseResult from "effect/ParseResult"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Fields from "./internal/faults/faultFields.ts"
import * as FaultKinds from "./internal/faults/faultKinds.ts"
import * as FaultText from "./internal/faults/faultText.ts"
import * as JsonText from "./internal/http/jsonText.ts"
import * as ByKind from "./internal/schema/discriminatedUnion.ts"
import { PositiveDurationText } from "./internal/schema/durationText.ts"

const described = (description: string) => ({ ...Fields.strict, description })

/**
 * Which of the requests that a fault watches it fires on. They are counted from 1, from the time the
 * fault is set.
 *
 * - `always`: each.
 * - `nth`: the one with number `n`. `first`: those up to `n`. `every`: the multiples of `n`.
 * - `probability`: each with probability `p`, over 0, at most 1. The same `seed`, a whole number,
 *   gives the same firings; without one, those of the session's seed and the fault's id.
 * - `window`: those from `after` (0 by default) for a time `for`, by the session's clock, since the
 *   fault was set.
 *
 * @category schemas
 * @since 0.1.0
 */
export const When = ByKind.byKind(Schema.Union(
  Schema.Struct({ kind: Schema.Literal("always") }).annotations(described("Each request")),
  Schema.Struct({ kind: Schema.Literal("nth"), n: Fields.whole(1) }).annotations(
    described("The request with number n")
  ),
  Schema.Struct({ kind: Schema.Literal("first"), n: Fields.whole(1) }).annotations(described("The first n requests")),
  Schema.Struct({ kind: Schema.Literal("every"), n: Fields.whole(1) }).annotations(described("Each nth request")),
  Schema.Struct({
    kind: Schema.Literal("probability"),
    p: Fields.probability,
    seed: Schema.optionalWith(Fields.integer, { exact: true })
  }).annotations(described("Each request with probability p, the same for the same seed")),
  Schema.Struct({
    kind: Schema.Literal("window"),
    after: Fields.duration(0),
    for: PositiveDurationText
  }).annotations(described("The requests of a window of the session's time, since the fault was set"))
))

/**
 * @category models
 * @since 0.1.0
 */
export type When = typeof When.Type

/**
 * How long an answer is late: a `fixed` delay of 2 seconds by default, `uniform` from `min` to
 * below `max`, `normal` around a `mean`, or `logNormal` around a `median`, as real services are, with
 * `sigma`, the deviation of its logarithm. Never negative, and at most 10 minutes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Distribution = ByKind.byKind(Schema.Union(
  Schema.Struct({ kind: Schema.Literal("fixed"), delay: Fields.duration(2000) }).annotations(
    described("The same delay each time")
  ),
  Schema.Struct({ kind: Schema.Literal("uniform"), min: Fields.duration(0), max: Fields.duration(4000) }).annotations(
    described("Anything from min to max, alike")
  ).pipe(Schema.filter(({ max, min }) => Duration.lessThanOrEqualTo(min, max), {
    ...Violation.expecting("a min that is at most max"),
    jsonSchema: {}
  })),
  Schema.Struct({ kind: Schema.Literal("normal"), mean: Fields.duration(2000), deviation: Fields.duration(500) })
    .annotations(described("The bell curve")),
  Schema.Struct({
    kind: Schema.Literal("logNormal"),
    median: Fields.duration(2000),
    sigma: Schema.optionalWith(Fields.number(0, 10), { exact: true, default: constant(0.5) })
  }).annotations(described("Mostly near the median, with a long tail"))
))

/**
 * @category models
 * @since 0.1.0
 */
export type Distribution = typeof Distribution.Type

/**
 * The forms of `Retry-After`: whole `seconds` (1 by default), the HTTP `date` at a time from now
 * (1 second by default), or `garbage`, some text that is neither (`soon` by default).
 *
 * @category schemas
 * @since 0.1.0
 */
export const RetryAfter = ByKind.byKind(Schema.Union(
  Schema.Struct({
    kind: Schema.Literal("seconds"),
    seconds: Schema.optionalWith(Fields.whole(0), { exact: true, default: constant(1) })
  }).annotations(described("Seconds from now")),
  Schema.Struct({ kind: Schema.Literal("date"), in: Fields.duration(1000) }).annotations(
    described("The date of that time from now")
  ),
  Schema.Struct({
    kind: Schema.Literal("garbage"),
    text: Schema.optionalWith(Fields.headerText, { exact: true, default: constant("soon") })
  }).annotations(described("Neither seconds nor a date"))
))

/**
 * @category models
 * @since 0.1.0
 */
export type RetryAfter = typeof RetryAfter.Type

const bare = <const Kind extends keyof typeof FaultKinds.table>(kind: Kind) =>
  Schema.Struct({ kind: Schema.Literal(kind) }).annotations(described(FaultKinds.table[kind].description))

/**
 * What goes wrong. `kinds` has a sentence for each. Every parameter has a default:
 *
 * - `latency`: `distribution`, a fixed 2 seconds.
 * - `status`: `status` from 200 to 599, 503; `body`, none; `contentType` of the body,
 *   `text/plain; charset=utf-8`; `retryAfter`, none.
 * - `reset`, `fin`, `hang`: `at`, before the `headers` or in the middle of the `body`; `headers`.
 * - `truncation`: `keep`, how many bytes of the body are sent; half of them.
 * - `randomBytes`: `length`, 512 bytes.
 * - `drip`: `bytes`, 1, `every` 100 milliseconds.
 * - `oversize`: `bytes` that the body is over, 2 MiB; at most 64 MiB.
 * - `quota`: `limit` requests, 10, `per` minute; `retryAfter` of those above, as the `profile` of the
 *   session has it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const What = ByKind.byKind(Schema.Union(
  Schema.Struct({
    kind: Schema.Literal("latency"),
    distribution: Schema.optionalWith(Distribution, {
      exact: true,
      default: (): Distribution => ({ kind: "fixed", delay: Duration.seconds(2) })
    })
  }).annotations(described(FaultKinds.table.latency.description)),
  Schema.Struct({
    kind: Schema.Literal("status"),
    status: Schema.optionalWith(Fields.whole(200, 599), { exact: true, default: constant(503) }),
    body: Schema.optionalWith(Fields.text, { exact: true }),
    contentType: Schema.optionalWith(Fields.headerText, {
      exact: true,
      default: constant("text/plain; charset=utf-8")
    }),
    retryAfter: Schema.optionalWith(RetryAfter, { exact: true })
  }).annotations(described(FaultKinds.table.status.description)),
  Schema.Struct({ kind: Schema.Literal("reset"), at: Fields.at }).annotations(
    described(FaultKinds.table.reset.description)
  ),
  Schema.Struct({ kind: Schema.Literal("fin"), at: Fields.at }).annotations(
    described(FaultKinds.table.fin.description)
  ),
  Schema.Struct({
    kind: Schema.Literal("truncation"),
    keep: Schema.optionalWith(Fields.whole(0), { exact: true })
  }).annotations(described(FaultKinds.table.truncation.description)),
  bare("badChunk"),
  bare("falseGzip"),
  bare("duplicateLength"),
  Schema.Struct({
    kind: Schema.Literal("randomBytes"),
    length: Schema.optionalWith(Fields.whole(1, 1_048_576), { exact: true, default: constant(512) })
  }).annotations(described(FaultKinds.table.randomBytes.description)),
  bare("malformedJson"),
  bare("invalidUtf8"),
  bare("empty"),
  bare("html"),
  Schema.Struct({
    kind: Schema.Literal("drip"),
    bytes: Schema.optionalWith(Fields.whole(1), { exact: true, default: constant(1) }),
    every: Fields.wait(100)
  }).annotations(described(FaultKinds.table.drip.description)),
  Schema.Struct({ kind: Schema.Literal("hang"), at: Fields.at }).annotations(
    described(FaultKinds.table.hang.description)
  ),
  Schema.Struct({
    kind: Schema.Literal("oversize"),
    bytes: Schema.optionalWith(Fields.whole(1, 64 * 1_048_576), { exact: true, default: constant(2 * 1_048_576) })
  }).annotations(described(FaultKinds.table.oversize.description)),
  bare("somebodyElse"),
  bare("unknownMatch"),
  bare("tokenExpiry"),
  bare("tokenRevocation"),
  Schema.Struct({
    kind: Schema.Literal("quota"),
    limit: Schema.optionalWith(Fields.whole(1), { exact: true, default: constant(10) }),
    per: Schema.optionalWith(PositiveDurationText, { exact: true, default: () => Duration.minutes(1) }),
    retryAfter: Schema.optionalWith(ByKind.orText("profile", RetryAfter), {
      exact: true,
      default: constant("profile" as const)
    })
  }).annotations(described(FaultKinds.table.quota.description))
))

/**
 * @category models
 * @since 0.1.0
 */
export type What = typeof What.Type

const Declared = Schema.Struct({
  id: Schema.optionalWith(Fields.id, { exact: true }),
  on: Fields.oneOf("token", "aml", "both"),
  when: Schema.optionalWith(When, { exact: true, default: (): When => ({ kind: "always" }) }),
  what: What,
  ttl: Schema.optionalWith(PositiveDurationText, { exact: true })
}).annotations({ ...Fields.strict, description: "a fault, as an object" })

const onOf = (what: What) => FaultKinds.table[what.kind].on

/**
 * A fault. Encoded it is JSON; durations are a number of milliseconds or a text such as `2 seconds`.
 *
 * - `id`: up to 64 letters, digits, `.`, `_` and `-`, no dot first; the session gives one if there is none.
 * - `on`: the endpoint whose requests it watches, and counts.
 * - `when`: `always` by default.
 * - `what`: what goes wrong.
 * - `ttl`: after that much of the session's time it is off.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Fault = Schema.transformOrFail(Declared, Schema.typeSchema(Declared), {
  strict: true,
  decode: (fault) => {
    const on: ReadonlyArray<string> = onOf(fault.what)
    const isFit = on.length === 2 || on.includes(fault.on)
    const expected = `${on.join(" or ")} for ${fault.what.kind}`
    return isFit
      ? ParseResult.succeed(fault)
      : ParseResult.fail(new ParseResult.Pointer("on", fault, ByKind.unlike(expected, fault.on)))
  },
  encode: ParseResult.succeed
}).annotations({ identifier: "Fault", description: "a fault, as an object" })

/**
 * @category models
 * @since 0.1.0
 */
export interface Fault extends Schema.Schema.Type<typeof Fault> {}

/**
 * The kinds of `what`, with a sentence for each and the endpoints that it makes sense on.
 *
 * @category getters
 * @since 0.1.0
 */
export const kinds: ReadonlyArray<{
  readonly kind: What["kind"]
  readonly description: string
  readonly on: ReadonlyArray<"token" | "aml">
}> = Record.toEntries(FaultKinds.table).map(([kind, { description, on }]) => ({ kind, description, on }))

/**
 * What was given is no fault. The violations say where, and what is allowed there.
 *
 * @category errors
 * @since 0.1.0
 */
export class FaultInvalid extends Schema.TaggedError<FaultInvalid>("@effect-idv/mock-server/FaultInvalid")(
  "FaultInvalid",
  { violations: Schema.Array(Violation.Violation) }
) {
  override get message() {
    return `Not a fault: ${Violation.format(this.violations)}`
  }
}

/**
 * A fault from JSON that was parsed.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeUnknown: (input: unknown) => Either.Either<Fault, Violation.Violations> = Violation.decodeUnknown(
  Fault
)

const orInvalid = Either.mapLeft((violations: Violation.Violations) => new FaultInvalid({ violations }))

/**
 * A fault in code, in the form that it has in JSON: `Fault.make({ on: "aml", what: { kind: "hang" } })`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: typeof Fault.Encoded): Either.Either<Fault, FaultInvalid> => orInvalid(decodeUnknown(input))

/**
 * A fault from the command line: `on:what[=value][:when[=value]]`, or a JSON object.
 *
 * `aml:hang`, `token:status=401`, `both:latency=2 seconds:every=3`, `aml:reset=body:first=2`,
 * `aml:html:probability=0.1`, `{"on":"aml","what":{"kind":"drip","every":50}}`
 *
 * The value is the fixed delay of `latency`, the `status`, the `at` of `reset`, `fin` and `hang`, the
 * bytes of `truncation`, `randomBytes` and `oversize`, the `every` of `drip`, the `limit` of `quota`;
 * the `n` of `nth`, `first` and `every`, the `p` of `probability`, the `for` of `window`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromText = (text: string): Either.Either<Fault, FaultInvalid> =>
  orInvalid(
    text.trimStart().startsWith("{")
      ? JsonText.parse(new TextEncoder().encode(text)).pipe(
        Either.mapLeft(({ violations }) => violations),
        Either.flatMap(decodeUnknown)
      )
      : Either.flatMap(FaultText.parse(text), decodeUnknown)
  )
