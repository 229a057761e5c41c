/** The arguments of a command: as `commander` parsed them, as the fields of a schema, or a variable in place of a flag. */
import * as Violation from "@effect-idv/core/Violation"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as FlagValues from "./flagValues.ts"
import * as UsageError from "./usageError.ts"

export interface ParsedArguments {
  /** The values of each flag by its name. */
  readonly flags: Readonly<Record<string, ReadonlyArray<string>>>
  /** The positional arguments. */
  readonly words: ReadonlyArray<string>
  /** The positional arguments as one text. */
  readonly argument: string
}

export const values = ({ flags }: ParsedArguments, name: string): ReadonlyArray<string> => flags[name] ?? []

export const value = (args: ParsedArguments, name: string): string | undefined => values(args, name)[0]

export const isOn = (args: ParsedArguments, name: string): boolean => values(args, name).length > 0

/** An object with the value of a flag as a field, or an empty one. */
export const field = (args: ParsedArguments, name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(values(args, name).map((value) => [name, value]))

/** The flag of a field, such as `port-file` for `portFile`. */
const flagOf = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/**
 * Converts violations of flags. `flags` has the flags whose name differs from their field's. If a flag occurs once,
 * the path contains no index.
 */
export const fromFlagViolations = (
  args: ParsedArguments,
  flags: Readonly<Record<string, string>> = {}
) => {
  const flag = (field: string) => flags[field] ?? flagOf(field)
  return (violations: ReadonlyArray<Violation.Violation>): UsageError.UsageError =>
    UsageError.fromViolations((field) => `--${flag(field)}`)(violations.map((violation) => {
      const [field = "", index, ...rest] = violation.path.split(".")
      return index === "0" && values(args, flag(field)).length < 2
        ? new Violation.Violation({ ...violation, path: [field, ...rest].join(".") })
        : violation
    }))
}

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
  args: ParsedArguments,
  schema: Schema.Schema.AnyNoContext,
  numberOf: (text: string) => unknown = (text) => text
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    AST.getPropertySignatures(AST.encodedAST(schema.ast)).flatMap(({ isOptional, name, type }) => {
      const field = String(name)
      const texts = values(args, flagOf(field))
      return isList(type)
        ? isOptional && texts.length === 0 ? [] : [[field, texts]]
        : texts.map((text) => [field, isSwitch(type) ? true : isNumber(type) ? numberOf(text) : text])
    })
  )

/** Decodes the flags that are fields of a schema. */
export const read = <A, I>(
  args: ParsedArguments,
  schema: Schema.Schema<A, I>,
  numberOf?: (text: string) => unknown
): Either.Either<A, UsageError.UsageError> =>
  Either.mapLeft(
    Violation.decodeUnknown(schema)(inputOf(args, schema, numberOf)),
    fromFlagViolations(args)
  )

/** The value of a variable. An empty one counts as missing. */
export const variable = (name: string) =>
  Effect.map(
    Effect.orElseSucceed(Config.option(Config.nonEmptyString(name)), Option.none),
    (value) => Option.getOrUndefined(value)
  )

/** The value of a flag, or else of a variable. */
export const flagOrVariable = <A, I>(
  args: ParsedArguments,
  flag: string,
  name: string,
  schema: Schema.Schema<A, I>
) =>
  Effect.gen(function*() {
    const flagValue = value(args, flag)
    const text = flagValue ?? (yield* variable(name))
    return text === undefined ? undefined : yield* Effect.mapError(
      Violation.decodeUnknown(schema)(text),
      UsageError.fromViolations(() => flagValue === undefined ? name : `--${flag}`)
    )
  })

export const controlToken = (args: ParsedArguments) =>
  flagOrVariable(args, "control-token", "IDV_MOCK_CONTROL_TOKEN", FlagValues.Token)
