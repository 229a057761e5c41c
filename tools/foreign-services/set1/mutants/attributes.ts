import { area } from "../define.ts"
import { formatDateTime, hour, searchTime } from "../hooks.ts"
import { minute, second, validFor, validForBoth, validOverDay, validTogether } from "../probes.ts"
import { quotes } from "../quotes.ts"
import { defaultPerson, listedPerson } from "../requests.ts"
import type { Check, Hooks, Json, JsonObject, Mutant, Probe } from "../types.ts"

const personName = area("response: name")
const birth = area("response: birth_year")
const searched = area("response: searched_on")
const profile = area("response: aml_profile")

type Create = ReturnType<typeof area>

/** Replaces one attribute. The value undefined removes it. */
const sets =
  (field: string, value: (found: string, check: Check, match: boolean) => Json | undefined) =>
  (base: Hooks): Partial<Hooks> => ({
    attributes: (check, match) => {
      const found: JsonObject = base.attributes(check, match)
      const { [field]: current, ...rest } = found
      const changed = value(String(current), check, match)
      return changed === undefined ? rest : { ...rest, [field]: changed }
    }
  })

/** Returns a function that creates the mutants of one attribute. */
const mutantsOf = (create: Create, field: string, breaks: string) =>
(
  id: string,
  explanation: string,
  value: (found: string, check: Check, match: boolean) => Json | undefined,
  probe: Probe = validForBoth
): Mutant => create(id, breaks, explanation, sets(field, value), probe)

const named = mutantsOf(personName, "name", quotes.name)
const born = mutantsOf(birth, "birth_year", quotes.birthYear)
const dated = mutantsOf(searched, "searched_on", quotes.searchedOn)
const linked = mutantsOf(profile, "aml_profile", quotes.profile)

const yearOf = (check: Check): number => Number(check.dob.slice(-4))
const dates = (...list: ReadonlyArray<string>): Probe => validFor(list.map((dob) => ({ dob })))
const names = (...list: ReadonlyArray<string>): Probe => validFor(list.map((name) => ({ name })))
const overHours = validFor([defaultPerson, listedPerson, defaultPerson, listedPerson], 13 * minute + 7 * second)
const at = (check: Check): string => formatDateTime(searchTime(check))

