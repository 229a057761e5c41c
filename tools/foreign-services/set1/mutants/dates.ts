import { area } from "../define.ts"
import { isObject, parseJson } from "../hooks.ts"
import { refusesPerson } from "../probes.ts"
import { quotes } from "../quotes.ts"
import type { Json, Mutant, PersonFields } from "../types.ts"

const date = area("check request: dob")

/** Creates a mutant that accepts further values of dob. The probe sends one of them. */
const accepts = (
  id: string,
  explanation: string,
  test: (value: Json | undefined) => boolean,
  dob: Json | undefined
): Mutant =>
  date(
    id,
    quotes.dobRow,
    explanation,
    (base) => ({ dob: (value) => base.dob(value) || test(value) }),
    refusesPerson({ dob })
  )

const matching = (id: string, explanation: string, pattern: RegExp, dob: string): Mutant =>
  accepts(id, explanation, (value) => typeof value === "string" && pattern.test(value), dob)

/** Reads dob from another field if it is absent. */
const alias = (id: string, explanation: string, field: string): Mutant => {
  const fields: PersonFields = { dob: undefined, [field]: "15-06-1980" }
  return date(id, quotes.dobRow, explanation, (base) => ({
    fields: (request) => {
      const found = base.fields(request)
      const value = parseJson(request.body)
      return found === undefined || found.dob !== undefined || !isObject(value)
        ? found
        : { ...found, dob: value[field] }
    }
  }), refusesPerson(fields))
}

export const dateMutants = [
  accepts("dob-absent", "A check without dob is accepted.", (value) => value === undefined, undefined),
  accepts("dob-null", "The value null is accepted.", (value) => value === null, null),
  accepts("dob-empty", "An empty string is accepted.", (value) => value === "", ""),
  accepts("dob-number", "A number of eight digits is accepted.", (value) => typeof value === "number", 15061980),
  accepts("dob-array", "An array of day, month and year is accepted.", (value) => Array.isArray(value), [
    "15",
    "06",
    "1980"
  ]),
  accepts("dob-any", "Each string is accepted.", (value) => typeof value === "string", "unknown"),
  matching("dob-iso", "The format yyyy-mm-dd is accepted.", /^\d{4}-\d{2}-\d{2}$/, "1980-06-15"),
  matching("dob-iso-time", "A date with a time is accepted.", /^\d{4}-\d{2}-\d{2}T/, "1980-06-15T00:00:00Z"),
  matching(
    "dob-month-first",
    "The format mm-dd-yyyy is accepted.",
    /^(0[1-9]|1[0-2])-(1[3-9]|2\d|3[01])-\d{4}$/,
    "06-15-1980"
  ),
  matching("dob-slashes", "Slashes are accepted.", /^\d{2}\/\d{2}\/\d{4}$/, "15/06/1980"),
  matching("dob-dots", "Dots are accepted.", /^\d{2}\.\d{2}\.\d{4}$/, "15.06.1980"),
  matching("dob-spaces", "Spaces between the parts are accepted.", /^\d{2} \d{2} \d{4}$/, "15 06 1980"),
  matching("dob-no-separator", "A date without separators is accepted.", /^\d{8}$/, "15061980"),
  matching("dob-en-dash", "En dashes are accepted.", /^\d{2}–\d{2}–\d{4}$/, "15–06–1980"),
  matching("dob-mixed-separators", "Different separators are accepted.", /^\d{2}[-/.]\d{2}[-/.]\d{4}$/, "15-06/1980"),
  matching("dob-short-day", "A day of one digit is accepted.", /^\d-\d{2}-\d{4}$/, "5-06-1980"),
  matching("dob-short-month", "A month of one digit is accepted.", /^\d{2}-\d-\d{4}$/, "15-6-1980"),
  matching("dob-short-year", "A year of two digits is accepted.", /^\d{2}-\d{2}-\d{2}$/, "15-06-80"),
  matching("dob-year-only", "A year alone is accepted.", /^\d{4}$/, "1980"),
  matching("dob-month-name", "The name of a month is accepted.", /^\d{2}-[A-Z][a-z]{2}-\d{4}$/, "15-Jun-1980"),
  matching("dob-long-year", "A year of five digits is accepted.", /^\d{2}-\d{2}-\d{5}$/, "15-06-19800"),
  matching("dob-text-after", "Text after the date is ignored.", /^\d{2}-\d{2}-\d{4}\D/, "15-06-1980abc"),
  matching("dob-text-before", "Text before the date is ignored.", /\D\d{2}-\d{2}-\d{4}$/, "x15-06-1980"),
  matching(
    "dob-other-digits",
    "Digits of other scripts are accepted.",
    /^\p{Nd}{2}-\p{Nd}{2}-\p{Nd}{4}$/u,
    "١٥-٠٦-١٩٨٠"
  ),
  matching("dob-30-february", "The day 30 of February is accepted.", /^30-02-\d{4}$/, "30-02-1980"),
  matching("dob-29-february", "The day 29 of February is accepted in each year.", /^29-02-\d{4}$/, "29-02-1981"),
  matching("dob-1900-leap", "The year 1900 counts as a leap year.", /^29-02-1900$/, "29-02-1900"),
  matching(
    "dob-31-in-short-month",
    "The day 31 is accepted in months of 30 days.",
    /^31-(04|06|09|11)-\d{4}$/,
    "31-04-1980"
  ),
  matching("dob-day-32", "The days 32 to 39 are accepted.", /^3[2-9]-\d{2}-\d{4}$/, "32-01-1980"),
  matching("dob-day-zero", "The day 00 is accepted.", /^00-\d{2}-\d{4}$/, "00-06-1980"),
  matching("dob-month-zero", "The month 00 is accepted.", /^\d{2}-00-\d{4}$/, "15-00-1980"),
  matching("dob-month-13", "The month 13 is accepted.", /^\d{2}-13-\d{4}$/, "15-13-1980"),
  alias("dob-other-name", "The field date_of_birth is accepted instead of dob.", "date_of_birth"),
  alias("dob-camel-case", "The field dateOfBirth is accepted instead of dob.", "dateOfBirth")
]
