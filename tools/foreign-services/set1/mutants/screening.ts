import { area } from "../define.ts"
import { isListed } from "../hooks.ts"
import { hasCredential, validFor, validForBoth, validTogether } from "../probes.ts"
import { quotes } from "../quotes.ts"
import { defaultPerson, listedPerson } from "../requests.ts"
import type { Check, Fields, Hooks, Json, JsonObject, Mutant, PersonFields, Probe } from "../types.ts"

const value = area("response: match_found")
const result = area("screening result")
const refused = area("documented requests refused")

/** Replaces the value of match_found. The value undefined removes the field. */
const matchFound = (id: string, explanation: string, change: (match: boolean) => Json | undefined): Mutant =>
  value(id, quotes.matchFound, explanation, (base) => ({
    attributes: (check, match) => {
      const { match_found: _replaced, ...rest } = base.attributes(check, match)
      const changed = change(match)
      return changed === undefined ? rest : { ...rest, match_found: changed }
    }
  }), validForBoth)

const documented = (match: boolean): string => (match ? "Potential match" : "No")

/** Replaces the decision whether a person is on a list. */
const decides = (
  id: string,
  explanation: string,
  decide: (found: boolean, check: Check) => boolean,
  probe: Probe = validForBoth
): Mutant =>
  result(id, quotes.purpose, explanation, (base) => ({ matches: (check) => decide(base.matches(check), check) }), probe)

const names = (...list: ReadonlyArray<string>): Probe => validFor(list.map((name) => ({ name })))

/** Returns the whole attributes of an earlier check with the same key. */
const cachedBy = (key: (check: Check) => string) => (base: Hooks): Partial<Hooks> => {
  const cache = new Map<string, JsonObject>()
  return {
    attributes: (check, match) => {
      const found = cache.get(key(check)) ?? base.attributes(check, match)
      cache.set(key(check), found)
      return found
    }
  }
}

/** Creates a mutant that refuses fields that the document allows. */
const refuses = (
  id: string,
  breaks: string,
  explanation: string,
  test: (fields: Fields) => boolean,
  ...people: ReadonlyArray<PersonFields>
): Mutant =>
  refused(id, breaks, explanation, (base) => ({
    fields: (request) => {
      const fields = base.fields(request)
      return fields === undefined || test(fields) ? undefined : fields
    }
  }), validFor(people))

const crowd: ReadonlyArray<PersonFields> = Array.from(
  { length: 12 },
  (_unused, index) => (index % 2 === 0 ? listedPerson : defaultPerson)
)

