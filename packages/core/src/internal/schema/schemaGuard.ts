/**
 * Compiles a schema into a predicate, which validates parsed JSON in a fraction of the time. The schema remains the
 * source: the predicate runs its filters, and a value that it refuses goes to the schema.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/**
 * Returns a predicate that is true only for values that the schema accepts and does not change, except for fields that
 * the schema does not define. A schema with another part than a field, a filter, a union, a string, a literal, or an
 * unknown value is a defect.
 */
export const make = <A>(schema: Schema.Schema<A>): (value: unknown) => value is A => {
  const accepts = compile(schema.ast)
  return (value): value is A => accepts(value)
}

const compile = (ast: AST.AST): Predicate.Predicate<unknown> => {
  switch (ast._tag) {
    case "StringKeyword":
      return Predicate.isString
    case "UnknownKeyword":
      return () => true
    case "UndefinedKeyword":
      return Predicate.isUndefined
    case "Literal":
      return (value) => value === ast.literal
    case "Union": {
      const members = ast.types.map(compile)
      return (value) => members.some((accepts) => accepts(value))
    }
    case "Refinement": {
      const accepts = compile(ast.from)
      return (value) => accepts(value) && Option.isNone(ast.filter(value, AST.defaultParseOption, ast))
    }
    case "TypeLiteral": {
      if (ast.indexSignatures.length > 0) break
      const fields = ast.propertySignatures.map(({ isOptional, name, type }) => ({
        name,
        isOptional,
        accepts: compile(type)
      }))
      return (value) =>
        Predicate.isRecord(value) &&
        fields.every(({ accepts, isOptional, name }) => Object.hasOwn(value, name) ? accepts(value[name]) : isOptional)
    }
  }
  throw new TypeError(`schemaGuard: ${ast._tag} is not supported`)
}
