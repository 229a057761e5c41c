/**
 * Names and dates of birth that are compared with those of a check. Two names are equal without letter case, repeated
 * blanks and normalization form.
 */
import { FromWire } from "@effect-idv/core/DateOfBirth"
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

const words = (name: string): ReadonlyArray<string> => name.normalize("NFC").toLowerCase().trim().split(/\s+/)

/** A name in the form in which two equal names are the same text. */
export const comparable = (name: string): string => words(name).join(" ")

/** The last word of a name, in the form of {@link comparable}. */
export const lastWord = (name: string): string => words(name).at(-1) ?? ""

const dayExpected = "a date that exists, as yyyy-mm-dd"

const reversed = (text: string): string => text.split("-").toReversed().join("-")

/** An existing day in JSON: `yyyy-mm-dd`. Unlike a date of birth for a check, it may be after today. */
export const IsoDay = Schema.compose(
  Schema.transform(
    Schema.String.annotations({ description: dayExpected }).pipe(
      Schema.pattern(/^\d{4}-\d\d-\d\d$/, Violation.expecting(dayExpected))
    ),
    Schema.String,
    { strict: true, decode: reversed, encode: reversed }
  ),
  FromWire.annotations(Violation.expecting(dayExpected))
).annotations(Violation.expecting(dayExpected))
