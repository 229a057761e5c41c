/** An error in the arguments of a command, or in a file that they name. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"
import * as ParsedArguments from "./parsedArguments.ts"

/** The message is one line. It names the flag and what is allowed, and never repeats the value. */
export class UsageError extends Schema.TaggedError<UsageError>("@effect-idv/cli/UsageError")(
  "UsageError",
  { text: Schema.String }
) {
  override get message() {
    return this.text
  }
  /** The exit code, as shells have it for wrong usage. */
  readonly exitCode = 2
}

/** Formats a path, such as `faults[2] when n`. `name` translates the first segment. */
const formatPath = (path: string, name: (field: string) => string): string => {
  const [field = "", ...rest] = path.split(".")
  return rest.reduce(
    (text, segment) => /^\d+$/.test(segment) ? `${text}[${segment}]` : `${text} ${segment}`,
    name(field)
  )
}

/**
 * Converts violations of a schema. `name` returns the flag or argument of a field. The path of an element of a list
 * contains its index, from 0.
 */
export const fromViolations =
  (name: (field: string) => string) => (violations: ReadonlyArray<Violation.Violation>): UsageError =>
    new UsageError({
      text: Violation.format(
        violations.map((violation) => new Violation.Violation({ ...violation, path: formatPath(violation.path, name) }))
      )
    })

/** The flag of a field, such as `port-file` for `portFile`. */
export const flagOf = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/**
 * Converts violations of flags. `flags` has the flags whose name differs from their field's. If a flag occurs once,
 * the path contains no index.
 */
export const fromFlagViolations = (
  args: ParsedArguments.ParsedArguments,
  flags: Readonly<Record<string, string>> = {}
) => {
  const flag = (field: string) => flags[field] ?? flagOf(field)
  return (violations: ReadonlyArray<Violation.Violation>): UsageError =>
    fromViolations((field) => `--${flag(field)}`)(violations.map((violation) => {
      const [field = "", index, ...rest] = violation.path.split(".")
      return index === "0" && ParsedArguments.values(args, flag(field)).length < 2
        ? new Violation.Violation({ ...violation, path: [field, ...rest].join(".") })
        : violation
    }))
}
