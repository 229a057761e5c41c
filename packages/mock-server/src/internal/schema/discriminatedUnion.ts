/** A union of structs told apart by their `kind`, whose violations are those of the one that was meant. */
import * as Violation from "@effect-idv/core/Violation"
import type * as Arbitrary from "effect/Arbitrary"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/** The kinds of the members, in their order. */
export const kindsOf = (ast: AST.AST): ReadonlyArray<string> => {
  switch (ast._tag) {
    case "Declaration":
      return ast.typeParameters.flatMap(kindsOf)
    case "Union":
      return ast.types.flatMap(kindsOf)
    case "Refinement":
    case "Transformation":
      return kindsOf(ast.from)
    case "TypeLiteral":
      return ast.propertySignatures.flatMap(({ name, type }) =>
        name === "kind" && AST.isLiteral(type) ? [String(type.literal)] : []
      )
    default:
      return []
  }
}

/**
 * An unknown kind is a violation of `kind` that lists the kinds; a known one has the violations of
 * its own parameters. A plain union would say only that nothing fits.
 */
export const byKind = <A, I>(union: Schema.Schema<A, I>): Schema.Schema<A, I> => {
  const kinds = kindsOf(union.ast)
  const oneOf = `one of ${kinds.join(", ")}`
  const kindAst = Schema.Unknown.annotations({ description: oneOf }).ast
  return Schema.declare(
    [union],
    {
      decode: (union) => {
        const decode = ParseResult.decodeUnknown(union)
        return (input, options, ast) => {
          if (!Predicate.isRecord(input)) return ParseResult.fail(new ParseResult.Type(ast, input))
          const kind = input["kind"]
          if (typeof kind === "string" && kinds.includes(kind)) {
            return ParseResult.mapError(decode(input, options), (issue) => ofMember(issue, ast))
          }
          const issue = kind === undefined
            ? new ParseResult.Missing(new AST.Type(kindAst))
            : new ParseResult.Type(kindAst, kind)
          return ParseResult.fail(new ParseResult.Pointer("kind", input, issue))
        }
      },
      encode: (union) => ParseResult.encodeUnknown(union)
    },
    {
      ...Violation.expecting(`an object whose kind is ${oneOf}`),
      jsonSchema: JSONSchema.fromAST(union.ast, { definitions: {} }),
      arbitrary: (arbitrary: Arbitrary.LazyArbitrary<A>) => arbitrary
    }
  )
}

/** The issues below a union, as those of something that is no union. */
const ofMember = (issue: ParseResult.ParseIssue, ast: AST.AST): ParseResult.ParseIssue =>
  issue._tag === "Composite" && AST.isUnion(issue.ast)
    ? new ParseResult.Composite(ast, issue.actual, issue.issues)
    : issue

/** A value that is not what was expected. */
export const unlike = (expected: string, actual: unknown): ParseResult.Type =>
  new ParseResult.Type(Schema.Unknown.annotations({ description: expected }).ast, actual)

/** A certain text, or an object with the violations of its own. */
export const orText = <const Text extends string, A extends object, I>(text: Text, schema: Schema.Schema<A, I>) => {
  const union = Schema.Union(Schema.Literal(text), schema)
  const expected = `"${text}", or an object whose kind is one of ${kindsOf(schema.ast).join(", ")}`
  return Schema.declare(
    [union, schema],
    {
      decode: (union, schema) => (input, options, ast) =>
        input === text
          ? ParseResult.decodeUnknown(union)(input, options)
          : Predicate.isRecord(input)
          ? ParseResult.decodeUnknown(schema)(input, options)
          : ParseResult.fail(new ParseResult.Type(ast, input)),
      encode: (union) => ParseResult.encodeUnknown(union)
    },
    {
      ...Violation.expecting(expected),
      jsonSchema: JSONSchema.fromAST(union.ast, { definitions: {} }),
      arbitrary: (arbitrary: Arbitrary.LazyArbitrary<Text | A>) => arbitrary
    }
  )
}
