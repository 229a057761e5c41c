/** Several requests in a row, or at the same time: whether each is authorised and answered by itself. */
import type { Case } from "../model.ts"
import type { AmlStep, Step } from "../steps.ts"
import { bodyWith, check, noOtherListed, ofRun, person, type Row, type Rows, sequences, token } from "./probes.ts"

type Sequences = Rows<ReadonlyArray<Step>>

const listed = check({ person: "listed" })

const withoutToken = check({ authorization: null })

const forged = check({ authorization: "Bearer {otherKey}" })

const unknownCustomer = token({ authorization: "Basic base64({otherId}:{otherKey})" })

const wrongKey = token({ authorization: "Basic base64({id}:{otherKey})" })

const own = (index: number): AmlStep => check({ token: index, isValid: true })

const repeated = <A>(times: number, step: A): ReadonlyArray<A> => Array.from({ length: times }, () => step)

/** Ten people with their own names and dates, every third of them on a list. */
const many: ReadonlyArray<AmlStep> = Array.from(
  { length: 10 },
  (_, i) =>
    person(`Person ${"ABCDEFGHIJ"[i]} ${i % 3 === 0 ? "Testpep" : "Testclear"}`, `1${i}-0${(i % 9) + 1}-19${50 + i}`)
)

const twoDigits = (number: number): string => String(number).padStart(2, "0")

