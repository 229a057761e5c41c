/** Fields that several schemas share, and the annotations of a closed struct. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

/** Annotations of a struct that refuses unknown fields and reports all violations, wherever it is decoded. */
export const closed = { parseOptions: { errors: "all", onExcessProperty: "error" } } as const

/** A field that may be missing. Unlike a field of `Schema.optional`, it cannot be `undefined`. */
export const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/** A field that has this value if it is missing. */
export const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: NoInfer<A>) =>
  Schema.optionalWith(schema, { exact: true, default: () => value })

export const trueOrFalse = Schema.Boolean.annotations(Violation.expecting("true or false"))

/** A whole number in a range. Without `max`, there is no upper limit. */
export const wholeNumber = (min: number, max?: number) => {
  const expected = Violation.expecting(`a whole number from ${min}${max === undefined ? "" : ` to ${max}`}`)
  return Schema.Number.annotations(expected).pipe(
    Schema.int(expected),
    max === undefined ? Schema.greaterThanOrEqualTo(min, expected) : Schema.between(min, max, expected)
  )
}

/** A number in a range. */
export const number = (min: number, max: number) => {
  const expected = Violation.expecting(`a number from ${min} to ${max}`)
  return Schema.Number.annotations(expected).pipe(Schema.between(min, max, expected))
}

/** One of several texts. */
export const oneOf = <const Names extends readonly [string, ...Array<string>]>(...names: Names) =>
  Schema.Literal(...names).annotations(Violation.expecting(`one of ${names.join(", ")}`))

/**
 * Returns the number in a text, or the text itself. A value from a command line or a form thus has the same type as in
 * JSON when its schema decodes it, and the schema rejects any other text.
 */
export const numberOrText = (text: string): number | string => /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text
