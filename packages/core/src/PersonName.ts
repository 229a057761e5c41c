/**
 * The full name of a person, as a list of names would have it, in whatever script, with its
 * diacritics, apostrophes, hyphens and case. Nothing is transliterated, and nothing is too short.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Brand from "effect/Brand"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import * as AmlError from "./AmlError.ts"

/**
 * A name that can be screened. It does not print itself.
 *
 * @category models
 * @since 0.1.0
 */
export type PersonName = Redacted.Redacted<string & Brand.Brand<"PersonName">>

const maxCodePoints = 255

const refusedCharacters = {
  control_character: /[^\P{Cc}\t]|[\u2028\u2029]/u,
  bidi_control: /[\u202A-\u202E\u2066-\u2069]/u,
  invisible_character: /[\u200B\uFEFF]/u,
  lone_surrogate: /\p{Cs}/u,
  replacement_character: /\uFFFD/u,
  private_use_character: /\p{Co}/u,
  unassigned_character: /\p{Cn}/u
}

const branded = Brand.nominal<string & Brand.Brand<"PersonName">>()

const issue = (code: AmlError.InputIssue["code"], index?: number) =>
  new AmlError.InputIssue({ field: "name", code, ...(index === undefined ? {} : { index }) })

const foldBlanks = (text: string): string => text.replaceAll(/[\t\p{Zs}]+/gu, " ").trim()

/** `name` is `text` after folding. An index is the first one of its code. */
const issuesOf = (text: string, name: string): ReadonlyArray<AmlError.InputIssue> => [
  ...Struct.entries(refusedCharacters).flatMap(([code, pattern]) => {
    const found = pattern.exec(text)
    return found === null ? [] : [issue(code, found.index)]
  }),
  ...(name === "" ? [issue("empty")] : /\p{L}/u.test(name) ? [] : [issue("no_letter")]),
  ...(Array.from(name).length > maxCodePoints ? [issue("too_long")] : [])
]

/**
 * A name that can be screened, or `AmlInputRejected` with all that is wrong, each where it comes
 * first.
 *
 * Runs of blanks become one space, outer blanks go, and the text is put into NFC: the same name,
 * written one way. Nothing else is changed, and nothing is ever cut off.
 *
 * @example
 * import { PersonName } from "@effect-idv/core"
 *
 * PersonName.make("  Zoë   O’Testpep ")
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (text: string): Either.Either<PersonName, AmlError.AmlInputRejected> => {
  const name = foldBlanks(text.normalize("NFC"))
  const issues = issuesOf(text, name)
  return Arr.isNonEmptyReadonlyArray(issues)
    ? Either.left(new AmlError.AmlInputRejected({ issues }))
    : Either.right(Redacted.make(branded(name)))
}

/**
 * Whether a text is the same name once NFC, case and blanks are folded (an assumption: the
 * document does not show how exactly the answer repeats the name).
 *
 * @category predicates
 * @since 0.1.0
 */
export const isEquivalent = (name: PersonName, text: string): boolean => fold(Redacted.value(name)) === fold(text)

const fold = (text: string): string => foldBlanks(text).toUpperCase().toLowerCase().normalize("NFC")
