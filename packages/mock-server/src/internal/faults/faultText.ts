/** A fault in one line, as on the command line: `on:what[=value][:when[=value]]`. */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import * as JsonText from "../http/jsonText.ts"
import { numberOrText } from "../schema/numberOrText.ts"
import * as FaultKinds from "./faultKinds.ts"

/** The field that the value of each kind sets. A kind that is not listed has no value. */
const fieldsOfWhat: Readonly<Record<string, string>> = {
  latency: "delay",
  status: "status",
  reset: "at",
  fin: "at",
  hang: "at",
  truncation: "keep",
  randomBytes: "length",
  oversize: "bytes",
  drip: "every",
  quota: "limit"
}

const fieldsOfWhen: Readonly<Record<string, string>> = {
  nth: "n",
  first: "n",
  every: "n",
  probability: "p",
  window: "for"
}

/** Kinds that exist and have no value. An unknown kind is left to the schema, which lists the known ones. */
const kindsWithoutValue: Readonly<Record<"what" | "when", ReadonlyArray<string>>> = {
  what: Record.keys(FaultKinds.table).filter((kind) => !Record.has(fieldsOfWhat, kind)),
  when: ["always"]
}

/** Parses the line into the JSON form of a fault, which the caller must decode with the schema. */
export const parse = (text: string): Either.Either<unknown, Violation.Violations> => {
  const [on = "", what, when, ...others] = text.trim().split(":")
  if (what === undefined || others.length > 0) {
    return Either.left(Violation.whole(
      "on:what[=value][:when[=value]], such as aml:hang or token:status=503:nth=2, or a JSON object"
    ))
  }
  return Either.all({
    on: Either.right(on.trim()),
    what: parsePart("what", what, fieldsOfWhat),
    ...(when !== undefined && { when: parsePart("when", when, fieldsOfWhen) })
  })
}

const parsePart = (
  path: "what" | "when",
  text: string,
  fields: Readonly<Record<string, string>>
): Either.Either<unknown, Violation.Violations> => {
  const [kind = "", ...values] = text.split("=").map((piece) => piece.trim())
  if (values.length === 0) return Either.right({ kind })
  if (kindsWithoutValue[path].includes(kind)) {
    return Either.left([new Violation.Violation({ path, problem: "invalid", expected: `${kind} without a value` })])
  }
  const field = Record.has(fields, kind) ? fields[kind] : undefined
  if (field === undefined) return Either.right({ kind })
  const value = numberOrText(values.join("="))
  return Either.right({
    kind,
    ...(kind === "latency" ? { distribution: { kind: "fixed", delay: value } } : { [field]: value })
  })
}

/** The input of a fault in a text: a JSON object as its value, so that its violations name its fields, or the text. */
export const input = (text: string): unknown =>
  text.trimStart().startsWith("{")
    ? Either.getOrElse(JsonText.parse(new TextEncoder().encode(text)), () => text)
    : text
