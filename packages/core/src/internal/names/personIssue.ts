/** Converts between the messages of `Person.FromInput` and its issues. */
import type * as HttpApiError from "@effect/platform/HttpApiError"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as PersonInput from "../../PersonInput.ts"

type DecodeIssue = HttpApiError.HttpApiDecodeError["issues"][number]

export const notAnObject = "Expected a person, as { name, dateOfBirth }"

/** The issue of a field that is missing or is not a string. */
export const notText = (field: PersonInput.Issue["field"]) => new PersonInput.Issue({ field, code: "not_text" })

const decodeIssue = Schema.decodeUnknownOption(PersonInput.Issue)

/** The issues that the message reports, or none if it is from another schema. */
export const fromDecodeIssue = ({ message }: DecodeIssue): ReadonlyArray<PersonInput.Issue> => {
  if (message === notAnObject) return [notText("name"), notText("dateOfBirth")]
  const { code, field, index } = /^(?<field>\w+)(?: at (?<index>\d+))?: .* \((?<code>\w+)\)$/.exec(message)?.groups ??
    {}
  return decodeIssue({ field, code, ...(index !== undefined && { index: Number(index) }) }).pipe(
    Option.filter((issue) => String(issue) === message),
    Option.toArray
  )
}
