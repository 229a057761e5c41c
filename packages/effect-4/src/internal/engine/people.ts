/** The person of the engine behind a person: only those that it made can be checked. */
import type * as Person3 from "@effect-idv/core/Person"
import { DateOfBirth } from "../../DateOfBirth.ts"
import * as PersonInput from "../personInput.ts"
import * as Values from "./values.ts"

const people = new WeakMap<object, Person3.Person>()
const converted = new WeakMap<Person3.Person, ReturnType<typeof convert>>()

/** Whether the value is a person of this package. Copies and other objects are not. */
export const isPerson = (u: unknown): u is object => typeof u === "object" && u !== null && people.has(u)

const convert = (person: Person3.Person) =>
  Object.freeze({
    name: Values.redacted<string>(person.name),
    dateOfBirth: new DateOfBirth(person.dateOfBirth),
    changes: person.changes.map((change) => new PersonInput.Change({ ...change })),
    warnings: person.warnings.map((warning) => new PersonInput.Warning({ ...warning }))
  })

/** Returns the same person for the same person of the engine. */
export const toPerson = (person: Person3.Person) => {
  const known = converted.get(person)
  if (known !== undefined) return known
  const made = convert(person)
  people.set(made, person)
  converted.set(person, made)
  return made
}

/** Throws as the engine does for a value that is not a person. */
export const fromPerson = (person: object): Person3.Person => {
  const found = people.get(person)
  if (found === undefined) throw new TypeError("check takes a Person from Person.make")
  return found
}
