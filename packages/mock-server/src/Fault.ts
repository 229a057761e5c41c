/**
 * A declarative fault: what goes wrong, on which operation, when, and for how long. Code, the command line and the
 * control API use the same value.
 *
 * A fault is deterministic: even a probability depends only on a seed and on the number of the request, so that a
 * failed run can be repeated.
 *
 * @since 0.1.0
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as FaultFields from "./internal/faults/faultFields.ts"
import * as FaultKinds from "./internal/faults/faultKinds.ts"
import * as FaultText from "./internal/faults/faultText.ts"
import { What } from "./internal/faults/what.ts"
import { When } from "./internal/faults/when.ts"
import * as JsonText from "./internal/http/jsonText.ts"
import { unexpectedValue } from "./internal/schema/discriminatedUnion.ts"
import { PositiveDurationText } from "./internal/schema/durationText.ts"
import { oneOf } from "./internal/schema/fields.ts"

export { Distribution, RetryAfter, What } from "./internal/faults/what.ts"
export { When } from "./internal/faults/when.ts"

const FaultStruct = Schema.Struct({
  /**
   * Up to 64 letters, digits, `.`, `_` and `-`, the first of which is not a dot.
   *
   * @default assigned by the session
   */
  id: Schema.optionalWith(FaultFields.id, { exact: true }),
  /** The operation whose requests the fault watches. */
  on: oneOf("token", "aml", "both"),
  /**
   * At which of these requests the fault fires.
   *
   * @default always
   */
  when: Schema.optionalWith(When, { exact: true, default: (): When => ({ kind: "always" }) }),
  /** What goes wrong. */
  what: What,
  /**
   * How long the fault stays set, in the session's time.
   *
   * @default until the fault is removed
   */
  ttl: Schema.optionalWith(PositiveDurationText, { exact: true })
}).annotations(FaultFields.closedWithDescription("a fault, as an object"))

/**
 * A fault. In JSON, a duration is a number of milliseconds or a text such as `2 seconds`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Fault = Schema.transformOrFail(FaultStruct, Schema.typeSchema(FaultStruct), {
  strict: true,
  decode: (fault) => {
    const on: ReadonlyArray<string> = FaultKinds.table[fault.what.kind].on
    return on.length === 2 || on.includes(fault.on)
      ? ParseResult.succeed(fault)
      : ParseResult.fail(
        new ParseResult.Pointer("on", fault, unexpectedValue(`${on.join(" or ")} for ${fault.what.kind}`, fault.on))
      )
  },
  encode: ParseResult.succeed
}).annotations({ identifier: "Fault", description: "a fault, as an object" })

/**
 * @category models
 * @since 0.1.0
 */
export interface Fault extends Schema.Schema.Type<typeof Fault> {}

/**
 * All kinds of faults, with a sentence for each and the operations that it applies to.
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
 * The input is not a fault. The violations say which field is wrong and what it must be.
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
 * Decodes a fault from parsed JSON.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeUnknown: (input: unknown) => Either.Either<Fault, Violation.Violations> = Violation.decodeUnknown(
  Fault
)

const toFaultInvalid = Either.mapLeft((violations: Violation.Violations) => new FaultInvalid({ violations }))

/**
 * Makes a fault in code from the same form as in JSON: `Fault.make({ on: "aml", what: { kind: "hang" } })`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: typeof Fault.Encoded): Either.Either<Fault, FaultInvalid> =>
  toFaultInvalid(decodeUnknown(input))

/**
 * Parses a fault from the command line: `on:what[=value][:when[=value]]`, or a JSON object.
 *
 * `aml:hang`, `token:status=401`, `both:latency=2 seconds:every=3`, `aml:reset=body:first=2`,
 * `aml:html:probability=0.1`, `{"on":"aml","what":{"kind":"drip","every":50}}`
 *
 * The value of `what` sets one field of the fault:
 *
 * - `latency`: the fixed delay.
 * - `status`: `status`.
 * - `reset`, `fin`, `hang`: `at`.
 * - `truncation`: `keep`. `randomBytes`: `length`. `oversize`: `bytes`.
 * - `drip`: `every`.
 * - `quota`: `limit`.
 *
 * The value of `when` sets `n` of `nth`, `first` and `every`, `p` of `probability`, or `for` of `window`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromText = (text: string): Either.Either<Fault, FaultInvalid> =>
  toFaultInvalid(
    text.trimStart().startsWith("{")
      ? JsonText.parse(new TextEncoder().encode(text)).pipe(
        Either.mapLeft(({ violations }) => violations),
        Either.flatMap(decodeUnknown)
      )
      : Either.flatMap(FaultText.parse(text), decodeUnknown)
  )
