/** What was given on the command line, or in a file that it names, is not what may be given. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

/** The message is one line. It names the flag and says what is allowed, and never holds the value. */
export class Refusal extends Schema.TaggedError<Refusal>("@effect-idv/mock-server/internal/Refusal")("Refusal", {
  text: Schema.String
}) {
  override get message() {
    return this.text
  }
}

/**
 * Violations in the words of the command line. `name` says what the first part of a path is there;
 * the number in a list goes.
 */
export const of = (name: (field: string) => string) => (violations: ReadonlyArray<Violation.Violation>): Refusal =>
  new Refusal({
    text: Violation.format(violations.map((violation) => {
      const [field = "", ...inside] = violation.path.split(".").filter((part) => !/^\d+$/.test(part))
      return new Violation.Violation({ ...violation, path: [name(field), ...inside].join(" ") })
    }))
  })
