/**
 * Describes where a value breaks its schema and what was expected there, without the value. A violation is safe in
 * logs, responses and errors.
 *
 * A `ParseError` prints the invalid values, which here are names, dates of birth and tokens. Decode with
 * {@link decodeUnknown} instead: its failures contain paths and expectations only.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as StrictJson from "./internal/schema/strictJson.ts"

/**
 * One violated expectation.
 *
 * @category models
 * @since 0.1.0
 */
export class Violation extends Schema.Class<Violation>("@effect-idv/core/Violation")({
  /** The names of the fields on the wire, separated by dots. Empty for the whole value. */
  path: Schema.String,
  problem: Schema.Literal("missing", "unexpected", "invalid"),
  /** What the schema expects, in words. */
  expected: Schema.String
}) {
  /** For example `dob is invalid: expected a date that exists, as dd-mm-yyyy`. */
  override toString(): string {
    return `${this.path === "" ? "the value" : this.path} is ${this.problem}: expected ${this.expected}`
  }
}

/**
 * At least one violation.
 *
 * @category models
 * @since 0.1.0
 */
export type Violations = Arr.NonEmptyReadonlyArray<Violation>

/**
 * Annotations for a schema with several fields: its `ParseError` prints the description instead of the values.
 * Violations still name each field.
 *
 * @category schemas
 * @since 0.1.0
 */
export const concealing = (description: string) => ({
  message: () => ({ message: `Expected ${description}`, override: true })
})

/**
 * Annotations that describe what a schema expects. Violations contain the description, and its `ParseError` prints it
 * instead of the value.
 *
 * @category schemas
 * @since 0.1.0
 */
export const expecting = (description: string) => ({
  description,
  ...concealing(description)
})

/**
 * Returns the violation of a whole value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const whole = (expected: string): Violations => Arr.of(new Violation({ path: "", problem: "invalid", expected }))

/**
 * Joins violations into one text.
 *
 * @category destructors
 * @since 0.1.0
 */
export const format = (violations: ReadonlyArray<Violation>): string => violations.map(String).join("; ")

/**
 * Decodes with a schema. Reports all violations, without values.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeUnknown = <A, I>(
  schema: Schema.Schema<A, I>,
  options?: AST.ParseOptions
): (input: unknown) => Either.Either<A, Violations> => {
  const decode = ParseResult.decodeUnknownEither(schema, { errors: "all", ...options })
  return (input) => Either.mapLeft(decode(input), (issue) => flatten(issue, []))
}

/**
 * Decodes the bytes of a JSON text with a schema (RFC 8259: UTF-8, and a byte order mark is ignored). Invalid UTF-8,
 * invalid JSON and a repeated key in one object are violations of the whole value: with `"match_found"` twice, one
 * reader would see a match and another would not.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeJson = <A, I>(
  schema: Schema.Schema<A, I>,
  options?: AST.ParseOptions
): (bytes: Uint8Array) => Either.Either<A, Violations> => {
  const decode = decodeUnknown(schema, options)
  return (bytes) => Either.flatMap(Either.mapLeft(StrictJson.parse(bytes), whole), decode)
}

const flatten = (issue: ParseResult.ParseIssue, path: ReadonlyArray<PropertyKey>): Violations => {
  const violation = (problem: Violation["problem"], expected: string): Violations =>
    Arr.of(new Violation({ path: path.map(String).join("."), problem, expected }))
  switch (issue._tag) {
    case "Pointer":
      return flatten(issue.issue, path.concat(issue.path))
    case "Missing":
      return violation("missing", expectation(issue.ast))
    case "Unexpected":
      return violation("unexpected", "no such field")
    case "Composite":
      if (AST.isUnion(issue.ast)) {
        // An optional field is a union with `undefined`. The fields of a record in it are named too.
        const nested = membersOf(issue.ast).length === 1
          ? Arr.ensure(issue.issues).flatMap((member) => flatten(member, path)).filter((found) =>
            found.path !== path.map(String).join(".")
          )
          : []
        return Arr.isNonEmptyArray(nested) ? nested : violation("invalid", expectation(issue.ast))
      }
      return "_tag" in issue.issues
        ? flatten(issue.issues, path)
        : Arr.flatMap(issue.issues, (issue) => flatten(issue, path))
    case "Refinement":
      return issue.kind === "From" ? flatten(issue.issue, path) : violation("invalid", expectation(issue.ast))
    case "Transformation":
      return issue.kind === "Transformation" && issue.issue._tag !== "Composite" && issue.issue._tag !== "Pointer"
        ? violation("invalid", expectation(issue.ast))
        : flatten(issue.issue, path)
    case "Type":
    case "Forbidden":
      return violation("invalid", expectation(issue.ast))
  }
}

/** The members of a union, without `undefined`, which an optional field adds. */
const membersOf = ({ types }: AST.Union): ReadonlyArray<AST.AST> =>
  types.filter((type) => !AST.isUndefinedKeyword(type))

const expectation = (ast: AST.AST | AST.Type): string => {
  if (ast instanceof AST.Type) return expectation(ast.type)
  if (AST.isUnion(ast)) {
    const [member, ...others] = membersOf(ast)
    if (member !== undefined && others.length === 0) return expectation(member)
  }
  return AST.getDescriptionAnnotation(ast).pipe(
    Option.orElse(() => AST.getTitleAnnotation(ast)),
    Option.getOrElse(() =>
      AST.isTransformation(ast) ? expectation(ast.from) : AST.isTypeLiteral(ast) ? "an object" : String(ast)
    )
  )
}