export const attributeMutants = [
  named("name-missing", "The name is missing.", () => undefined),
  named("name-null-result", "The name is null.", () => null),
  named("name-empty-result", "The name is empty without a match.", (found, _check, match) => (match ? found : "")),
  named(
    "name-split",
    "The name is an object with first and last name.",
    (found) => ({ first: found.split(" ")[0] ?? "", last: found.split(" ").at(-1) ?? "" })
  ),
  named("name-no-middle", "The middle names are missing.", (found) => {
    const words = found.split(" ")
    return words.length < 3 ? found : `${words[0] ?? ""} ${words.at(-1) ?? ""}`
  }),
  named("name-last-only", "Only the last name is returned.", (found) => found.split(" ").at(-1) ?? ""),
  named(
    "name-truncated",
    "The name ends after 20 characters.",
    (found) => found.slice(0, 20),
    names("Maximiliana Alexandra Featherstone")
  ),
  named(
    "name-question-marks",
    "Letters outside ASCII become question marks.",
    (found) => found.replace(/[^\x00-\x7f]/g, "?"),
    names("José Núñez", "王小明")
  ),
  named(
    "name-other-scripts-empty",
    "A name in another script than Latin is returned empty.",
    (found) => (/[A-Za-z]/.test(found) ? found : ""),
    names("Анна Иванова")
  ),
  named(
    "name-apostrophe-removed",
    "Apostrophes are removed.",
    (found) => found.replaceAll("'", ""),
    names("Sean O'Brien")
  ),
  named(
    "name-list-entry",
    "For a potential match, the name of the list entry is returned.",
    (found, _check, match) => (match ? "JOHN DOE (ALIAS)" : found)
  ),
  personName("name-previous", quotes.name, "The name of the previous check is returned.", (base) => {
    let previous = "None"
    return {
      attributes: (check, match) => {
        const name = previous
        previous = check.name
        return { ...base.attributes(check, match), name }
      }
    }
  }, validForBoth),
  personName(
    "name-of-latest-request",
    quotes.name,
    "The name of the latest request is returned when several checks run at the same time.",
    (base) => {
      let latest = ""
      return {
        matches: (check) => {
          latest = check.name
          return base.matches(check)
        },
        attributes: (check, match) => ({ ...base.attributes(check, match), name: latest })
      }
    },
    validTogether(Array.from({ length: 12 }, (_unused, index) => ({ name: `Person${index} Nowak` })))
  ),

  born("birth-missing", "The birth year is missing.", () => undefined),
  born("birth-number", "The birth year is a number.", (found) => Number(found)),
  born("birth-two-digits", "The birth year has two digits.", (found) => found.slice(2)),
  born("birth-full-date", "The full date of birth is returned.", (_found, check) => check.dob),
  born(
    "birth-day-month",
    "The day and the month are returned.",
    (_found, check) => check.dob.slice(0, 2) + check.dob.slice(3, 5)
  ),
  born(
    "birth-null-match",
    "The birth year is null for a potential match.",
    (found, _check, match) => (match ? null : found)
  ),
  born("birth-current-year", "The current year is returned.", (_found, check) => at(check).slice(0, 4)),
  born("birth-constant", "The year 1970 is returned for each person.", () => "1970"),
  born(
    "birth-new-year",
    "A person born on 1 January gets the year before.",
    (found, check) => check.dob.startsWith("01-01") ? String(yearOf(check) - 1) : found,
    dates("02-01-1990", "01-01-1990")
  ),
  born(
    "birth-last-day",
    "A person born on 31 December gets the next year.",
    (found, check) => check.dob.startsWith("31-12") ? String(yearOf(check) + 1) : found,
    dates("30-12-1990", "31-12-1990")
  ),
  born(
    "birth-before-1970",
    "A year before 1970 is returned as 1970.",
    (found, check) => (yearOf(check) < 1970 ? "1970" : found),
    dates("15-06-1969")
  ),
  born(
    "birth-century",
    "A year before 1950 is returned in the next century.",
    (found, check) => yearOf(check) < 1950 ? String(yearOf(check) + 100) : found,
    dates("15-06-1949")
  ),
  born(
    "birth-after-1999",
    "The year of a person born after 1999 is returned as 19 and two digits.",
    (found, check) => yearOf(check) > 1999 ? `19${found.slice(2)}` : found,
    dates("15-06-2001")
  ),
  birth(
    "birth-by-name",
    quotes.birthYear,
    "The birth year of the first check with the same name is returned.",
    (base) => {
      const years = new Map<string, Json>()
      return {
        attributes: (check, match) => {
          const found = base.attributes(check, match)
          const year = years.get(check.name) ?? found["birth_year"] ?? ""
          years.set(check.name, year)
          return { ...found, birth_year: year }
        }
      }
    },
    dates("15-06-1980", "15-06-1981")
  ),

  dated("searched-missing", "The time of the search is missing.", () => undefined),
  dated("searched-iso", "A letter T separates date and time.", (found) => found.replace(" ", "T")),
  dated("searched-zone", "A time zone follows the time.", (found) => `${found}Z`),
  dated("searched-milliseconds", "Milliseconds follow the time.", (found) => `${found}.000`),
  dated("searched-date-only", "The time is missing.", (found) => found.slice(0, 10)),
  dated("searched-no-seconds", "The seconds are missing.", (found) => found.slice(0, 16)),
  dated(
    "searched-day-first",
    "The format is DD-MM-YYYY HH:MM:SS.",
    (found) => `${found.slice(8, 10)}-${found.slice(5, 7)}-${found.slice(0, 4)}${found.slice(10)}`
  ),
  dated(
    "searched-month-last",
    "The month follows the day.",
    (found) => `${found.slice(0, 5)}${found.slice(8, 10)}-${found.slice(5, 7)}${found.slice(10)}`
  ),
  dated("searched-slashes", "Slashes separate the parts of the date.", (found) => found.replaceAll("-", "/")),
  dated(
    "searched-not-padded",
    "The parts of the date and the time have no leading zeros.",
    (found) => found.replace(/\b0([0-9])/g, "$1")
  ),
  dated(
    "searched-epoch",
    "The time is a number of seconds since 1970.",
    (_found, check) => Math.floor(check.context.now() / 1000)
  ),
  dated(
    "searched-twelve-hours",
    "The hour is in the 12-hour form without AM or PM.",
    (found) => found.slice(0, 11) + String(Number(found.slice(11, 13)) % 12 || 12).padStart(2, "0") + found.slice(13),
    validOverDay
  ),
  dated(
    "searched-month-from-zero",
    "The month is counted from zero.",
    (found) => found.slice(0, 5) + String(Number(found.slice(5, 7)) - 1).padStart(2, "0") + found.slice(7)
  ),
  dated("searched-no-second-value", "The seconds are always 00.", (found) => `${found.slice(0, 17)}00`),
  dated(
    "searched-future",
    "The time is one day in the future.",
    (_found, check) => formatDateTime(searchTime(check) + 24 * hour)
  ),
  dated(
    "searched-birth",
    "The date of birth replaces the date of the search.",
    (found, check) => `${check.dob.slice(6)}-${check.dob.slice(3, 5)}-${check.dob.slice(0, 2)}${found.slice(10)}`
  ),
  dated(
    "searched-at-start",
    "The start of the service is returned as the time of each search.",
    (_found, check) => formatDateTime(searchTime(check) - check.context.now() + check.context.startedAt),
    overHours
  ),
  dated(
    "searched-at-token",
    "The time of the token request is returned as the time of the search.",
    (_found, check) => formatDateTime(searchTime(check) - check.context.now() + (check.record?.requestedAt ?? 0)),
    overHours
  ),
  dated(
    "searched-null-no",
    "The time of the search is null without a match.",
    (found, _check, match) => (match ? found : null)
  ),

  linked("profile-missing", "The profile is missing for each result.", () => undefined),
  linked(
    "profile-missing-no",
    "The profile is missing without a match.",
    (found, _check, match) => (match ? found : undefined)
  ),
  linked(
    "profile-missing-match",
    "The profile is missing for a potential match.",
    (found, _check, match) => (match ? undefined : found)
  ),
  linked("profile-null-no", "The profile is null without a match.", (found, _check, match) => (match ? found : null)),
  linked(
    "profile-empty-no",
    "The profile is an empty string without a match.",
    (found, _check, match) => (match ? found : "")
  ),
  linked("profile-identifier", "The profile is an identifier, not a URL.", (found) => found.replace(/[^0-9a-f]/g, "")),
  linked(
    "profile-text",
    "The profile is the text not available without a match.",
    (found, _check, match) => (match ? found : "not available")
  ),
  linked("profile-object", "The profile is an object with a field url.", (found) => ({ url: found })),
  linked(
    "profile-array",
    "The profile is an array of URLs for a potential match.",
    (found, _check, match) => (match ? [found] : found)
  ),
  linked(
    "profile-spaces",
    "The host of the profile URL contains spaces.",
    (found) => found.replace("://", "://not a host ")
  ),
  profile(
    "profile-missing-repeat",
    quotes.profileRule,
    "The profile is missing when the same person is searched again.",
    (base) => {
      const seen = new Set<string>()
      return {
        attributes: (check, match) => {
          const found = base.attributes(check, match)
          const repeated = seen.has(check.request.body)
          seen.add(check.request.body)
          return repeated ? Object.fromEntries(Object.entries(found).filter(([key]) => key !== "aml_profile")) : found
        }
      }
    },
    validForBoth
  )
]
