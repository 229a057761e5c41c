/** The test persons that a user added to one session. The first one that matches decides the response. */
import type { MatchFound } from "@effect-idv/core/AmlCredential"
import type { DateOfBirth } from "@effect-idv/core/DateOfBirth"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { What } from "../faults/kinds.ts"
import * as NameText from "../schema/nameText.ts"
import type { CustomPerson } from "./customPerson.ts"

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

/** A test person, without its name and its date of birth. */
export interface Listed {
  /** The fields that its match has. */
  readonly match: ReadonlyArray<keyof CustomPerson["match"]>
  readonly response: CustomPerson["response"]
  /** How many checks it decided. */
  readonly matched: number
}

export interface PersonList {
  /** Replaces all test persons. */
  readonly set: (persons: ReadonlyArray<CustomPerson>) => Effect.Effect<void>
  /** Adds a test person before all others. */
  readonly addFirst: (person: CustomPerson) => Effect.Effect<void>
  readonly list: Effect.Effect<ReadonlyArray<Listed>>
  /** Returns the response for a person, and counts it. */
  readonly select: (name: string, dateOfBirth: DateOfBirth) => Effect.Effect<Option.Option<Selected>>
  /** Restores the test persons that the session began with. */
  readonly reset: Effect.Effect<void>
}

interface Person extends Listed {
  readonly matches: (name: string, dateOfBirth: DateOfBirth) => boolean
}

const matchFields = ["name", "nameLast", "dateOfBirth"] as const

const person = ({ match, response }: CustomPerson): Person => {
  const { dateOfBirth } = match
  const name = match.name && NameText.comparable(Redacted.value(match.name))
  const nameLast = match.nameLast && NameText.lastWord(Redacted.value(match.nameLast))
  return {
    match: matchFields.filter((field) => match[field] !== undefined),
    response,
    matched: 0,
    matches: (sentName, sentDate) =>
      (name === undefined || name === NameText.comparable(sentName)) &&
      (nameLast === undefined || nameLast === NameText.lastWord(sentName)) &&
      (dateOfBirth === undefined || Equal.equals(dateOfBirth, sentDate))
  }
}

export const make = (initial: ReadonlyArray<CustomPerson>): PersonList => {
  let persons = initial.map(person)
  const set = (custom: ReadonlyArray<CustomPerson>) =>
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
      Effect.sync(() => {
        const index = persons.findIndex(({ matches }) => matches(name, dateOfBirth))
        const found = persons[index]
        if (found === undefined) return Option.none()
        persons[index] = { ...found, matched: found.matched + 1 }
        const by = { kind: "testPerson", index, matchedBy: found.match } as const
        return Option.some(
          typeof found.response === "string"
            ? { matchFound: found.response, by }
            // So that a client that treats the fault as a "No" fails its test.
            : { matchFound: "Potential match", by, fault: found.response }
        )
      }),
    reset: set(initial)
  }
}
