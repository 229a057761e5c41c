/**
 * What is told about a person as typed in: why it cannot be sent, what looks damaged, and what was
 * changed. All of it is data, and none of it holds what was typed in.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"

/**
 * Why a person cannot be sent, in words.
 *
 * @category models
 * @since 0.1.0
 */
export const issues = {
  not_text: "it is not a text",
  empty: "there is nothing in it",
  placeholder: "it stands for a name that is not known",
  no_letter: "it has no letter",
  too_long: "it has more than 255 characters",
  control_character: "a control character or line break",
  bidi_control: "a character that overrides the direction of writing",
  invisible_character: "an invisible character",
  lone_surrogate: "half a character (broken UTF-16)",
  replacement_character: "U+FFFD, which stands for text that was lost",
  private_use_character: "a private use character",
  unassigned_character: "a code point that is no character",
  format: "it is not year-month-day, as 1990-02-01",
  incomplete: "the day or the month is not known",
  contradictory: "the day and the month are said to be unknown, and are not those of 1 January",
  no_such_date: "that day does not exist",
  other_calendar: "the year looks like one of the Hijri, Persian or Buddhist calendar",
  in_future: "that day has not begun anywhere on earth",
  too_long_ago: "it is more than 130 years ago"
} as const

/**
 * What looks damaged or unusual and is sent all the same, in words. A damaged name is found on no
 * list, so a "No" about it is worth less. `other_form` and `other_name` are about the response, in evidence only: a
 * client with `nameEcho` `loose` or `ignore` accepted them.
 *
 * @category models
 * @since 0.1.0
 */
export const warnings = {
  html_entity: "an HTML entity, such as &#039; for an apostrophe",
  mojibake: "UTF-8 that was read in another encoding, such as Ã¼ for ü",
  question_mark: "a question mark between letters, as if one was lost",
  family_name_first: "the family name seems to stand first, before a comma",
  title: "it begins with a title",
  unknown_part: "a part of it stands for a name that is not known, such as FNU or LNU",
  other_form: "the response has its words in another order, or with other marks",
  other_name: "the response is about another name, and nameEcho \"ignore\" accepts any",
  very_old: "it is more than 110 years ago"
} as const

/**
 * What was changed before it is sent, in words.
 *
 * @category models
 * @since 0.1.0
 */
export const changes = {
  blanks_folded: "blanks were folded to one space, or taken off the ends",
  invisible_removed: "characters that show nothing were removed, such as a soft hyphen",
  composed: "letters and their marks were composed (NFC)",
  assumed: "the day and the month are not known: 1 January was sent"
} as const

const Field = Schema.Literal("name", "dateOfBirth")

const Index = Schema.optionalWith(Schema.NonNegativeInt, { exact: true })

const describe = (field: string, index: number | undefined, words: string, code: string): string =>
  `${field}${index === undefined ? "" : ` at ${index}`}: ${words} (${code})`

/**
 * Why one field of a person cannot be sent.
 *
 * - `field`: `name` or `dateOfBirth`.
 * - `code`: for a machine; {@link issues} has it in words.
 * - `index`: where it is first, as an offset in UTF-16 units into the text as given.
 *
 * @category models
 * @since 0.1.0
 */
export class Issue extends Schema.Class<Issue>("@effect-idv/core/PersonInput/Issue")({
  field: Field,
  code: Schema.Literal(...Struct.keys(issues)),
  index: Index
}) {
  /** `name at 3: an invisible character (invisible_character)` */
  override toString(): string {
    return describe(this.field, this.index, issues[this.code], this.code)
  }
}

/**
 * What looks damaged in one field; `field` and `index` as in {@link Issue}, `code` as in
 * {@link warnings}.
 *
 * @category models
 * @since 0.1.0
 */
export class Warning extends Schema.Class<Warning>("@effect-idv/core/PersonInput/Warning")({
  field: Field,
  code: Schema.Literal(...Struct.keys(warnings)),
  index: Index
}) {
  /** `name at 0: it begins with a title (title)` */
  override toString(): string {
    return describe(this.field, this.index, warnings[this.code], this.code)
  }
}

/**
 * What was changed in one field; `code` as in {@link changes}.
 *
 * @category models
 * @since 0.1.0
 */
export class Change extends Schema.Class<Change>("@effect-idv/core/PersonInput/Change")({
  field: Field,
  code: Schema.Literal(...Struct.keys(changes))
}) {
  /** `name: letters and their marks were composed (NFC) (composed)` */
  override toString(): string {
    return describe(this.field, undefined, changes[this.code], this.code)
  }
}
