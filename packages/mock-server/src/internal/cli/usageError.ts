/** What was given on the command line, or in a file that it names, is not what may be given. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"
import * as Given from "./parsedArguments.ts"

/** The message is one line. It names the flag and says what is allowed, and never holds the value. */
export class Refusal extends Schema.TaggedError<Refusal>("@effect-idv/mock-server/internal/Refusal")("Refusal", {
  text: Schema.String
}) {
  override get message() {
    return this.text
  }
}

/** `faults[2] when n`: `name` says what the first part of a path is on the command line. */
const place = (path: string, name: (field: string) => string): string => {
  const [field = "", ...inside] = path.split(".")
  return inside.reduce((text, part) => /^\d+$/.test(part) ? `${text}[${part}]` : `${text} ${part}`, name(field))
}

/** Violations in the words of the command line. A part of a list has its index, from 0. */
export const of = (name: (field: string) => string) => (violations: ReadonlyArray<Violation.Violation>): Refusal =>
  new Refusal({
    text: Violation.format(
      violations.map((violation) => new Violation.Violation({ ...violation, path: place(violation.path, name) }))
    )
  })

/** Violations of flags. `flagOf` says which flag a field is. Of a flag that is there once, there is no index. */
export const ofFlags = (given: Given.Given, flagOf: Readonly<Record<string, string>> = {}) => {
  const named = (field: string) => flagOf[field] ?? field
  return (violations: ReadonlyArray<Violation.Violation>): Refusal =>
    of((field) => `--${named(field)}`)(violations.map((violation) => {
      const [field = "", index, ...inside] = violation.path.split(".")
      return index === "0" && Given.values(given, named(field)).length < 2
        ? new Violation.Violation({ ...violation, path: [field, ...inside].join(".") })
        : violation
    }))
}
