/**
 * The form that sets a fault, made from the schema of a fault. Each choice has fields of its own, which the page shows
 * only while the choice is selected. An empty field is omitted, so that its default applies.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Fault from "../../Fault.ts"
import * as DiscriminatedUnion from "../schema/discriminatedUnion.ts"
import { PositiveDurationText } from "../schema/durationText.ts"
import { numberOrText } from "../schema/fields.ts"

export interface Input {
  /** The name of the field, which is also its label. */
  readonly field: string
  /** The default, or an example of a required value. */
  readonly placeholder: string
  /** Whether a number is a text too. */
  readonly isText: boolean
  readonly isRequired: boolean
}

export interface Choice {
  /** The name of the field, which is also its label. */
  readonly field: string
  readonly options: ReadonlyArray<Selectable>
  /** Whether an option is an object with its value as `kind`, and not its value itself. */
  readonly isKind: boolean
}

/** An option of a choice. */
export interface Selectable {
  readonly value: string
  readonly text: string
  /** Whether the choice is omitted from the fault. */
  readonly isNone?: boolean
  readonly fields: ReadonlyArray<Input | Choice>
}

/** The default of a field, or an empty text. */
const textOf = (value: unknown): string =>
  Duration.isDuration(value)
    ? Duration.format(value)
    : Predicate.isString(value) || Predicate.isNumber(value)
    ? String(value)
    : ""

/** Examples of the fields without a default. */
const examples: Readonly<Record<string, string>> = { n: "2", p: "0.1", for: "1 minute" }

const isText = (ast: AST.AST): boolean => AST.isStringKeyword(ast) || AST.isRefinement(ast) && isText(ast.from)

const literalsOf = (ast: AST.AST): ReadonlyArray<string> =>
  AST.isLiteral(ast) ? [String(ast.literal)] : AST.isUnion(ast) ? ast.types.flatMap(literalsOf) : []

const plain = (value: string, text = value): Selectable => ({ value, text, fields: [] })

/** The values that the fields of a struct have by default, if it has no required field. */
const defaultsOf = ({ ast, kind }: DiscriminatedUnion.Member): Readonly<Record<string, unknown>> =>
  Option.getOrElse(
    Option.filter(Schema.decodeUnknownOption(Schema.make<unknown>(ast))({ kind }), Predicate.isRecord),
    () => ({})
  )

/** The description of the struct, and not that of a condition on its fields. */
const descriptionOf = (ast: AST.AST): string =>
  AST.isRefinement(ast)
    ? descriptionOf(ast.from)
    : Option.getOrElse(AST.getDescriptionAnnotation(ast), () => "")

const optionOf = (member: DiscriminatedUnion.Member): Selectable => {
  const defaults = defaultsOf(member)
  return {
    value: member.kind,
    text: `${member.kind}: ${descriptionOf(member.ast)}`,
    fields: member.fields.map(({ isOptional, name, type }) =>
      fieldOf(String(name), type, isOptional, defaults[String(name)])
    )
  }
}

/** A field of the form. `initial` is the value of its default. */
const fieldOf = (field: string, type: AST.AST, isOptional: boolean, initial?: unknown): Input | Choice => {
  const options = DiscriminatedUnion.membersOf(type).map(optionOf)
  if (options.length > 0) {
    const isWithout = isOptional && !Predicate.isRecord(initial)
    const none = { ...plain("", textOf(initial) || "none"), isNone: true }
    return { field, isKind: true, options: isWithout ? [none, ...options] : options }
  }
  const literals = literalsOf(type)
  return literals.length > 0
    ? { field, isKind: false, options: literals.map((literal) => plain(literal)) }
    : {
      field,
      placeholder: (isOptional ? textOf(initial) : examples[field]) || "optional",
      isText: isText(type),
      isRequired: !isOptional
    }
}

export const fields: ReadonlyArray<Input | Choice> = [
  fieldOf("what", Fault.What.ast, false),
  { field: "on", isKind: false, options: ["aml", "token", "both"].map((on) => plain(on)) },
  fieldOf("when", Fault.When.ast, true, {}),
  fieldOf("ttl", PositiveDurationText.ast, true)
]

export const isChoice = (field: Input | Choice): field is Choice => "options" in field

/** The name of a field in the form: the fields and choices that lead to it. */
export const nameOf = (prefix: string, field: string): string => prefix === "" ? field : `${prefix}.${field}`

export const prefixOf = (name: string, { value }: Selectable): string => `${name}.${value}`

/** The option that is selected, by default the first. For `what` it is `status`, which is the most common. */
export const selected = (
  name: string,
  { options }: Choice,
  typed: Readonly<Record<string, string>>
): Selectable | undefined =>
  options.find(({ value }) => value === (typed[name] ?? (name === "what" ? "status" : options[0]?.value)))

/** What a form means: the JSON of a fault, and the name of the form's field by the path of the fault's field. */
interface Encoded {
  readonly json: Readonly<Record<string, unknown>>
  readonly names: ReadonlyMap<string, string>
}

const add = (encoded: Encoded, field: string, value: unknown, names: Iterable<readonly [string, string]>): Encoded => ({
  json: { ...encoded.json, [field]: value },
  names: new Map([...encoded.names, ...names])
})

/** Encodes the fields of the selected options. `path` is the path of the object in the fault. */
export const encode = (
  typed: Readonly<Record<string, string>>,
  all: ReadonlyArray<Input | Choice> = fields,
  prefix = "",
  path = ""
): Encoded =>
  all.reduce((encoded: Encoded, field) => {
    const name = nameOf(prefix, field.field)
    const ownPath = nameOf(path, field.field)
    if (!isChoice(field)) {
      const value = (typed[name] ?? "").trim()
      return value === "" && !field.isRequired
        ? encoded
        : add(encoded, field.field, field.isText ? value : numberOrText(value), [[ownPath, name]])
    }
    const option = selected(name, field, typed)
    if (option?.isNone === true) return encoded
    if (option === undefined || !field.isKind) {
      return add(encoded, field.field, option?.value ?? typed[name], [[ownPath, name]])
    }
    const inner = encode(typed, option.fields, prefixOf(name, option), ownPath)
    return add(encoded, field.field, { kind: option.value, ...inner.json }, [[ownPath, name], ...inner.names])
  }, { json: {}, names: new Map() })
