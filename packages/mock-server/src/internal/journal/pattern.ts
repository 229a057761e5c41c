/** Which entries of a journal a verification selects. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"
import { closed } from "../schema/fields.ts"
import { IsoDay } from "../schema/instantText.ts"
import { Operation, Status } from "./entry.ts"

const nonEmptyText = (expected: string) =>
  Schema.String.pipe(Schema.minLength(1)).annotations(Violation.expecting(expected))

/**
 * Selects entries: those that match every field of the pattern. An empty pattern matches all entries.
 *
 * The server compares `name`, `dateOfBirth` and `headers` with the values that the request sent, and does not show
 * them. Only entries of a journal in this process have these values. For others, such as those of `Control.journal`, a
 * pattern with one of these fields matches nothing.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Pattern = Schema.Struct({
  /** The operation that the request calls. */
  operation: Schema.optionalWith(Operation, { exact: true }),
  /** The status of the response. */
  status: Schema.optionalWith(Status, { exact: true }),
  /** The rule that decided the response. */
  rule: Schema.optionalWith(nonEmptyText("the name of a rule"), { exact: true }),
  /** The id or the kind of a fault that fired. */
  fault: Schema.optionalWith(nonEmptyText("the id or the kind of a fault"), { exact: true }),
  /** Whether the request breaks the service document. */
  unexpected: Schema.optionalWith(Schema.Boolean.annotations(Violation.expecting("true or false")), { exact: true }),
  /**
   * The customer of the session, or null for unmatched requests. An unmatched token request also matches the
   * customer id that it sent.
   */
  customerId: Schema.optionalWith(
    Schema.NullOr(Schema.String).annotations(Violation.expecting("a customer id, or null")),
    { exact: true }
  ),
  /** The name in the request. Letter case, repeated blanks and the Unicode normalization form do not matter. */
  name: Schema.optionalWith(Schema.Redacted(nonEmptyText("a name")), { exact: true }),
  /** The date of birth in the request, here as `yyyy-mm-dd`. */
  dateOfBirth: Schema.optionalWith(IsoDay, { exact: true }),
  /** Headers of the request, each with its whole value. Letter case matters in values only. */
  headers: Schema.optionalWith(
    Schema.Record({
      key: Schema.String.pipe(Schema.pattern(/^[\w!#$%&'*+.^`|~-]+$/)),
      value: Schema.Redacted(Schema.String)
    }).annotations(Violation.expecting("an object of header names and values")),
    { exact: true }
  )
}).annotations({
  ...Violation.expecting(
    "an object with any of operation, status, rule, fault, unexpected, customerId, name, dateOfBirth, headers"
  ),
  ...closed
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Pattern extends Schema.Schema.Type<typeof Pattern> {}
