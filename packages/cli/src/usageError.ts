/** An error in the arguments of a command, or in a file that they name. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

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
