/** The fields that the structs of a fault consist of. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import { constant } from "effect/Function"
import * as Schema from "effect/Schema"
import { DelayText, DurationText, WaitText } from "../schema/durationText.ts"
import { closed, oneOf } from "../schema/fields.ts"

/** Annotations of a closed struct with a description. */
export const closedWithDescription = (description: string) => ({ ...closed, description })

/** A member of a union of structs with a field `kind`. */
export const variant = <const Kind extends string, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  description: string,
  fields: Fields
) => Schema.Struct({ kind: Schema.Literal(kind), ...fields }).annotations(closedWithDescription(description))

/** A span of the session's time, with a default in milliseconds. */
export const duration = (millis: number) =>
  Schema.optionalWith(DurationText, { exact: true, default: () => Duration.millis(millis) })

/** The delay of a response, with a default in milliseconds. */
export const delay = (millis: number) =>
  Schema.optionalWith(DelayText, { exact: true, default: () => Duration.millis(millis) })

/** A duration that a timer waits, with a default in milliseconds. */
export const wait = (millis: number) =>
  Schema.optionalWith(WaitText, { exact: true, default: () => Duration.millis(millis) })

/** Where in the response a fault takes effect. */
export const at = Schema.optionalWith(oneOf("headers", "body"), { exact: true, default: constant("headers" as const) })

const headerExpected = "a text of printable ASCII characters"

/** The value of a header. */
export const headerText = Schema.String.annotations({ description: headerExpected }).pipe(
  Schema.pattern(/^[\x20-\x7e]*$/, Violation.expecting(headerExpected))
)

export const text = Schema.String.annotations({ description: "a text" })

const idExpected = "1 to 64 letters, digits, dots, underscores and hyphens, not beginning with a dot"

export const id = Schema.String.annotations({ description: idExpected }).pipe(
  Schema.pattern(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/, Violation.expecting(idExpected))
)

export const integer = Schema.Number.annotations({ description: "a whole number" }).pipe(
  Schema.int(Violation.expecting("a whole number"))
)

const probabilityExpected = Violation.expecting("a number over 0 and at most 1")

export const probability = Schema.Number.annotations(probabilityExpected).pipe(
  Schema.greaterThan(0, probabilityExpected),
  Schema.lessThanOrEqualTo(1, probabilityExpected)
)
