/** The persons of checks: the suite's own fictional ones, or the test persons that the user names. */
import type { Target } from "./model.ts"
import type { Person, PersonRef } from "./steps.ts"

const potentialMatch = "Potential match"

/** What the last word of a name means to a mock server. */
const resultOf = (name: string): string => /\bTest(pep|sanc)$/i.test(name) ? potentialMatch : "No"

const fictional = {
  clear: { name: "Zoë Ana Testclear", dob: "01-02-1990" },
  listed: { name: "Noor Lee Testpep", dob: "14-03-1957" },
  "listed 2": { name: "Max Vale Testsanc", dob: "30-11-1971" }
}

const places = ["listed", "listed 2", "listed 3"] as const

/** Why a check cannot be about this person. */
export const needsListed = "needs a listed test person (--person)"

/** The test persons that the user named, in the form of a check. */
const namedBy = ({ persons = [] }: Target) =>
  persons.map(({ dob, matchFound, name }): Person => ({ name, dob, promised: matchFound, isOfUser: true }))

/** The person of a check, or `undefined` if the user named none. */
export const of = (target: Target, ref: PersonRef | undefined): Person | undefined => {
  const named = namedBy(target)
  const invented = (person: { readonly name: string; readonly dob: string }): Person => ({
    ...person,
    isOfUser: false,
    ...(target.kind === "mock" && { promised: resultOf(person.name) })
  })
  if (typeof ref === "object") return invented(ref)
  const isClear = ref === undefined || ref === "clear"
  if (named.length > 0) {
    const clear = named.filter(({ promised }) => promised !== potentialMatch)
    const listed = named.filter(({ promised }) => promised === potentialMatch)
    return isClear ? clear[0] ?? (ref === undefined ? listed[0] : undefined) : listed[places.indexOf(ref)]
  }
  if (isClear) return invented(fictional.clear)
  return target.kind === "mock" && ref !== "listed 3" ? invented(fictional[ref]) : undefined
}
