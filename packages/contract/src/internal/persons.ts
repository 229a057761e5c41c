/** The persons of checks: the suite's own fictional ones, or the test persons that the user names. */
import type { Target } from "./model.ts"
import type { NameAndDob, Person, PersonRef } from "./steps.ts"

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

/** The test persons that the user named, in the form of a check: those who are on a list, or the others. */
const namedBy = ({ persons = [] }: Target, isListed: boolean, variables: ReadonlyArray<string>) =>
  persons.filter(({ matchFound }) => (matchFound === potentialMatch) === isListed).map((
    { dob, matchFound, name },
    i
  ): Person => ({ name, dob, promised: matchFound, variable: variables[i] ?? "" }))

/** The person of a check, or `undefined` if the user named none. */
export const of = (target: Target, ref: PersonRef | undefined): Person | undefined => {
  const invented = (person: NameAndDob): Person => ({
    ...person,
    ...(target.kind === "mock" && { promised: resultOf(person.name) })
  })
  if (typeof ref === "object") return invented(ref)
  if (ref === "any listed") return of(target, "listed 2") ?? of(target, "listed") ?? of(target, undefined)
  const isClear = ref === undefined || ref === "clear"
  if (target.persons !== undefined && target.persons.length > 0) {
    const [clear] = namedBy(target, false, ["PERSON"])
    const listed = namedBy(target, true, ["LISTED", "LISTED_2", "LISTED_3"])
    return isClear ? clear ?? (ref === undefined ? listed[0] : undefined) : listed[places.indexOf(ref)]
  }
  if (isClear) return invented(fictional.clear)
  return target.kind === "mock" && ref !== "listed 3" ? invented(fictional[ref]) : undefined
}
