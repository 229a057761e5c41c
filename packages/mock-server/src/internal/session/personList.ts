/** The test persons that a user added to one session. The first one that matches decides the response. */
import type { MatchFound } from "@effect-idv/core/AmlCredential"
import type { DateOfBirth } from "@effect-idv/core/DateOfBirth"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { What } from "../faults/kinds.ts"
import * as NameText from "../schema/nameText.ts"
import type { CustomPerson } from "./customPerson.ts"

/** What the mock server does for a person. */
export interface Selected {
  readonly matchFound: MatchFound
  /** What the mock server does, as the predicate of a sentence without personal data. */
  readonly description: string
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
  readonly list: Effect.Effect<ReadonlyArray<Listed>>
  /** Returns the response for a person, and counts it. */
  readonly select: (name: string, dateOfBirth: DateOfBirth) => Effect.Effect<Option.Option<Selected>>
  /** Restores the test persons that the session began with. */
  readonly reset: Effect.Effect<void>
}

interface Person extends Listed {
  readonly matches: (name: string, dateOfBirth: DateOfBirth) => boolean
  readonly selected: Selected
}

const selectedBy = (response: CustomPerson["response"], by: string): Selected =>
  typeof response === "string"
    ? { matchFound: response, description: `returns "${response}", as configured in ${by}` }
    : {
      // So that a client that treats the fault as a "No" fails its test.
      matchFound: "Potential match",
      description: `returns "Potential match" with the fault ${response.kind}, as configured in ${by}`,
      fault: response
    }

const matchFields = ["name", "nameLast", "dateOfBirth"] as const

const person = ({ match, response }: CustomPerson, index: number): Person => {
  const { dateOfBirth } = match
  const name = match.name && NameText.comparable(Redacted.value(match.name))
  const nameLast = match.nameLast && NameText.lastWord(Redacted.value(match.nameLast))
  const fields = matchFields.filter((field) => match[field] !== undefined)
  return {
    match: fields,
    response,
    matched: 0,
    matches: (sentName, sentDate) =>
      (name === undefined || name === NameText.comparable(sentName)) &&
      (nameLast === undefined || nameLast === NameText.lastWord(sentName)) &&
      (dateOfBirth === undefined || Equal.equals(dateOfBirth, sentDate)),
    selected: selectedBy(response, `testPersons[${index}] (matched by ${fields.join(" and ")})`)
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
    list: Effect.sync(() => persons.map(({ match, matched, response }) => ({ match, response, matched }))),
    select: (name, dateOfBirth) =>
      Effect.sync(() => {
        const index = persons.findIndex(({ matches }) => matches(name, dateOfBirth))
        const found = persons[index]
        if (found === undefined) return Option.none()
        persons[index] = { ...found, matched: found.matched + 1 }
        return Option.some(found.selected)
      }),
    reset: set(initial)
  }
}
