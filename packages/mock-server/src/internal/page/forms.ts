/** The forms of the page: what the user typed, and what is wrong with it. */
import type * as Violation from "@effect-idv/core/Violation"
import type * as Journal from "../../Journal.ts"
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

/** A form that its panel shows again after the user sent it. No two forms of a panel have a field of the same name. */
export interface SentForm {
  readonly fields: Fields
  /** None if the form was valid. */
  readonly problems: Problems
  /** The exchange that the form caused. */
  readonly entry?: Journal.Entry
}

/** The problems of a field and of the fields below it. */
export const problemsAt = (sent: SentForm | undefined, field: string): Problems =>
  sent?.problems.filter(({ path }) => path === field || path.startsWith(`${field}.`)) ?? []

export const format = (problems: Problems): string => problems.map(({ text }) => text).join("; ")

/** The JSON form of the fields: a number or a truth value is not a text there. An empty field is omitted. */
export const json = (fields: Fields): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, text]) => text !== "").map(([name, text]) => [
      name,
      text === "true" ? true : text === "false" ? false : numberOrText(text)
    ])
  )

/** `nameOf` returns the name of a field in the form. */
export const problemsOf = (
  violations: ReadonlyArray<Violation.Violation>,
  nameOf: (path: string) => string = (path) => path
): Problems => violations.map((violation) => ({ path: nameOf(violation.path), text: String(violation) }))

/** What an operation refused, in the words of the operation. */
export const problemsOfError = (nameOf: (path: string) => string) => (error: Error): Problems =>
  error instanceof ControlRefused
    ? problemsOf(error.violations, nameOf)
    : [{ path: "", text: error.message }]
