/**
 * Where a value breaks its schema and what was expected there: everything worth telling about a
 * failed decoding that is safe to log, to answer with, and to keep in an error.
 *
 * A `ParseError` prints the values it refused, and here those are names, dates of birth and tokens.
 * So decoding goes through {@link decodeUnknown}, whose failures hold paths and expectations only.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/**
 * One broken expectation.
 *
 * - `path`: dot-separated, empty for the value as a whole, in the names of the wire.
 * - `problem`: whether the value is `missing`, `unexpected`, or there but `invalid`.
 * - `expected`: what the schema asks for, in words.
 *
 * @category models
 * @since 0.1.0
 */
export class Violation extends Schema.Class<Violation>("@effect-idv/core/Violation")({
  path: Schema.String,
  problem: Schema.Literal("missing", "unexpected", "invalid"),
  expected: Schema.String
}) {
  /** `dob is invalid: expected a date that exists, as dd-mm-yyyy` */
  override toString(): string {
    return `${this.path === "" ? "the value" : this.path} is ${this.problem}: expected ${this.expected}`
  }
}

/**
 * @category models
 * @since 0.1.0
 */
export type Violations = Arr.NonEmptyReadonlyArray<Violation>

/**
 * Annotations for a schema of many parts: even a `ParseError` of it says this, and not what was in
 * it. Violations still tell each part.
 *
 * @category schemas
 * @since 0.1.0
 */
export const concealing = (description: string) => ({
  message: () => ({ message: `Expected ${description}`, override: true })
})

/**
 * Annotations for a schema: what it expects, in words, for violations. Even a `ParseError` of this
 * schema then says that, and not the value.
 *
 * @category schemas
 * @since 0.1.0
 */
export const expecting = (description: string) => ({
  description,
  ...concealing(description)
})

/**
 * The value as a whole is not what was expected.
 *
 * @category constructors
 * @since 0.1.0
 */
export const whole = (expected: string): Violations => Arr.of(new Violation({ path: "", problem: "invalid", expected }))

/**
 * Several violations as a sentence.
 *
 * @category destructors
 * @since 0.1.0
 */
export const format = (violations: ReadonlyArray<Violation>): string => violations.map(String).join("; ")

/**
 * Decodes with a schema. All violations are reported, not only the first, and none holds a value.
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
 * Decodes the bytes of a JSON text (RFC 8259: UTF-8, a byte order mark is passed over) with a
 * schema. Invalid UTF-8, invalid JSON and a key that stands twice in one object are violations of
 * the value as a whole: with `"match_found"` twice, one reader would see a match and another none.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeJson = <A, I>(
  schema: Schema.Schema<A, I>,
  options?: AST.ParseOptions
): (bytes: Uint8Array) => Either.Either<A, Violations> => {
  const decode = decodeUnknown(schema, options)
  return (bytes) => Either.flatMap(parseJson(bytes), decode)
}

const parseJson = (bytes: Uint8Array): Either.Either<unknown, Violations> =>
  Either.try({
    try: () => {
      // A new one each time: what one answer leaves in a decoder is not for the next.
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
      const value: unknown = JSON.parse(text)
      return { value, isUnambiguous: keysWritten(text) === keysRead(value) }
    },
    catch: () => whole("JSON text in UTF-8")
  }).pipe(
    Either.flatMap(({ isUnambiguous, value }) =>
      isUnambiguous ? Either.right(value) : Either.left(whole("JSON text with each key once in an object"))
    )
  )

/** In valid JSON a colon outside of strings follows each key, and nothing else. */
const keysWritten = (text: string): number => text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1

/** Without recursion: a body may be nested deeper than the stack. */
const keysRead = (root: unknown): number => {
  const values = [root]
  let count = 0
  for (const value of values) {
    if (typeof value !== "object" || value === null) continue
    const children: ReadonlyArray<unknown> = Object.values(value)
    if (!Array.isArray(value)) count += children.length
    for (const child of children) values.push(child)
  }
  return count
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
      if (AST.isUnion(issue.ast)) return violation("invalid", expectation(issue.ast))
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

const expectation = (ast: AST.AST | AST.Type): string => {
  if (ast instanceof AST.Type) return expectation(ast.type)
  if (AST.isUnion(ast)) {
    const [given, ...others] = ast.types.filter((member) => !AST.isUndefinedKeyword(member))
    if (given !== undefined && others.length === 0) return expectation(given)
  }
  return AST.getDescriptionAnnotation(ast).pipe(
    Option.orElse(() => AST.getTitleAnnotation(ast)),
    Option.getOrElse(() =>
      AST.isTransformation(ast) ? expectation(ast.from) : AST.isTypeLiteral(ast) ? "an object" : String(ast)
    )
  )
}
