/** The flags of a command as the fields of a schema. */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as ParsedArguments from "./parsedArguments.ts"
import * as UsageError from "./usageError.ts"

/** Whether a type, or a member of a union such as that with `undefined`, is of a kind. */
const isA = (isOfKind: (ast: AST.AST) => boolean) => (ast: AST.AST): boolean =>
  isOfKind(ast) || AST.isUnion(ast) && ast.types.some(isA(isOfKind))

const isList = isA(AST.isTupleType)
const isSwitch = isA(AST.isBooleanKeyword)
const isNumber = isA(AST.isNumberKeyword)

/**
 * The flags that are fields of a schema, such as `--port-file` for `portFile`: a list, a switch or a text. `numberOf`
 * converts the text of a field that may be a number. A missing flag adds a field only for a required list, which is empty.
 */
export const inputOf = (
  args: ParsedArguments.ParsedArguments,
  schema: Schema.Schema.AnyNoContext,
  numberOf: (text: string) => unknown = (text) => text
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    AST.getPropertySignatures(AST.encodedAST(schema.ast)).flatMap(({ isOptional, name, type }) => {
      const field = String(name)
      const texts = ParsedArguments.values(args, UsageError.flagOf(field))
      return isList(type)
        ? isOptional && texts.length === 0 ? [] : [[field, texts]]
        : texts.map((text) => [field, isSwitch(type) ? true : isNumber(type) ? numberOf(text) : text])
    })
  )

/** Decodes the flags that are fields of a schema. */
export const read = <A, I>(
  args: ParsedArguments.ParsedArguments,
  schema: Schema.Schema<A, I>,
  numberOf?: (text: string) => unknown
): Either.Either<A, UsageError.UsageError> =>
  Either.mapLeft(
    Violation.decodeUnknown(schema)(inputOf(args, schema, numberOf)),
    UsageError.fromFlagViolations(args)
  )
