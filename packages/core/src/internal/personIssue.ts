/** What `Person.FromInput` says of JSON that it refuses, in words, and what those words say as data. */
import type * as HttpApiError from "@effect/platform/HttpApiError"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as PersonInput from "../PersonInput.ts"

type IssueInWords = HttpApiError.HttpApiDecodeError["issues"][number]

export const notAnObject = "Expected a person, as { name, dateOfBirth }"

/** The field has another type, or is missing. */
export const notText = (field: PersonInput.Issue["field"]) => new PersonInput.Issue({ field, code: "not_text" })

const decodeIssue = Schema.decodeUnknownOption(PersonInput.Issue)

/** The issues that a message is about: of another schema, none. */
export const fromWords = ({ message }: IssueInWords): ReadonlyArray<PersonInput.Issue> => {
  if (message === notAnObject) return [notText("name"), notText("dateOfBirth")]
  const { code, field, index } = /^(?<field>\w+)(?: at (?<index>\d+))?: .* \((?<code>\w+)\)$/.exec(message)?.groups ??
    {}
  return decodeIssue({ field, code, ...(index !== undefined && { index: Number(index) }) }).pipe(
    Option.filter((issue) => String(issue) === message),
    Option.toArray
  )
}
