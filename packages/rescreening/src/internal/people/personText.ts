/** Encodes a person as values of JSON, for the digest of a population and to be encrypted. */
import * as Person from "@effect-idv/core/Person"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** The name, and the year, month and day of birth, with how much of that date is known. */
export const PersonText = Schema.Tuple(
  Schema.String,
  Schema.Int,
  Schema.Int,
  Schema.Int,
  Schema.Literal("day", "year")
)

export type PersonText = typeof PersonText.Type

export const encode = ({ dateOfBirth: { day, known, month, year }, name }: Person.Person): PersonText => [
  Redacted.value(name),
  year,
  month,
  day,
  known
]

export const decode = ([name, year, month, day, known]: PersonText) =>
  Person.make({ name, dateOfBirth: { year, month, day, known } })
