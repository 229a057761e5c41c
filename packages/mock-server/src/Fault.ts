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
import type * as Arbitrary from "effect/Arbitrary"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import * as FaultText from "./internal/faults/faultText.ts"
import * as Kinds from "./internal/faults/kinds.ts"
import { When } from "./internal/faults/when.ts"
import { unexpectedValue } from "./internal/schema/discriminatedUnion.ts"
import { PositiveDurationText } from "./internal/schema/durationText.ts"
import { closed, oneOf, optional, withDefault } from "./internal/schema/fields.ts"

export { What } from "./internal/faults/kinds.ts"
export { Distribution } from "./internal/faults/latency.ts"
export { RetryAfter } from "./internal/faults/retryAfter.ts"
export { When } from "./internal/faults/when.ts"

const idExpected = "1 to 64 letters, digits, dots, underscores and hyphens, not beginning with a dot"

const id = Schema.String.annotations({ description: idExpected }).pipe(
  Schema.pattern(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/, Violation.expecting(idExpected))
)

const FaultStruct = Schema.Struct({
  /**
   * Up to 64 letters, digits, `.`, `_` and `-`, the first of which is not a dot.
   *
   * @default assigned by the session
   */
  id: optional(id),
  /** The operation whose requests the fault watches. */
  on: oneOf("token", "aml", "both"),
  /**
   * At which of these requests the fault fires.
   *
   * @default always
   */
  when: withDefault(When, { kind: "always" }),
  /** What goes wrong. */
  what: Kinds.What,
  /**
   * How long the fault stays set, in the session's time.
   *
   * @default until the fault is removed
   */
  ttl: optional(PositiveDurationText)
}).annotations({ ...closed, description: "a fault, as an object" })

const FaultObject = Schema.transformOrFail(FaultStruct, Schema.typeSchema(FaultStruct), {
  strict: true,
  decode: (fault) => {
    const on: ReadonlyArray<string> = Kinds.find(fault.what.kind)?.on ?? []
    return on.length === 2 || on.includes(fault.on)
      ? ParseResult.succeed(fault)
      : ParseResult.fail(
        new ParseResult.Pointer("on", fault, unexpectedValue(`${on.join(" or ")} for ${fault.what.kind}`, fault.on))
      )
  },
  encode: ParseResult.succeed
})

/** The violations of a text as issues at the fields of the fault. */
const issueOf = (violations: Violation.Violations, ast: AST.AST): ParseResult.ParseIssue =>
  new ParseResult.Composite(
    ast,
    undefined,
    Arr.map(violations, ({ expected, path }) => {
      const issue = unexpectedValue(expected, undefined)
      const [field = "", ...rest] = path.split(".")
      return field === "" ? issue : new ParseResult.Pointer([field, ...rest], undefined, issue)
    })
  )

/**
 * A fault, as an object or as a text in one line, such as `aml:hang` or `token:status=503:nth=2`. In an object, a
 * duration is a number of milliseconds or a text such as `2 seconds`.
 *
 * The line is `on:what[=value][:when[=value]]`, or a JSON object. The value of `what` sets one field of the fault, such
 * as the `status` of `status`; `kinds` has an example of each. The value of `when` sets `n` of `nth`, `first` and
 * `every`, `p` of `probability`, or `for` of `window`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Fault: Schema.Schema<typeof FaultObject.Type, string | typeof FaultObject.Encoded> = Schema.declare(
  [FaultObject],
  {
    decode: (object) => {
      const decode = ParseResult.decodeUnknown(object)
      return (input, options, ast) =>
        typeof input === "string"
          ? Effect.flatMap(
            Either.mapLeft(FaultText.parse(input), (violations) => issueOf(violations, ast)),
            (json) => decode(json, options)
          )
          : Predicate.isRecord(input)
          ? decode(input, options)
          : ParseResult.fail(new ParseResult.Type(ast, input))
    },
    encode: (object) => {
      const encode = ParseResult.encodeUnknown(object)
      return (fault, options): Effect.Effect<string | typeof FaultObject.Encoded, ParseResult.ParseIssue> =>
        encode(fault, options)
    }
  },
  {
    ...Violation.expecting("a fault such as aml:hang, or an object with on and what"),
    identifier: "Fault",
    jsonSchema: { anyOf: [{ type: "string" }, JSONSchema.fromAST(FaultStruct.ast, { definitions: {} })] },
    arbitrary: (fault: Arbitrary.LazyArbitrary<typeof FaultObject.Type>) => fault
  }
)

/**
 * @category models
 * @since 0.1.0
 */
export interface Fault extends Schema.Schema.Type<typeof Fault> {}

/**
 * All kinds of faults, each with a sentence, the operations that it applies to, and an example.
 *
 * @category getters
 * @since 0.1.0
 */
export const kinds: ReadonlyArray<{
  readonly kind: Kinds.What["kind"]
  readonly description: string
  readonly on: ReadonlyArray<"token" | "aml">
  /** A fault of this kind as a text in one line. */
  readonly example: string
}> = Kinds.kinds.map((entry) => ({
  kind: entry.kind,
  description: entry.description,
  on: entry.on,
  example: Kinds.exampleOf(entry)
}))

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

/**
 * Encodes a fault as an object, for JSON.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode: (fault: Fault) => typeof FaultObject.Encoded = Schema.encodeSync(FaultObject)

/**
 * Makes a fault in code from the same form as in JSON: `Fault.make({ on: "aml", what: { kind: "hang" } })`, or
 * `Fault.make("aml:hang")`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: typeof Fault.Encoded): Either.Either<Fault, FaultInvalid> =>
  Either.mapLeft(decodeUnknown(input), (violations) => new FaultInvalid({ violations }))
