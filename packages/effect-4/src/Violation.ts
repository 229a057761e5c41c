/**
 * Describes where a response breaks its schema and what was expected there, without the value.
 *
 * @since 0.1.0
 */
import * as Violation3 from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

/**
 * One violated expectation.
 *
 * @category models
 * @since 0.1.0
 */
export class Violation extends Schema.Class<Violation>("@effect-idv/effect-4/Violation")({
  /** The names of the fields on the wire, separated by dots. Empty for the whole value. */
  path: Schema.String,
  problem: Schema.Literals(["missing", "unexpected", "invalid"]),
  /** What the schema expects, in words. */
  expected: Schema.String
}) {
  /** For example `dob is invalid: expected a date that exists, as dd-mm-yyyy`. */
  override toString(): string {
    return String(new Violation3.Violation({ ...this }))
  }
}
