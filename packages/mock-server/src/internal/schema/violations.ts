/** What a report of violations shows: the known fields beside an unknown one, and not too many violations. */
import * as Violation from "@effect-idv/core/Violation"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/**
 * Refuses unknown fields, even where the schema itself would ignore them. The violation for an unknown field lists the
 * known ones.
 */
export const decodeUnknown = <A, I>(
  schema: Schema.Schema<A, I>
): (input: unknown) => Either.Either<A, Violation.Violations> => {
  const decode = Violation.decodeUnknown(schema, { onExcessProperty: "error" })
  return (input) =>
    Either.mapLeft(
      decode(input),
      Arr.map((violation) => {
        if (violation.problem !== "unexpected") return violation
        const fields = fieldsAt(schema.ast, input, violation.path.split("."))
        return new Violation.Violation({
          ...violation,
          expected: fields.length === 0 ? "no field at all" : `one of ${fields.join(", ")}`
        })
      })
    )
}

/**
 * Returns the fields of the struct at a path. If a part of the path is unknown, returns those of the last known struct:
 * the name of a field may contain dots.
 */
const fieldsAt = (ast: AST.AST, input: unknown, [name = "", ...rest]: ReadonlyArray<string>): ReadonlyArray<string> => {
  const members = membersOf(ast, input)
  const child = Arr.findFirst(members, (member) => childOf(member, name))
  return child._tag === "Some" && rest.length > 0
    ? fieldsAt(child.value, Predicate.hasProperty(input, name) ? input[name] : undefined, rest)
    : Arr.dedupe(
      members.flatMap((member) =>
        AST.isTypeLiteral(member) ? member.propertySignatures.map(({ name }) => String(name)) : []
      )
    )
}

/**
 * Returns the structs and lists that the schema allows for the input. Of several structs with a `kind`, it returns only
 * the one of the input's kind.
 */
const membersOf = (ast: AST.AST, input: unknown): ReadonlyArray<AST.TypeLiteral | AST.TupleType> => {
  switch (ast._tag) {
    case "TypeLiteral":
      return isOfSameKind(ast, input) ? [ast] : []
    case "TupleType":
      return [ast]
    case "Union":
      return ast.types.flatMap((type) => membersOf(type, input))
    case "Declaration":
      return ast.typeParameters.flatMap((type) => membersOf(type, input))
    case "Refinement":
    case "Transformation":
      return membersOf(ast.from, input)
    default:
      return []
  }
}

const isOfSameKind = ({ propertySignatures }: AST.TypeLiteral, input: unknown): boolean =>
  propertySignatures.every(({ name, type }) =>
    name !== "kind" || !AST.isLiteral(type) || Predicate.hasProperty(input, "kind") && input.kind === type.literal
  )

const childOf = (member: AST.TypeLiteral | AST.TupleType, name: string) =>
  Arr.head(
    AST.isTypeLiteral(member)
      ? member.propertySignatures.filter((signature) => signature.name === name).map(({ type }) => type)
      : member.rest.map(({ type }) => type)
  )

const limit = 20

/**
 * Keeps at most 20 violations, so that a short request cannot cause a long response. If there are more, the last one says
 * how many are missing.
 */
export const truncate = (violations: Violation.Violations): Violation.Violations =>
  violations.length <= limit
    ? violations
    : Arr.append(
      violations.slice(0, limit - 1),
      new Violation.Violation({
        path: "",
        problem: "invalid",
        expected: `none of ${violations.length - limit + 1} more violations, which are not listed`
      })
    )
