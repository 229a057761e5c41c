/** A fault as a text, as on the command line: `on:what[=value][:when[=value]]`, or its JSON form. */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import { numberOrText } from "../schema/fields.ts"
import * as JsonText from "../schema/jsonText.ts"
import * as Kinds from "./kinds.ts"

const fieldsOfWhen: Readonly<Record<string, string>> = {
  nth: "n",
  first: "n",
  every: "n",
  probability: "p",
  window: "for"
}

/** The field that a value sets, or `none` if the kind has no value. An unknown kind is left to the schema. */
const fieldOf = (part: "what" | "when", kind: string): string | undefined => {
  if (part === "when") {
    return kind === "always"
      ? "none"
      : Record.has(fieldsOfWhen, kind)
      ? fieldsOfWhen[kind]
      : undefined
  }
  const entry = Kinds.find(kind)
  return entry === undefined ? undefined : entry.value?.[0] ?? "none"
}

const parseLine = (text: string): Either.Either<unknown, Violation.Violations> => {
  const [on = "", what, when, ...others] = text.trim().split(":")
  if (what === undefined || others.length > 0) {
    return Either.left(Violation.whole(
      "on:what[=value][:when[=value]], such as aml:hang or token:status=503:nth=2, or a JSON object"
    ))
  }
  return Either.all({
    on: Either.right(on.trim()),
    what: parsePart("what", what),
    ...(when !== undefined && { when: parsePart("when", when) })
  })
}

const parsePart = (path: "what" | "when", text: string): Either.Either<unknown, Violation.Violations> => {
  const [kind = "", ...values] = text.split("=").map((piece) => piece.trim())
  const field = fieldOf(path, kind)
  if (values.length === 0 || field === undefined) return Either.right({ kind })
  if (field === "none") {
    return Either.left([new Violation.Violation({ path, problem: "invalid", expected: `${kind} without a value` })])
  }
  const value = numberOrText(values.join("="))
  return Either.right({
    kind,
    ...(field === "distribution.delay" ? { distribution: { kind: "fixed", delay: value } } : { [field]: value })
  })
}

const isObject = (text: string): boolean => text.trimStart().startsWith("{")

const parseJson = (text: string) => JsonText.parse(new TextEncoder().encode(text))

/** Parses a text into the JSON form of a fault, which the caller must decode with the schema. */
export const parse = (text: string): Either.Either<unknown, Violation.Violations> =>
  isObject(text) ? Either.mapLeft(parseJson(text), ({ violations }) => violations) : parseLine(text)

/** The input of a fault in a text: a JSON object as its value, so that its violations name its fields, or the text. */
export const input = (text: string): unknown => isObject(text) ? Either.getOrElse(parseJson(text), () => text) : text
