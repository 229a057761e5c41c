/** Several requests in a row, or at the same time: whether each is authorised and answered by itself. */
import type { Case } from "../model.ts"
import type { AmlStep, Json, Step, TokenStep } from "../steps.ts"
import { check } from "./probes.ts"
import * as TestPeople from "./testPeople.ts"

const token: TokenStep = { to: "token" }

const bodyOf = (name: string, dob: string): Json => ({ entity_type: "person", name, dob })

const person = (name: string, dob: string): AmlStep => check({ body: bodyOf(name, dob) })

const exposed = check({ body: TestPeople.bodyOf(TestPeople.exposed) })

const own = (index: number): AmlStep => ({ ...check(), token: index, isValid: true })

const withoutToken = check({ authorization: null })

const repeated = (times: number, step: AmlStep): ReadonlyArray<AmlStep> => Array.from({ length: times }, () => step)

/** A sequence of documented checks: each must be answered, with every field and the result of its person. */
const checks = (id: string, title: string, steps: ReadonlyArray<Step>): ReadonlyArray<Case> => [
  { id: `aml.${id}`, claim: "aml.answer.every", title, steps, reading: "every field" },
  { id: `aml.${id}.answered`, claim: "aml.request.people", title, steps, reading: "every answer" },
  { id: `aml.${id}.result`, claim: "aml.match.subjects", title, steps, reading: "test person" },
  { id: `aml.${id}.profile`, claim: "aml.profile.own", title, steps, reading: "own profile" }
]

/** A sequence whose last request should receive no credential. */
const refused = (id: string, title: string, steps: ReadonlyArray<Step>): Case => ({
  id: `aml.${id}`,
  claim: "aml.request.authorization",
  title,
  steps,
  reading: "credential withheld"
})

const lifetime = (id: string, title: string, steps: ReadonlyArray<Step>): Case => ({
  id: `token.${id}`,
  claim: "token.lifetime",
  title,
  steps,
  reading: "lifetime"
})

/** Ten people with their own names and dates, every third of them on a list. */
const many: ReadonlyArray<AmlStep> = Array.from(
  { length: 10 },
  (_, i) =>
    person(`Person ${"ABCDEFGHIJ"[i]} ${i % 3 === 0 ? "Testpep" : "Testclear"}`, `1${i}-0${(i % 9) + 1}-19${50 + i}`)
)

const twoDigits = (number: number): string => String(number).padStart(2, "0")

/** A person for each day of a month, so that each month, and years from 1925 to 2006, occur too. */
const days: ReadonlyArray<AmlStep> = Array.from({ length: 31 }, (_, i) => {
  const month = [1, 3, 5, 7, 8, 10, 12, 2, 4, 6, 9, 11][i < 28 ? i % 12 : i % 7] ?? 1
  return person(
    `Day ${i % 2 === 0 ? "Testclear" : "Testpep"}`,
    `${twoDigits(i + 1)}-${twoDigits(month)}-${1920 + 3 * i}`
  )
})

/** A person for each letter, with a name of another length. */
const letters: ReadonlyArray<AmlStep> = Array.from(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
  (letter, i) =>
    person(
      `${letter}${"ae".repeat(i)} ${letter} ${i % 2 === 0 ? "Testpep" : "Testclear"}`,
      `0${i % 9 + 1}-11-19${60 + i}`
    )
)

/** Two people in turn, because a service may be wrong after a number of checks. */
const inTurn: ReadonlyArray<AmlStep> = Array.from({ length: 25 }, () => [exposed, check()]).flat()

