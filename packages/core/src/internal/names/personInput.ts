/**
 * The findings about the input for a person: why it cannot be sent, signs of damage, and changes. They contain no part
 * of the input.
 */
import type * as HttpApiError from "@effect/platform/HttpApiError"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"

/**
 * Why a person cannot be sent: a description for each code.
 *
 * @category models
 * @since 0.1.0
 */
export const issues = {
  not_text: "it is not text",
  empty: "it is empty",
  placeholder: "it is a placeholder for an unknown name",
  no_letter: "it contains no letter",
  too_long: "it is longer than 255 characters",
  control_character: "a control character or line break",
  bidi_control: "a character that overrides the text direction",
  invisible_character: "an invisible character",
  lone_surrogate: "half a character (broken UTF-16)",
  replacement_character: "U+FFFD, which replaces lost text",
  private_use_character: "a private use character",
  unassigned_character: "an unassigned code point",
  format: "it is not in the form year-month-day, such as 1990-02-01",
  incomplete: "the day or the month is missing",
  contradictory: "the day and the month are marked as unknown, but are not 1 January",
  no_such_date: "the date does not exist",
  other_calendar: "the year seems to be of the Hijri, Persian or Buddhist calendar",
  in_future: "the date is in the future everywhere on earth",
  too_long_ago: "the date is more than 130 years ago"
} as const

/**
 * Signs of damage and unusual input that is sent nevertheless: a description for each code. A damaged name may match no
 * list, so a "No" about it is less reliable. `other_marks`, `other_form` and `other_name` are about the name in the
 * response. They occur only in a check, after a client with the `nameEcho` `loose` or `ignore` accepted the response.
 *
 * @category models
 * @since 0.1.0
 */
export const warnings = {
  html_entity: "an HTML entity, such as &#039; for an apostrophe",
  mojibake: "UTF-8 that was decoded with another encoding, such as Ã¼ for ü, or a symbol or percent-encoding",
  question_mark: "a question mark, which may replace a lost letter",
  family_name_first: "the family name seems to come first, before a comma",
  title: "it starts with a title",
  unknown_part: "a part of it is a placeholder for an unknown name, such as FNU or LNU",
  other_marks: "the response has the words of the name with other marks or punctuation",
  other_form: "the response has the words of the name in another order",
  other_name: "the response has another name, which nameEcho \"ignore\" accepts",
  very_old: "the date is more than 110 years ago"
} as const

/**
 * Changes to the input before it is sent: a description for each code.
 *
 * @category models
 * @since 0.1.0
 */
export const changes = {
  blanks_folded: "spaces were replaced with one space, or removed at the ends",
  invisible_removed: "invisible characters were removed, such as a soft hyphen",
  composed: "letters and their marks were composed (NFC)",
  assumed: "the day and the month are unknown: 1 January was sent"
} as const

const Field = Schema.Literal("name", "dateOfBirth")

const Index = Schema.optionalWith(Schema.NonNegativeInt, { exact: true })

const describe = (field: string, index: number | undefined, words: string, code: string): string =>
  `${field}${index === undefined ? "" : ` at ${index}`}: ${words} (${code})`

/**
 * Why one field of a person cannot be sent.
 *
 * @category models
 * @since 0.1.0
 */
export class Issue extends Schema.Class<Issue>("@effect-idv/core/Person/Issue")({
  field: Field,
  /** A code, described in {@link issues}. */
  code: Schema.Literal(...Struct.keys(issues)),
  /** The first position in the input, in UTF-16 units. */
  index: Index
}) {
  /** For example `name at 3: an invisible character (invisible_character)`. */
  override toString(): string {
    return describe(this.field, this.index, issues[this.code], this.code)
  }
}

/**
 * A sign of damage in one field.
 *
 * @category models
 * @since 0.1.0
 */
export class Warning extends Schema.Class<Warning>("@effect-idv/core/Person/Warning")({
  field: Field,
  /** A code, described in {@link warnings}. */
  code: Schema.Literal(...Struct.keys(warnings)),
  /** The first position in the input, in UTF-16 units. */
  index: Index
}) {
  /** For example `name at 0: it starts with a title (title)`. */
  override toString(): string {
    return describe(this.field, this.index, warnings[this.code], this.code)
  }
}

/**
 * A change to one field.
 *
 * @category models
 * @since 0.1.0
 */
export class Change extends Schema.Class<Change>("@effect-idv/core/Person/Change")({
  field: Field,
  /** A code, described in {@link changes}. */
  code: Schema.Literal(...Struct.keys(changes))
}) {
  /** For example `name: letters and their marks were composed (NFC) (composed)`. */
  override toString(): string {
    return describe(this.field, undefined, changes[this.code], this.code)
  }
}

type DecodeIssue = HttpApiError.HttpApiDecodeError["issues"][number]

export const notAnObject = "Expected a person, as { name, dateOfBirth }"

/** The issue of a field that is missing or is not a string. */
export const notText = (field: Issue["field"]) => new Issue({ field, code: "not_text" })

const decodeIssue = Schema.decodeUnknownOption(Issue)

/** The issues that the message reports, or none if it is from another schema. */
export const fromDecodeIssue = ({ message }: DecodeIssue): ReadonlyArray<Issue> => {
  if (message === notAnObject) return [notText("name"), notText("dateOfBirth")]
  const { code, field, index } = /^(?<field>\w+)(?: at (?<index>\d+))?: .* \((?<code>\w+)\)$/.exec(message)?.groups ??
    {}
  return decodeIssue({ field, code, ...(index !== undefined && { index: Number(index) }) }).pipe(
    Option.filter((issue) => String(issue) === message),
    Option.toArray
  )
}
