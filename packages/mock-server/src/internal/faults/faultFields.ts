/** The fields that the structs of a fault are made of. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import { constant } from "effect/Function"
import * as Schema from "effect/Schema"
import { DurationText, WaitText } from "../schema/durationText.ts"

/** A key that is not known is refused wherever the struct is decoded. */
export const strict = { parseOptions: { errors: "all", onExcessProperty: "error" } } as const

export const whole = (min: number, max?: number) => {
  const expected = Violation.expecting(`a whole number from ${min}${max === undefined ? "" : ` to ${max}`}`)
  return Schema.Number.annotations(expected).pipe(
    Schema.int(expected),
    max === undefined ? Schema.greaterThanOrEqualTo(min, expected) : Schema.between(min, max, expected)
  )
}

export const number = (min: number, max: number) => {
  const expected = Violation.expecting(`a number from ${min} to ${max}`)
  return Schema.Number.annotations(expected).pipe(Schema.between(min, max, expected))
}

export const duration = (millis: number) =>
  Schema.optionalWith(DurationText, { exact: true, default: () => Duration.millis(millis) })

export const wait = (millis: number) =>
  Schema.optionalWith(WaitText, { exact: true, default: () => Duration.millis(millis) })

export const oneOf = <const Names extends readonly [string, ...Array<string>]>(...names: Names) =>
  Schema.Literal(...names).annotations(Violation.expecting(`one of ${names.join(", ")}`))

export const at = Schema.optionalWith(oneOf("headers", "body"), { exact: true, default: constant("headers" as const) })

const headerExpected = "a text of printable ASCII characters"

/** What may stand in a header. */
export const headerText = Schema.String.annotations({ description: headerExpected }).pipe(
  Schema.pattern(/^[\x20-\x7e]*$/, Violation.expecting(headerExpected))
)

export const text = Schema.String.annotations({ description: "a text" })

const idExpected = "1 to 64 letters, digits, dots, underscores and hyphens, no dot first"

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
