/** Decodes the forms of the page. */
import * as Person from "@effect-idv/core/Person"
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { flow } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import { quoteAll } from "../profile/choices.ts"
import * as FaultFields from "./faultFields.ts"

/** The fields of a form as the user typed them. */
export type Fields = Readonly<Record<string, string>>

export const parse = (body: Uint8Array): Fields =>
  Object.fromEntries(new URLSearchParams(Buffer.from(body).toString("utf8")))

/** What is wrong with a field, as a sentence that names it. */
export interface Problem {
  readonly path: string
  readonly text: string
}

export type Problems = ReadonlyArray<Problem>

/** A form that could not be decoded. */
export interface InvalidForm {
  readonly fields: Fields
  readonly problems: Problems
}

/** The problems of a field and of the fields below it. */
export const problemsAt = ({ problems }: InvalidForm, field: string): Problems =>
  problems.filter(({ path }) => path === field || path.startsWith(`${field}.`))

export const format = (problems: Problems): string => problems.map(({ text }) => text).join("; ")

const problemsOf = (violations: ReadonlyArray<Violation.Violation>): Problems =>
  violations.map((violation) => ({ path: violation.path, text: String(violation) }))

const decoder = <A, I>(schema: Schema.Schema<A, I>) => flow(Violation.decodeUnknown(schema), Either.mapLeft(problemsOf))

export const moves = ["1 minute", "61 minutes", "2 hours", "freeze", "resume", "real"] as const

export const decodeClock = decoder(Schema.Struct({
  move: Schema.Literal(...moves).annotations(Violation.expecting(`one of ${quoteAll(moves)}`))
}))

/** A fault from the fields of the form. A problem has the name of the form's field. */
export const decodeFault = (fields: Fields): Either.Either<Fault.Fault, Problems> => {
  const { json, names } = FaultFields.encode(fields)
  return Either.mapLeft(
    Fault.decodeUnknown(json),
    (violations) =>
      violations.map((violation) => ({
        path: names.get(violation.path) ?? violation.path,
        text: String(violation)
      }))
  )
}

/** A fault from the field `text`. */
export const decodeFaultText = ({ text = "" }: Fields): Either.Either<Fault.Fault, Problems> =>
  Either.mapLeft(Fault.fromText(text), ({ violations }) => problemsOf(violations))

export const decodeFaultId = decoder(Schema.Struct({
  id: Schema.String.annotations(Violation.expecting("the id of a fault"))
}))

export const decodeProfile = decoder(Profile.Patch)

/** A person from the fields `name` and `dateOfBirth`, as the client accepts it. */
export const decodePerson = ({ dateOfBirth = "", name = "" }: Fields): Effect.Effect<Person.Person, Problems> =>
  Effect.mapError(
    Person.make({ name, dateOfBirth }),
    ({ issues }) => issues.map((issue) => ({ path: issue.field, text: String(issue) }))
  )

export const decodeSession = decoder(Schema.Struct({
  session: Schema.NonEmptyString.annotations(Violation.expecting("a customer id"))
}))