export const cases: ReadonlyArray<Case> = [
  {
    id: "token.lifetime.again",
    claim: "token.lifetime",
    title: "a second use of a token",
    steps: [token, own(0), own(0)],
    reading: "lifetime"
  },
  lifetime("renewed", "two tokens in turn", [token, token, own(1), own(0), own(1), own(0)]),
  refused("authorization.after", "no token after a check with one", [check(), withoutToken]),
  refused("authorization.after-listed", "no token after the same check of a listed person", [
    exposed,
    { ...exposed, authorization: null }
  ]),
  refused("authorization.after-forged", "a forged token after a check with a right one", [
    check(),
    check({ authorization: "Bearer {otherKey}" })
  ]),
  refused("authorization.after-other", "no token, about another person, after a check with one", [
    check(),
    { ...person("Someone Else Testclear", "03-04-1966"), authorization: null }
  ]),
  refused("authorization.repeated", "no token, twelve times", repeated(12, withoutToken)),
  refused(
    "authorization.forged-repeated",
    "the same forged token twelve times",
    repeated(12, check({ authorization: "Bearer {otherKey}" }))
  ),
  refused("authorization.after-token", "no token after a token request", [token, withoutToken]),
  refused("authorization.after-many", "no token after five checks", [...repeated(5, check()), withoutToken]),
  refused("authorization.together", "no token beside five checks", [
    { to: "together", steps: [...repeated(5, check()), withoutToken] }
  ]),
  refused("authorization.forged-together", "a forged token beside five checks", [
    { to: "together", steps: [...repeated(5, check()), check({ authorization: "Bearer {otherKey}" })] }
  ]),
  {
    id: "token.authorization.after",
    claim: "token.request.authorization",
    title: "an unknown customer after a token request",
    steps: [token, { to: "token", authorization: "Basic base64({otherId}:{otherKey})" }],
    reading: "token withheld"
  },
  {
    id: "token.authorization.missing-after",
    claim: "token.request.authorization",
    title: "no credentials after a token request",
    steps: [token, { to: "token", authorization: null }],
    reading: "token withheld"
  },
  {
    id: "token.key.after",
    claim: "token.request.authorization",
    title: "a wrong key after the right one",
    steps: [token, { to: "token", authorization: "Basic base64({id}:{otherKey})" }],
    reading: "token withheld",
    needsWrongKeys: true
  },
  {
    id: "token.key.repeated",
    claim: "token.request.authorization",
    title: "a wrong key ten times",
    steps: Array.from(
      { length: 10 },
      (): TokenStep => ({ to: "token", authorization: "Basic base64({id}:{otherKey})" })
    ),
    reading: "token withheld",
    needsWrongKeys: true
  },
  {
    id: "token.key.together",
    claim: "token.request.authorization",
    title: "a wrong key beside right ones",
    steps: [{
      to: "together",
      steps: [token, token, { to: "token", authorization: "Basic base64({id}:{otherKey})" }, token, {
        to: "token",
        authorization: "Basic base64({id}:{otherKey})"
      }]
    }],
    reading: "token withheld",
    needsWrongKeys: true
  },
  {
    id: "token.authorization.together",
    claim: "token.request.authorization",
    title: "no credentials beside right ones",
    steps: [{ to: "together", steps: [token, token, token, { to: "token", authorization: null }] }],
    reading: "token withheld"
  },
  {
    id: "token.authorization.repeated",
    claim: "token.request.authorization",
    title: "an unknown customer ten times",
    steps: Array.from(
      { length: 10 },
      (): TokenStep => ({ to: "token", authorization: "Basic base64({otherId}:{otherKey})" })
    ),
    reading: "token withheld"
  },
  lifetime("after-refusal", "a token after a check that was refused", [
    token,
    { ...check({ body: "{" }), token: 0 },
    own(0)
  ]),
  lifetime("after-unknown", "a token after an unknown customer and a forged token", [
    token,
    { to: "token", authorization: "Basic base64({otherId}:{otherKey})" },
    check({ authorization: "Bearer {otherKey}" }),
    check({ authorization: "Bearer {token|last}" }),
    own(0)
  ]),
  {
    ...lifetime("after-wrong-key", "a token after a wrong key", [
      token,
      { to: "token", authorization: "Basic base64({id}:{otherKey})" },
      own(0)
    ]),
    needsWrongKeys: true
  },
  lifetime("of-many", "each of twelve tokens", [
    ...Array.from({ length: 12 }, () => token),
    ...Array.from({ length: 12 }, (_, i) => own(i))
  ]),
  lifetime("together", "two tokens that were requested at the same time", [
    { to: "together", steps: [token, token] },
    own(0),
    own(1)
  ]),
  lifetime("used-together", "eight uses of a token at the same time", [
    token,
    { to: "together", steps: repeated(8, own(0)) }
  ]),
  lifetime("used-often", "forty uses of a token", [token, ...repeated(40, own(0))]),

  ...checks("same-name", "the same name with two dates of birth", [
    person("Alex Same Testclear", "05-06-1970"),
    person("Alex Same Testclear", "07-08-1991")
  ]),
  ...checks("same-name-together", "the same name with two dates of birth at the same time", [{
    to: "together",
    steps: [person("Alex Both Testclear", "05-06-1970"), person("Alex Both Testclear", "07-08-1991")]
  }]),
  ...checks("same-date", "two names with the same date of birth", [
    person("Alex First Testclear", "05-06-1970"),
    person("Beth Second Testpep", "05-06-1970")
  ]),
  ...checks("clear-then-pep", "a listed person after the same first names on no list", [
    person("Alex Third Testclear", "09-06-1972"),
    person("Alex Third Testpep", "09-06-1972")
  ]),
  ...checks("pep-then-clear", "a person on no list after a listed one", [exposed, check()]),
  ...checks("case", "two people whose names differ in case", [
    person("Alex Mcdonald Testclear", "09-06-1972"),
    person("Alex McDonald Testclear", "09-06-1973")
  ]),
  ...checks("pep-again", "a listed person three times", repeated(3, exposed)),
  {
    id: "aml.issuer.two",
    claim: "aml.answer.issuer",
    title: "issuer and version of two people",
    steps: [check(), exposed],
    reading: "same issuer"
  },
  {
    id: "aml.again.pep",
    claim: "aml.match.again",
    title: "the same check of a listed person five times",
    steps: repeated(5, exposed),
    reading: "repeated check"
  },
  {
    id: "aml.again.together",
    claim: "aml.match.again",
    title: "the same check of a listed person five times at once",
    steps: [{ to: "together", steps: repeated(5, exposed) }],
    reading: "repeated check"
  },
  ...checks("days", "31 people, each born on another day of a month", days),
  ...checks("letters", "26 people, each with another first letter", letters),
  ...checks("in-turn", "a listed person and another one, 25 times in turn", inTurn),
  {
    id: "aml.again.in-turn",
    claim: "aml.match.again",
    title: "the results of two people, 25 times in turn",
    steps: inTurn,
    reading: "repeated check"
  },
  ...checks("many", "ten people in a row", many),
  ...checks("many-together", "ten people at the same time", [{ to: "together", steps: many }]),
  ...checks("pep-together", "a listed person beside others", [{
    to: "together",
    steps: [...many.slice(1, 6), exposed]
  }]),
  ...checks("after-refused", "a check after one that was refused", [
    check({ body: bodyOf("Nobody Testclear", "1990-02-01") }),
    person("Carl Testclear", "04-05-1981")
  ]),
  ...checks("after-refused-pep", "a listed person after a check that was refused", [
    check({ authorization: null }),
    check({ body: "{" }),
    exposed
  ])
]