export const screeningMutants = [
  matchFound("match-missing", "match_found is missing.", () => undefined),
  matchFound(
    "match-missing-no",
    "match_found is missing without a match.",
    (match) => (match ? documented(match) : undefined)
  ),
  matchFound("match-boolean", "match_found is a boolean.", (match) => match),
  matchFound("match-null-no", "match_found is null without a match.", (match) => (match ? documented(match) : null)),
  matchFound("match-yes", "match_found is Yes for a potential match.", (match) => (match ? "Yes" : "No")),
  matchFound(
    "match-title-case",
    "match_found is Potential Match, with a capital M.",
    (match) => (match ? "Potential Match" : "No")
  ),
  matchFound(
    "match-lower-case",
    "match_found is in lower case for a potential match.",
    (match) => documented(match).toLowerCase()
  ),
  matchFound(
    "match-underscore",
    "match_found is potential_match for a potential match.",
    (match) => (match ? "potential_match" : "No")
  ),
  matchFound(
    "match-no-upper-case",
    "match_found is NO without a match.",
    (match) => (match ? documented(match) : "NO")
  ),
  matchFound(
    "match-no-match",
    "match_found is No match without a match.",
    (match) => (match ? documented(match) : "No match")
  ),
  matchFound("match-trailing-space", "match_found ends with a space.", (match) => `${documented(match)} `),
  matchFound("match-array", "match_found is an array.", (match) => [documented(match)]),

  decides("result-never", "No person is reported as a potential match.", () => false),
  decides("result-always", "Each person is reported as a potential match.", () => true),
  decides(
    "result-inverted",
    "Listed persons are reported as No and other persons as Potential match.",
    (found) => !found
  ),
  decides(
    "result-pep-only",
    "The sanctions lists are not searched.",
    (found, check) => found && !/testsanction/i.test(check.name),
    names("Ines Testpep", "Ines Testsanction")
  ),
  decides(
    "result-sanctions-only",
    "The PEP lists are not searched.",
    (found, check) => found && !/testpep/i.test(check.name),
    names("Ines Testsanction", "Ines Testpep")
  ),
  decides(
    "result-middle-name",
    "A person with a middle name is not found.",
    (found, check) => found && check.name.split(" ").length < 3,
    names("Ines Testpep", "Ines Luz Testpep")
  ),
  decides(
    "result-accent",
    "A listed person with letters outside ASCII in the first name is not found.",
    (found, check) => found && !/[^\x00-\x7f]/.test(check.name),
    names("Ines Testpep", "Inés Testpep")
  ),
  result(
    "result-first-only",
    quotes.purpose,
    "Only the first check with a token searches the lists.",
    (base) => ({ matches: (check) => base.matches(check) && (check.record?.uses ?? 0) <= 1 }),
    validFor([listedPerson, listedPerson])
  ),
  result(
    "result-sticky",
    quotes.purpose,
    "After a potential match, each later person is a potential match.",
    (base) => {
      let seen = false
      return {
        matches: (check) => {
          seen = base.matches(check) || seen
          return seen
        }
      }
    },
    validForBoth
  ),
  result("result-previous", quotes.purpose, "The result of the previous check is returned.", (base) => {
    let previous = false
    return {
      matches: (check) => {
        const found = previous
        previous = base.matches(check)
        return found
      }
    }
  }, validForBoth),
  result("result-repeat-cleared", quotes.purpose, "A second check of a listed person reports No.", (base) => {
    const seen = new Set<string>()
    return {
      matches: (check) => {
        const repeated = seen.has(check.name)
        seen.add(check.name)
        return base.matches(check) && !repeated
      }
    }
  }, validForBoth),
  result(
    "result-by-date",
    quotes.purpose,
    "The result of the first person with the same date of birth is returned.",
    (base) => {
      const cache = new Map<string, boolean>()
      return {
        matches: (check) => {
          const found = cache.get(check.dob) ?? base.matches(check)
          cache.set(check.dob, found)
          return found
        }
      }
    },
    validFor([{ name: "Ada Nowak" }, { name: "Ines Testpep" }])
  ),
  result(
    "result-latest-request",
    quotes.purpose,
    "The result of the latest request is returned when several checks run at the same time.",
    (base) => {
      let latest = ""
      return {
        matches: (check) => {
          latest = check.name
          return base.matches(check)
        },
        attributes: (check) => base.attributes(check, isListed(latest))
      }
    },
    validTogether(crowd)
  ),
  result(
    "result-overload",
    quotes.purpose,
    "The lists are not searched while three or more checks are in progress.",
    (base) => ({ matches: (check) => base.matches(check) && check.context.checksInFlight <= 3 }),
    validTogether(crowd)
  ),
  result(
    "result-cached-by-first-name",
    quotes.response,
    "The attributes of the first person with the same first name are returned.",
    cachedBy((check) => check.name.split(" ")[0] ?? ""),
    names("Ada Nowak", "Ada Lis")
  ),
  result(
    "result-cached-by-date",
    quotes.response,
    "The attributes of the first person with the same date of birth are returned.",
    cachedBy((check) => check.dob),
    names("Ada Nowak", "Omar Silva")
  ),
  result(
    "result-cached-by-token",
    quotes.response,
    "The attributes of the first check with a token are returned for each later check.",
    cachedBy((check) => check.record?.value ?? ""),
    validForBoth
  ),
  result(
    "result-cached-by-length",
    quotes.response,
    "The attributes of the first person whose request has the same length are returned.",
    cachedBy((check) => String(check.request.body.length)),
    names("Ada Nowak", "Eva Nowak")
  ),

  refuses(
    "refuses-leap-day",
    quotes.dobRow,
    "The date 29 February is refused in leap years.",
    (fields) => String(fields.dob).startsWith("29-02"),
    { dob: "29-02-1984" }
  ),
  refuses(
    "refuses-leap-2000",
    quotes.dobRow,
    "The year 2000 does not count as a leap year.",
    (fields) => fields.dob === "29-02-2000",
    { dob: "29-02-2000" }
  ),
  refuses("refuses-day-31", quotes.dobRow, "The day 31 is refused.", (fields) => String(fields.dob).startsWith("31-"), {
    dob: "31-01-1980"
  }),
  refuses(
    "refuses-december",
    quotes.dobRow,
    "The month 12 is refused.",
    (fields) => String(fields.dob).slice(3, 5) === "12",
    { dob: "24-12-1980" }
  ),
  refuses(
    "refuses-day-above-12",
    quotes.dobRow,
    "The date is read as mm-dd-yyyy, so that days above 12 are refused.",
    (fields) => Number(String(fields.dob).slice(0, 2)) > 12,
    { dob: "13-06-1980" }
  ),
  refuses(
    "refuses-before-1970",
    quotes.dobRow,
    "A date before 1970 is refused.",
    (fields) => Number(String(fields.dob).slice(6)) < 1970,
    { dob: "15-06-1955" }
  ),
  refuses(
    "refuses-apostrophe",
    quotes.nameRow,
    "A name with an apostrophe is refused.",
    (fields) => String(fields.name).includes("'"),
    { name: "Sean O'Brien" }
  ),
  refuses(
    "refuses-hyphen",
    quotes.nameRow,
    "A name with a hyphen is refused.",
    (fields) => String(fields.name).includes("-"),
    { name: "Anne-Marie Smith" }
  ),
  refuses(
    "refuses-accents",
    quotes.nameRow,
    "A name with letters outside ASCII is refused.",
    (fields) => /[^\x00-\x7f]/.test(String(fields.name)),
    { name: "José Núñez" }
  ),
  refuses(
    "refuses-middle-names",
    quotes.nameRow,
    "A name with two or more middle names is refused.",
    (fields) => String(fields.name).split(" ").length > 3,
    { name: "Ada Maria Luz Nowak" }
  ),
  refused(
    "refuses-key-order",
    quotes.bodyObject,
    "The object is refused if entity_type is not its first field.",
    (base) => ({
      fields: (request) => (/^\s*\{\s*"entity_type"/.test(request.body) ? base.fields(request) : undefined)
    }),
    async (client) => {
      const body = JSON.stringify({ dob: "15-06-1980", name: "Ada Nowak", entity_type: "person" })
      return hasCredential(await client.check(await client.token(), defaultPerson, { body }))
    }
  )
]
