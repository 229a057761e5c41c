/** Decodes the forms of the page. */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import { flow } from "effect/Function"
import * as Schema from "effect/Schema"
import { ControlRefused } from "../operations/controlErrors.ts"
import { numberOrText } from "../schema/fields.ts"

/** The fields of a form as the user typed them. */
export type Fields = Readonly<Record<string, string>>

export const parse = (body: Uint8Array): Fields =>
  Object.fromEntries(new URLSearchParams(Buffer.from(body).toString("utf8")))

/** What is wrong with a field, as a sentence that names it. */
export interface Problem {
  readonly path: string
  readonly text: string
}

export type Problems = ReadonlyArray<Problem>

/** A form that could not be decoded. */
export interface InvalidForm {
  readonly fields: Fields
  readonly problems: Problems
}

/** The problems of a field and of the fields below it. */
export const problemsAt = ({ problems }: InvalidForm, field: string): Problems =>
  problems.filter(({ path }) => path === field || path.startsWith(`${field}.`))

export const format = (problems: Problems): string => problems.map(({ text }) => text).join("; ")

const problemsOf = (violations: ReadonlyArray<Violation.Violation>): Problems =>
  violations.map((violation) => ({ path: violation.path, text: String(violation) }))

const decoder = <A, I>(schema: Schema.Schema<A, I>) => flow(Violation.decodeUnknown(schema), Either.mapLeft(problemsOf))

/** The JSON form of the fields: a number or a truth value is not a text there. An empty field is omitted. */
export const json = (fields: Fields): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, text]) => text !== "").map(([name, text]) => [
      name,
      text === "true" ? true : text === "false" ? false : numberOrText(text)
    ])
  )

/** What an operation refused, in the words of the operation. `nameOf` returns the name of a field in the form. */
export const problemsOfError = (nameOf: (path: string) => string) => (error: Error): Problems =>
  error instanceof ControlRefused
    ? error.violations.map((violation) => ({ path: nameOf(violation.path), text: String(violation) }))
    : [{ path: "", text: error.message }]

export const decodeSession = decoder(Schema.Struct({
  session: Schema.NonEmptyString.annotations(Violation.expecting("a customer id"))
}))
