/**
 * The test persons of one session: those that a user added, of which the first that matches decides, and after them the
 * reserved names.
 */
import type { MatchFound } from "@effect-idv/core/AmlCredential"
import type { DateOfBirth } from "@effect-idv/core/DateOfBirth"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestPerson from "../../TestPerson.ts"
import type { What } from "../faults/kinds.ts"
import * as PersonText from "../schema/personText.ts"

/** What selected the result of a check: a reserved name, a test person of your own, or neither. */
export const Selection = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("reservedName"), lastWord: Schema.String }),
  Schema.Struct({
    kind: Schema.Literal("testPerson"),
    index: Schema.NonNegativeInt,
    matchedBy: Schema.Array(Schema.String)
  }),
  Schema.Struct({ kind: Schema.Literal("otherName") })
)

/** What the mock server does for a person. */
export interface Selected {
  readonly matchFound: MatchFound
  /** What selected it. */
  readonly by: typeof Selection.Type
  readonly fault?: What
}

export interface PersonList {
  /** Replaces all test persons. */
  readonly set: (persons: ReadonlyArray<TestPerson.Custom>) => Effect.Effect<void>
  /** Adds a test person before all others. */
  readonly addFirst: (person: TestPerson.Custom) => Effect.Effect<void>
  readonly list: Effect.Effect<ReadonlyArray<TestPerson.Listed>>
  /** Returns the response for a person, and counts it for the test person that decides. */
  readonly select: (name: string, dateOfBirth: DateOfBirth) => Effect.Effect<Selected>
  /** Restores the test persons that the session began with. */
  readonly reset: Effect.Effect<void>
}

interface Person extends TestPerson.Listed {
  readonly matches: (name: string, dateOfBirth: DateOfBirth) => boolean
}

const matchFields = ["name", "nameLast", "dateOfBirth"] as const

const person = ({ match, response }: TestPerson.Custom): Person => {
  const { dateOfBirth } = match
  const name = match.name && PersonText.comparable(Redacted.value(match.name))
  const nameLast = match.nameLast && PersonText.lastWord(Redacted.value(match.nameLast))
  return {
    match: matchFields.filter((field) => match[field] !== undefined),
    response,
    matched: 0,
    matches: (sentName, sentDate) =>
      (name === undefined || name === PersonText.comparable(sentName)) &&
      (nameLast === undefined || nameLast === PersonText.lastWord(sentName)) &&
      (dateOfBirth === undefined || Equal.equals(dateOfBirth, sentDate))
  }
}

/** What the mock server does for a name that no added test person matches. */
const ofName = (name: string): Selected => {
  const { fault, lastWord, matchFound } = TestPerson.of(name)
  return {
    matchFound,
    by: lastWord === undefined ? { kind: "otherName" } : { kind: "reservedName", lastWord },
    ...(fault !== undefined && { fault })
  }
}

export const make = (initial: ReadonlyArray<TestPerson.Custom>): PersonList => {
  let persons = initial.map(person)
  const set = (custom: ReadonlyArray<TestPerson.Custom>) =>
    Effect.sync(() => {
      persons = custom.map(person)
    })
  return {
    set,
    addFirst: (custom) =>
      Effect.sync(() => {
        persons = [person(custom), ...persons]
      }),
    list: Effect.sync(() => persons.map(({ match, matched, response }) => ({ match, response, matched }))),
    select: (name, dateOfBirth) =>
      Effect.sync((): Selected => {
        const index = persons.findIndex(({ matches }) => matches(name, dateOfBirth))
        const found = persons[index]
        if (found === undefined) return ofName(name)
        persons[index] = { ...found, matched: found.matched + 1 }
        const by = { kind: "testPerson", index, matchedBy: found.match } as const
        return typeof found.response === "string"
          ? { matchFound: found.response, by }
          // So that a client that treats the fault as a "No" fails its test.
          : { matchFound: "Potential match", by, fault: found.response }
      }),
    reset: set(initial)
  }
}
