/** The requests of a client, and the check to which each belongs. */
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import { type Entry, sentOf } from "../journal/entry.ts"
import type * as Day from "./day.ts"
import * as Persons from "./persons.ts"

const pad = (value: number) => String(value).padStart(2, "0")

/** A request as the client sent it. */
export const requestOf = (entry: Entry): Day.Request => {
  const sent = sentOf(entry)
  const person = Option.map(sent, ({ person }) => person())
  const header = (name: string) => Option.getOrUndefined(Option.map(sent, ({ headers }) => headers[name] ?? ""))
  const born = Option.flatMap(person, ({ dateOfBirth }) => dateOfBirth)
  return {
    entry,
    at: Date.parse(entry.at),
    authorization: header("authorization") || undefined,
    target: Option.match(sent, { onNone: () => "", onSome: ({ target }) => target }),
    headers: Option.match(sent, {
      onNone: () => [],
      onSome: ({ headers }) => Object.values(Struct.omit(headers, "authorization")).map(String)
    }),
    host: header("host"),
    name: Option.getOrUndefined(Option.flatMap(person, ({ name }) => name)),
    dateOfBirth: Option.getOrUndefined(
      Option.map(born, ({ day, month, year }) => [year, pad(month), pad(day)].join("-"))
    )
  }
}

/** A check with its place in the list of all requests. */
export interface Recorded extends Omit<Day.Check, "requests"> {
  readonly start: number
  readonly end: number
}

/** Gives each request to the check with its name, or else to the check that ran at its time. */
export const withRequests = (
  recorded: ReadonlyArray<Recorded>,
  seen: ReadonlyArray<Day.Request>,
  isOwn: (request: Day.Request) => boolean
): ReadonlyArray<Day.Check> => {
  const names = recorded.map(({ person }) => Persons.comparable(person.name))
  const ownerOf = (request: Day.Request, index: number) => {
    const name = request.name === undefined ? undefined : Persons.comparable(request.name)
    const isCurrent = ({ end, start }: Recorded) => index >= start && index < end
    const named = recorded.findIndex((check, number) => names[number] === name && isCurrent(check))
    return named >= 0
      ? named
      : name !== undefined && names.includes(name)
      ? names.indexOf(name)
      : isOwn(request)
      ? recorded.findIndex(isCurrent)
      : -1
  }
  const owners = seen.map(ownerOf)
  return recorded.map((check, index) => ({
    ...check,
    requests: seen.filter((_, request) => owners[request] === index)
  }))
}