/** A person for each day of a month, so that each month, and years from 1921 to 1981, occur too. */
const days: ReadonlyArray<AmlStep> = Array.from({ length: 31 }, (_, i) => {
  const month = [1, 3, 5, 7, 8, 10, 12, 2, 4, 6, 9, 11][i < 28 ? i % 12 : i % 7] ?? 1
  return person(
    `Day ${i % 2 === 0 ? "Testclear" : "Testpep"}`,
    `${twoDigits(i + 1)}-${twoDigits(month)}-${1921 + 2 * i + i % 2}`
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
const inTurn: ReadonlyArray<AmlStep> = Array.from({ length: 25 }, () => [listed, check()]).flat()

/**
 * Four checks with what most often goes wrong: the same name, first and last name only, and a listed person beside others;
 * marks, punctuation, a word twice, a long name, and packets; the days on which dates and years are often wrong. No mistake
 * is about all of them, so that a service which refuses one is not one that knows its own test persons only.
 */
const fourPeople: Row<ReadonlyArray<Step>> = [
  "four people, two of them at the same time, with an unusual name and unusual days",
  [
    person("Anna Maria Testclear", "29-02-2000"),
    { ...person("Anna Anne-Marie O'Neil Łucja Q. Größe Łucja Testclear", "31-12-1920"), inPieces: true },
    { to: "together", steps: [person("Anna Maria Testclear", "08-09-2007"), check({ person: "any listed" })] }
  ]
]

/** Documented checks: each must be answered, with every field, and the result and the profile of its person. */
const documented: ReadonlyArray<Row<ReadonlyArray<Step>>> = [
  ["the same name with two dates of birth at the same time", [{
    to: "together",
    steps: [person("Alex Both Testclear", "25-06-1970"), person("Alex Both Testclear", "28-08-1991")]
  }]],
  ["two names with the same date of birth at the same time", [{
    to: "together",
    steps: [person("Alex First Testclear", "25-06-1970"), person("Beth Second Testpep", "25-06-1970")]
  }]],
  ["two names with the same date of birth", [
    person("Alex First Testclear", "25-06-1970"),
    person("Beth Second Testpep", "25-06-1970")
  ]],
  ["a listed person after the same first names on no list", [
    person("Alex Third Testclear", "09-06-1972"),
    person("Alex Third Testpep", "09-06-1972")
  ]],
  ["two people whose names differ in case", [
    person("Alex Mcdonald Testclear", "09-06-1972"),
    person("Alex McDonald Testclear", "09-06-1973")
  ]],
  ["a person on no list after a listed one", [listed, check()]],
  ["a listed person three times", repeated(3, listed)],
  ["ten people in a row", many],
  ["ten people at the same time", [{ to: "together", steps: many }]],
  ["a listed person beside others", [{ to: "together", steps: [...many.slice(1, 6), listed] }]],
  ["31 people, each born on another day of a month", days],
  ["26 people, each with another first letter", letters],
  ["a listed person and another one, 25 times in turn", inTurn]
]

/** Requests that no service should accept. */
const refusedRequests: ReadonlyArray<Row<Step>> = [
  ["a token request without credentials", token({ authorization: null })],
  ["a token request of an unknown customer", unknownCustomer],
  ["a token request with a wrong key", wrongKey],
  ["a token request with another grant_type", token({ body: "grant_type=password" })],
  ["a token request without grant_type", token({ body: "" })],
  ["a check without a token", withoutToken],
  ["a check with a forged token", forged],
  ["a check with the year first", check({ body: bodyWith({ dob: "{year}-{month}-{day}" }) })],
  ["a check without a name", check({ body: bodyWith({ name: undefined }) })],
  ["a check of a company", check({ body: bodyWith({ entity_type: "company" }) })],
  ["a check with a body that ends early", check({ body: "{\"entity_type\":" })]
]

const minute = 60

/** Each refused request with what follows it, or what surrounds it. */
const after = (title: string, around: (refused: Step) => ReadonlyArray<Step>): Sequences => {
  const rows = refusedRequests.map(([name, step]) => [`${title} after ${name}`, around(step)] as const)
  // The cheapest comes first: a refused check that needs no wrong credential.
  const [first = ["", []] as const, ...rest] = [...rows.slice(7), ...rows.slice(0, 7)]
  return [first, ...rest]
}

export const cases: ReadonlyArray<Case> = [
  sequences("aml.sequence.fields", "aml.answer.every", "every field", [fourPeople, ...documented], { worth: 6 }),
  sequences("aml.sequence.answered", "aml.request.people", "every answer", [fourPeople, ...documented], {
    worth: 6
  }),
  sequences("aml.sequence.result", "aml.match.subjects", "promised result", [
    ["a sanctioned person", [check({ person: "listed 2" })]],
    fourPeople,
    ...documented
  ], {
    notOnSandbox: noOtherListed
  }),
  sequences("aml.sequence.profile", "aml.profile.own", "own profile", [fourPeople, ...documented]),
  sequences("aml.sequence.again", "aml.match.again", "repeated check", [
    ["the same check of a listed person five times", repeated(5, listed)],
    ["the same check of a listed person five times at once", [{ to: "together", steps: repeated(5, listed) }]],
    ["the results of two people, 25 times in turn", inTurn]
  ]),
  sequences("aml.sequence.issuer", "aml.answer.issuer", "same issuer", [["two people", [check(), listed]]], {
    worth: 3
  }),

  sequences("aml.authorization.after", "aml.request.authorization", "credential withheld", [
    ["no token after a check with one", [check(), withoutToken]],
    ["no token after the same check of a listed person", [listed, { ...listed, authorization: null }]],
    ["a forged token after a check with a right one", [check(), forged]],
    ["no token, about another person, after a check with one", [
      check(),
      { ...person("Someone Else Testclear", "03-04-1966"), authorization: null }
    ]],
    ["no token after a token request", [token(), withoutToken]],
    ["no token after five checks", [...repeated(5, check()), withoutToken]],
    ["no token beside five checks", [{ to: "together", steps: [...repeated(5, check()), withoutToken] }]],
    ["a forged token beside five checks", [{ to: "together", steps: [...repeated(5, check()), forged] }]],
    ["no token, twelve times", repeated(12, withoutToken)],
    ["the same forged token twelve times", repeated(12, forged)]
  ]),
  sequences("token.authorization.after", "token.request.authorization", "token withheld", [
    ["an unknown customer after a token request", [token(), unknownCustomer]],
    ["no credentials after a token request", [token(), token({ authorization: null })]],
    ["a wrong key after the right one", [token(), wrongKey]],
    ["no credentials beside right ones", [{
      to: "together",
      steps: [token(), token(), token(), token({ authorization: null })]
    }]],
    ["a wrong key beside right ones", [{ to: "together", steps: [token(), token(), wrongKey, token(), wrongKey] }]],
    ["a wrong key ten times", repeated(10, wrongKey)],
    ["an unknown customer ten times", repeated(10, unknownCustomer)]
  ]),
  sequences("token.together", "token.request.path", "every grant", [
    ["right keys beside wrong ones", [{
      to: "together",
      steps: [token(), wrongKey, token(), wrongKey, token(), wrongKey]
    }]]
  ]),

  sequences("token.used", "token.lifetime", "lifetime", [
    ["two uses of a token that was followed by another", [token(), own(0), token(), own(0)]],
    ["a second use of a token", [token(), own(0), own(0)]],
    ["two tokens in turn", [token(), token(), own(1), own(0), own(1), own(0)]],
    ["a token after a check that was refused", [token(), check({ body: "{", token: 0 }), own(0)]],
    ["a token after an unknown customer and a forged token", [
      token(),
      unknownCustomer,
      forged,
      check({ authorization: "Bearer {token|last}" }),
      own(0)
    ]],
    ["a token after a wrong key", [token(), wrongKey, own(0)]],
    ["two tokens that were requested at the same time", [
      { to: "together", steps: [token(), token()] },
      own(0),
      own(1)
    ]],
    ["eight uses of a token at the same time", [token(), { to: "together", steps: repeated(8, own(0)) }]],
    ["each of twelve tokens", [...repeated(12, token()), ...Array.from({ length: 12 }, (_, i) => own(i))]],
    ["forty uses of a token", [token(), ...repeated(40, own(0))]]
  ], { worth: 5 }),

  sequences(
    "token.granted-after",
    "token.request.path",
    "every grant",
    after("a token request", (step) => [step, token()])
  ),
  sequences(
    "aml.withheld-after",
    "aml.request.authorization",
    "credential withheld",
    after("a check without a token", (step) => [step, withoutToken])
  ),
  sequences(
    "aml.answered-after",
    "aml.request.people",
    "every answer",
    after("two checks", (step) => [step, listed, check()])
  ),
  sequences(
    "aml.fields-after",
    "aml.answer.every",
    "every field",
    after("two checks", (step) => [step, listed, check()])
  ),

  sequences("token.lifetime.around", "token.lifetime", "lifetime", [
    ...after("the hour of a token", (step) => [
      token(),
      { to: "clock", advance: 40 * minute },
      step,
      { to: "clock", advance: 20 * minute - 5 },
      own(0),
      { to: "clock", advance: 7 },
      check({ token: 0, isValid: false })
    ]),
    ["a new token after a check with an ended one", [
      token(),
      { to: "clock", advance: 61 * minute },
      check({ token: 0, isValid: false }),
      token(),
      own(1)
    ]]
  ]),
  sequences("aml.withheld-after.ended-token", "aml.request.authorization", "credential withheld", [
    ["a check without a token after one with an ended token", [
      token(),
      { to: "clock", advance: 61 * minute },
      check({ token: 0, authorization: "Bearer {token}" }),
      withoutToken
    ]]
  ])
]

/** Cases that run after all others, and read what the whole run observed. */
export const finalCases: ReadonlyArray<Case> = [
  ofRun("token.granted.run", "token.request.path", "every grant", "every token request of section 4.1 in the run"),
  ofRun(
    "aml.listed.result",
    "aml.match.persons",
    "promised result",
    "the promised results in all responses of the run",
    [
      ["the result of a listed person", [listed]],
      ["the result of a second listed person", [check({ person: "listed 2" })]],
      ["the result of a third listed person", [check({ person: "listed 3" })]],
      ["the result of a person on no list", [check()]]
    ]
  ),
  ofRun("token.lifetime.kept", "token.lifetime", "early refusals", "the shared token until the end of the run"),
  ofRun("aml.every-response", "aml.answer.every", "every field", "every field of every response of the run"),
  ofRun("aml.again.run", "aml.match.again", "same result", "the results of each person in the run"),
  ofRun("aml.match.run", "aml.match.everybody", "every match", "whether everybody in the run is listed", [
    ["three people on no list", [
      check(),
      person("Alex First Testclear", "25-06-1970"),
      person("Alex Mcdonald Testclear", "09-06-1972")
    ]]
  ]),
  ofRun("aml.name.echo.run", "aml.name.echo", "every name echo", "how all credentials of the run write the names"),
  ofRun("aml.issuer", "aml.answer.issuer", "same issuer", "issuer and version in all responses of the run"),
  ofRun("aml.profile.own", "aml.profile.own", "own profile", "the profiles in all responses of the run"),
  ofRun("aml.profile.stable", "aml.profile.stable", "stable profile", "the profiles of each person in the run", [
    ["the profiles of a person in two checks", [check(), check()]]
  ]),
  ofRun(
    "aml.searched-on.run",
    "aml.answer.searched-on.time",
    "time of search",
    "searched_on from the first to the last response of the run"
  )
]
