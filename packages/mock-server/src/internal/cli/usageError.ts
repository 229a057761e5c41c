/** An error in the arguments of a command, or in a file that they name. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"
import * as ParsedArguments from "./parsedArguments.ts"

/** The message is one line. It names the flag and what is allowed, and never repeats the value. */
export class UsageError extends Schema.TaggedError<UsageError>("@effect-idv/mock-server/internal/UsageError")(
  "UsageError",
  { text: Schema.String }
) {
  override get message() {
    return this.text
  }
}

/** Such as `faults[2] when n`. `name` translates the first segment of the path. */
const located = (path: string, name: (field: string) => string): string => {
  const [field = "", ...rest] = path.split(".")
  return rest.reduce(
    (text, segment) => /^\d+$/.test(segment) ? `${text}[${segment}]` : `${text} ${segment}`,
    name(field)
  )
}

/**
 * Violations of a schema. `name` returns the flag or argument of a field. An element of a list has its index, from 0.
 */
export const fromViolations =
  (name: (field: string) => string) => (violations: ReadonlyArray<Violation.Violation>): UsageError =>
    new UsageError({
      text: Violation.format(
        violations.map((violation) => new Violation.Violation({ ...violation, path: located(violation.path, name) }))
      )
    })

/**
 * Violations of flags. `flagOf` has the flag of each field with another name. A flag that was given once has no index.
 */
export const fromFlagViolations = (
  args: ParsedArguments.ParsedArguments,
  flagOf: Readonly<Record<string, string>> = {}
) => {
  const flag = (field: string) => flagOf[field] ?? field
  return (violations: ReadonlyArray<Violation.Violation>): UsageError =>
    fromViolations((field) => `--${flag(field)}`)(violations.map((violation) => {
      const [field = "", index, ...rest] = violation.path.split(".")
      return index === "0" && ParsedArguments.values(args, flag(field)).length < 2
        ? new Violation.Violation({ ...violation, path: [field, ...rest].join(".") })
        : violation
    }))
}
