/**
 * The fields of the form that sets a fault. Each choice has fields of its own, which the page shows only while the
 * choice is selected. An empty field is omitted, so that its default applies.
 */
import * as Fault from "../../Fault.ts"
import { numberOrText } from "../schema/numberOrText.ts"

export interface Input {
  readonly field: string
  readonly label: string
  /** The default, or an example of a required value. */
  readonly placeholder: string
  /** Whether a number is a text too. */
  readonly isText?: boolean
  readonly isRequired?: boolean
}

export interface Choice {
  readonly field: string
  readonly label: string
  readonly options: ReadonlyArray<Option>
  /** The field of the chosen option's name. Without it, the name itself is the value. */
  readonly kindField?: "kind"
}

export interface Option {
  readonly value: string
  readonly text: string
  /** Whether the choice is omitted from the fault. */
  readonly isNone?: boolean
  readonly fields: ReadonlyArray<Input | Choice>
}

const input = (field: string, label: string, placeholder: string): Input => ({ field, label, placeholder })

const text = (field: string, label: string, placeholder: string): Input => ({ field, label, placeholder, isText: true })

const required = (field: string, label: string, placeholder: string): Input => ({
  field,
  label,
  placeholder,
  isRequired: true
})

const option = (value: string, text: string, fields: Option["fields"] = []): Option => ({ value, text, fields })

const retryAfter = (none: string): Choice => ({
  field: "retryAfter",
  label: "Retry-After",
  kindField: "kind",
  options: [
    { ...option("", none), isNone: true },
    option("seconds", "seconds", [input("seconds", "Seconds", "1")]),
    option("date", "an HTTP date", [input("in", "From now", "1 second")]),
    option("garbage", "an invalid value", [text("text", "Value", "soon")])
  ]
})

const at: Choice = {
  field: "at",
  label: "At",
  options: [option("headers", "before the headers"), option("body", "in the middle of the body")]
}

const distribution: Choice = {
  field: "distribution",
  label: "Delay",
  kindField: "kind",
  options: [
    option("fixed", "fixed", [input("delay", "Time", "2 seconds")]),
    option("uniform", "uniform", [input("min", "From", "0 seconds"), input("max", "To", "4 seconds")]),
    option("normal", "normal", [
      input("mean", "Mean", "2 seconds"),
      input("deviation", "Deviation", "500 milliseconds")
    ]),
    option("logNormal", "log-normal", [input("median", "Median", "2 seconds"), input("sigma", "Sigma", "0.5")])
  ]
}

const fieldsOfKinds: Readonly<Record<Fault.What["kind"], Option["fields"]>> = {
  latency: [distribution],
  status: [
    input("status", "Status", "503"),
    retryAfter("none"),
    text("body", "Body", "none"),
    text("contentType", "Content type of the body", "text/plain; charset=utf-8")
  ],
  reset: [at],
  fin: [at],
  truncation: [input("keep", "Bytes that are sent", "half")],
  badChunk: [],
  falseGzip: [],
  duplicateLength: [],
  randomBytes: [input("length", "Bytes", "512")],
  malformedJson: [],
  invalidUtf8: [],
  empty: [],
  html: [],
  drip: [input("bytes", "Bytes at a time", "1"), input("every", "Time between", "100 milliseconds")],
  hang: [at],
  oversize: [input("bytes", "Bytes", "2097152")],
  somebodyElse: [],
  unknownMatch: [],
  tokenExpiry: [],
  tokenRevocation: [],
  quota: [
    input("limit", "Requests", "10"),
    input("per", "Per", "1 minute"),
    retryAfter("as the profile has it")
  ]
}

const what: Choice = {
  field: "what",
  label: "What",
  kindField: "kind",
  options: Fault.kinds.map(({ description, kind }) => option(kind, `${kind}: ${description}`, fieldsOfKinds[kind]))
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
