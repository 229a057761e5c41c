/** An existing day in JSON: `yyyy-mm-dd`. Unlike a date of birth for a check, it may be after today. */
import { FromWire } from "@effect-idv/core/DateOfBirth"
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

const expected = "a date that exists, as yyyy-mm-dd"

const reversed = (text: string): string => text.split("-").toReversed().join("-")

export const IsoDay = Schema.compose(
  Schema.transform(
    Schema.String.annotations({ description: expected }).pipe(
      Schema.pattern(/^\d{4}-\d\d-\d\d$/, Violation.expecting(expected))
    ),
    Schema.String,
    { strict: true, decode: reversed, encode: reversed }
  ),
  FromWire
).annotations(Violation.expecting(expected))
