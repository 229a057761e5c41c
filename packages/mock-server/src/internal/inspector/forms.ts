/** What the forms of the page send, as a schema each, and what of it is refused. */
import * as DateOfBirth from "@effect-idv/core/DateOfBirth"
import * as Person from "@effect-idv/core/Person"
import * as Violation from "@effect-idv/core/Violation"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Fault from "../../Fault.ts"
import { quoted } from "../profile/choices.ts"
import { numberOrText } from "../schema/numberOrText.ts"

/** The fields of a form, as they were typed. */
export type Fields = Readonly<Record<string, string>>

export const parse = (body: Uint8Array): Fields =>
  Object.fromEntries(new URLSearchParams(Buffer.from(body).toString("utf8")))

/** What a form was given, and what is wrong with it. */
export interface Refusal {
  readonly fields: Fields
  readonly violations: ReadonlyArray<Violation.Violation>
}

/** Of the violations of a refusal, those of a field and of what is in it. */
export const violationsAt = ({ violations }: Refusal, field: string): ReadonlyArray<Violation.Violation> =>
  violations.filter(({ path }) => path === field || path.startsWith(`${field}.`))

export const moves = ["1 minute", "61 minutes", "2 hours", "freeze", "resume", "real"] as const

export const decodeClock = Violation.decodeUnknown(Schema.Struct({
  move: Schema.Literal(...moves).annotations(Violation.expecting(`one of ${quoted(moves)}`))
}))

/** The conditions of the form; for the others there is the text. */
export const whens = ["always", "nth", "first", "every"] as const

/** A fault from the fields `on`, `what`, `when` and `n`. */
export const decodeFault = (
  { n = "", on, what, when = "always" }: Fields
): Either.Either<Fault.Fault, Violation.Violations> =>
  Either.mapLeft(
    Fault.decodeUnknown({
      on,
      what: { kind: what },
      when: when === "always" ? { kind: when } : { kind: when, n: numberOrText(n) }
    }),
    Arr.map((violation) =>
      violation.path === "when.n" ? new Violation.Violation({ ...violation, path: "n" }) : violation
    )
  )

/** A fault from the field `text`. */
export const decodeFaultText = (
  { text = "" }: Fields
): Either.Either<Fault.Fault, ReadonlyArray<Violation.Violation>> =>
  Either.mapLeft(Fault.fromText(text), ({ violations }) => violations)

export const decodeFaultId = Violation.decodeUnknown(Schema.Struct({
  id: Schema.String.annotations(Violation.expecting("the id of a fault"))
}))

export const decodeCheck = Violation.decodeUnknown(Schema.Struct({
  name: Person.RequestBody.fields.name,
  dateOfBirth: DateOfBirth.FromIso
}))

export const decodeSession = Violation.decodeUnknown(Schema.Struct({
  session: Schema.NonEmptyString.annotations(Violation.expecting("a customer id"))
}))
