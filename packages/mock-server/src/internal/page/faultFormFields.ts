/**
 * The form that sets a fault. Each choice has fields of its own, which the page shows only while the choice is selected.
 * An empty field is omitted, so that its default applies.
 */
import { type Choice, type Input, input, type Option, option, required } from "../faults/form.ts"
import * as Kinds from "../faults/kinds.ts"
import { numberOrText } from "../schema/fields.ts"

export type { Choice, Input } from "../faults/form.ts"

const what: Choice = {
  field: "what",
  label: "What",
  kindField: "kind",
  options: Kinds.kinds.map(({ description, form, kind }) => option(kind, `${kind}: ${description}`, form))
}

const on: Choice = { field: "on", label: "On", options: ["aml", "token", "both"].map((on) => option(on, on)) }

const n = [required("n", "n", "2")]

const when: Choice = {
  field: "when",
  label: "When",
  kindField: "kind",
  options: [
    option("always", "always"),
    option("nth", "at the nth request", n),
    option("first", "at the first n requests", n),
    option("every", "at every nth request", n),
    option("probability", "with a probability", [
      required("p", "Probability", "0.1"),
      input("seed", "Seed", "that of the session")
    ]),
    option("window", "in a window of time", [input("after", "After", "0 seconds"), required("for", "For", "1 minute")])
  ]
}

const ttl = input("ttl", "Removed after", "never")

export const fields: ReadonlyArray<Input | Choice> = [what, on, when, ttl]

export const isChoice = (field: Input | Choice): field is Choice => "options" in field

/** The name of a field in the form: the fields and choices that lead to it. */
export const nameOf = (prefix: string, field: string): string => prefix === "" ? field : `${prefix}.${field}`

export const prefixOf = (name: string, { value }: Option): string => `${name}.${value}`

/** The option that is selected, by default the first. For `what` it is `status`, which is the most common. */
export const selected = (
  name: string,
  { options }: Choice,
  typed: Readonly<Record<string, string>>
): Option | undefined =>
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
      return value === "" && field.isRequired !== true
        ? encoded
        : add(encoded, field.field, field.isText === true ? value : numberOrText(value), [[ownPath, name]])
    }
    const option = selected(name, field, typed)
    if (option?.isNone === true) return encoded
    if (option === undefined || field.kindField === undefined) {
      return add(encoded, field.field, option?.value ?? typed[name], [[ownPath, name]])
    }
    const inner = encode(typed, option.fields, prefixOf(name, option), ownPath)
    return add(encoded, field.field, { kind: option.value, ...inner.json }, [[ownPath, name], ...inner.names])
  }, { json: {}, names: new Map() })
