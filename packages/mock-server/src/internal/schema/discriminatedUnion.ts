/** A union of structs with a field `kind`, whose violations are those of the member that the input names. */
import * as Violation from "@effect-idv/core/Violation"
import type * as Arbitrary from "effect/Arbitrary"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { closed } from "./fields.ts"

/** A member of a union of structs with a field `kind`. */
export const variant = <const Kind extends string, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  description: string,
  fields: Fields
) => Schema.Struct({ kind: Schema.Literal(kind), ...fields }).annotations({ ...closed, description })

/** A struct of a union, and its own fields as they are encoded. */
export interface Member {
  readonly kind: string
  readonly ast: AST.AST
  readonly fields: ReadonlyArray<AST.PropertySignature>
}

/** Returns the structs of a union that have a field `kind`, in their order. `whole` is the AST around the struct. */
export const membersOf = (ast: AST.AST, whole: AST.AST = ast): ReadonlyArray<Member> => {
  switch (ast._tag) {
    case "Declaration":
      return ast.typeParameters.slice(-1).flatMap((type) => membersOf(type))
    case "Union":
      return ast.types.flatMap((type) => membersOf(type))
    case "Refinement":
    case "Transformation":
      return membersOf(ast.from, whole)
    case "TypeLiteral":
      return ast.propertySignatures.flatMap(({ name, type }) =>
        name === "kind" && AST.isLiteral(type)
          ? [{
            kind: String(type.literal),
            ast: whole,
            fields: ast.propertySignatures.filter((own) => own.name !== name)
          }]
          : []
      )
    default:
      return []
  }
}

/** Returns the kinds of a union's members, in their order. */
export const kindsOf = (ast: AST.AST): ReadonlyArray<string> => membersOf(ast).map(({ kind }) => kind)

/**
 * For an unknown kind, the violation is at `kind` and lists the kinds. For a known one, the violations are those of its
 * own fields. A plain union would report only that no member matches.
 */
export const discriminatedUnion = <A, I>(union: Schema.Schema<A, I>): Schema.Schema<A, I> => {
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
            return ParseResult.mapError(decode(input, options), (issue) => withoutUnion(issue, ast))
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

/** The issues of a union's member as issues of `ast`, so that the report does not list the other members. */
const withoutUnion = (issue: ParseResult.ParseIssue, ast: AST.AST): ParseResult.ParseIssue =>
  issue._tag === "Composite" && AST.isUnion(issue.ast)
    ? new ParseResult.Composite(ast, issue.actual, issue.issues)
    : issue

/** The issue of a value that differs from what was expected. */
export const unexpectedValue = (expected: string, actual: unknown): ParseResult.Type =>
  new ParseResult.Type(Schema.Unknown.annotations({ description: expected }).ast, actual)

/** One of some literal texts, or an object that keeps the violations of its own schema. */
export const literalOr = <const Text extends string, A extends object, I>(
  texts: readonly [Text, ...ReadonlyArray<Text>],
  schema: Schema.Schema<A, I>
) => {
  const literals = Schema.Literal(...texts)
  const union = Schema.Union(literals, schema)
  const expected = texts.map((text) => `"${text}"`).join(", ") +
    `, or an object whose kind is one of ${kindsOf(schema.ast).join(", ")}`
  const isLiteral = Schema.is(literals)
  return Schema.declare(
    [union, schema],
    {
      decode: (union, schema) => (input, options, ast) =>
        isLiteral(input)
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
