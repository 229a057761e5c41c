/**
 * The full name of a person, in any script, with its diacritics, apostrophes, hyphens and case. A name is never
 * transliterated, and has no minimum length.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Brand from "effect/Brand"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import { identity } from "effect/Function"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as AmlError from "./AmlError.ts"
import * as Names from "./internal/names/arbitraryNames.ts"
import * as Invisible from "./internal/names/invisible.ts"
import { fold, foldBlanks, words } from "./internal/names/nameFolding.ts"
import * as PersonInput from "./internal/names/personInput.ts"
import * as Placeholders from "./internal/names/placeholders.ts"
import * as Violation from "./Violation.ts"

/**
 * A valid name. Its text is redacted.
 *
 * @category models
 * @since 0.1.0
 */
export type PersonName = Redacted.Redacted<string & Brand.Brand<"PersonName">>

/**
 * Placeholders for an unknown name in many languages, such as `N/A`, `not provided`, `FNU` or `desconocido`. The
 * comparison ignores case, diacritics, spaces and punctuation around a word.
 *
 * @category models
 * @since 0.1.0
 */
export const placeholders: ReadonlyArray<string> = Placeholders.defaults

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The phrases that are not a name. A name that consists only of these phrases is rejected.
   *
   * @default {@link placeholders}
   */
  readonly placeholders?: ReadonlyArray<string> | undefined
}

const maxCodePoints = 255

const refusedCharacters = {
  control_character: /[^\P{Cc}\t]|[\u2028\u2029]/u,
  bidi_control: /[\u202A-\u202E\u2066-\u2069]/u,
  invisible_character: Invisible.refusedCharacter,
  lone_surrogate: /\p{Cs}/u,
  replacement_character: /\uFFFD/u,
  private_use_character: /\p{Co}/u,
  unassigned_character: /\p{Cn}/u
}

/**
 * The characters that UTF-8 continuation bytes (0x80 to 0xBF) become when they are decoded as Windows-1252 or Latin-1.
 * Some of these are letters. They match only in sequences that occur in no name, because names such as KŘÍŽ and MATÚŠ
 * contain them too.
 */
const continuationSigns = "\\u0080-\\u00BF€‚„…†‡ˆ‰‹‘’“”•–—˜™›"
const continuationLetters = "ƒŠŒŽšœžŸ"
const mojibake = [
  `[\\u00C2-\\u00C5][${continuationSigns}${continuationLetters}]`,
  `[\\u00C6-\\u00DF][${continuationSigns}]`,
  `[\\u00E0-\\u00EF][${continuationSigns}${continuationLetters}]{2}`,
  `[\\u00F0-\\u00F4][${continuationSigns}${continuationLetters}]{3}`,
  // Windows-1250, and Cyrillic that was decoded as Windows-1251.
  `[ĂĹ][${continuationSigns}ˇ˘˝]`,
  "(?:[РС][ЂЃѓЉЊЌЋЏђљњќћџЎўЈҐЁЄЇІіґёєјѕї\\u2010-\\u2044\\u00A0-\\u00BF€№™]){3}",
  // What other encodings make of UTF-8 has symbols, such as those of Mac Roman and of DOS.
  "[$+<=>|~\\u00A2-\\u00A9\\u00AC\\u00AE-\\u00B1×÷\\u2200-\\u22FF\\u2500-\\u25FF]",
  "%[\\dA-Fa-f]{2}"
]

/** A letter that is visible: some letters are not, such as the filler U+3164. */
const visibleLetter = /(?!\p{Default_Ignorable_Code_Point})\p{L}/u

const damagePatterns = {
  html_entity:
    /&(?:#\d+|#x[\da-f]+|[a-z][a-z\d]*;|[a-z]{1,2}(?:acute|cedil|circ|grave|lig|ring|slash|tilde|uml)|(?:amp|apos|nbsp|quot)\b)/iu,
  mojibake: new RegExp(mojibake.join("|"), "u"),
  question_mark: /\?/u,
  family_name_first: /[,，](?=[^,，]*$)(?!\s*(?:jr|sr|[ivx]+|ph\.?d|m\.?d|esq)\.?\s*$)/iu,
  title: /^(?:mr|mrs|ms|miss|mx|dr|prof|professor|sir|dame|rev|hon|herr|frau|mme|mlle)(?:\.(?=.)|(?=\s))/iu,
  unknown_part: Placeholders.placeholderPart
}

const brand = Brand.nominal<string & Brand.Brand<"PersonName">>()

const normalize = (text: string): string => foldBlanks(Invisible.remove(text)).normalize("NFC")

/** The first match of each pattern. */
const find = <Code extends string>(patterns: Record<Code, RegExp>, text: string) =>
  Struct.entries(patterns).flatMap(([code, pattern]) => {
    const index = text.search(pattern)
    return index === -1 ? [] : [{ field: "name" as const, code, index }]
  })

const issueOfWhole = (name: string, placeholders: ReadonlyArray<string>): ReadonlyArray<PersonInput.Issue["code"]> => {
  if (name === "") return ["empty"]
  if (name.length <= 2 * maxCodePoints && Placeholders.consistsOf(placeholders, name)) return ["placeholder"]
  return visibleLetter.test(name) ? [] : ["no_letter"]
}

/** `name` is the normalized `text`. */
const issuesOf = (text: string, name: string, placeholders: ReadonlyArray<string>) => [
  ...find(refusedCharacters, text).map((issue) => new PersonInput.Issue(issue)),
  ...issueOfWhole(name, placeholders).map((code) => new PersonInput.Issue({ field: "name", code })),
  ...(Array.from(name).length > maxCodePoints ? [new PersonInput.Issue({ field: "name", code: "too_long" })] : [])
]

/**
 * Makes a name. `AmlInputRejected` contains every issue, each with its first position.
 *
 * The text is normalized: invisible characters are removed, such as a soft hyphen or a variation selector, except for
 * ZWJ and ZWNJ where the script needs them. Each sequence of spaces becomes one space, outer spaces are removed, and
 * the text is composed to NFC. Nothing else is changed, and a name is never truncated. Invisible characters that look
 * like a space are rejected. {@link changes} returns the changes, {@link warnings} the signs of damage.
 *
 * @example
 * import { PersonName } from "@effect-idv/core"
 *
 * PersonName.make("  Zoë   O’Testpep ")
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (text: string, options?: Options): Either.Either<PersonName, AmlError.AmlInputRejected> => {
  if (!Predicate.isString(text)) return reject([new PersonInput.Issue({ field: "name", code: "not_text" })])
  const name = normalize(text)
  const issues = issuesOf(text, name, options?.placeholders ?? placeholders)
  return Arr.isNonEmptyReadonlyArray(issues)
    ? reject(issues)
    : Either.right(Redacted.make(brand(name)))
}

const reject = (issues: Arr.NonEmptyReadonlyArray<PersonInput.Issue>) =>
  Either.left(new AmlError.AmlInputRejected({ issues }))

/**
 * Returns the changes that {@link make} makes to a text.
 *
 * @category getters
 * @since 0.1.0
 */
export const changes = (text: string): ReadonlyArray<PersonInput.Change> => {
  const visible = Invisible.remove(text)
  const folded = foldBlanks(visible)
  const steps: ReadonlyArray<readonly [PersonInput.Change["code"], before: string, after: string]> = [
    ["invisible_removed", text, visible],
    ["blanks_folded", visible, folded],
    ["composed", folded, folded.normalize("NFC")]
  ]
  return steps.flatMap(([code, before, after]) =>
    before === after ? [] : [new PersonInput.Change({ field: "name", code })]
  )
}

/**
 * Returns the signs of damage in a text that {@link make} accepts, each with its first position. The name is sent
 * nevertheless.
 *
 * @category getters
 * @since 0.1.0
 */
export const warnings = (text: string): ReadonlyArray<PersonInput.Warning> => {
  // Some damage is visible only before characters are removed and composed, and some only after that.
  const forms = normalize(text) === foldBlanks(text) ? [originalForm] : [originalForm, normalizedForm]
  const found = forms.flatMap((form) => damagesIn(text, form))
  return Struct.keys(damagePatterns).flatMap((code) => {
    const indices = found.filter((damage) => damage.code === code).map(({ index }) => index)
    return indices.length === 0 ? [] : [new PersonInput.Warning({ field: "name", code, index: Math.min(...indices) })]
  })
}

const damagesIn = (text: string, form: Form) => {
  const { offsets, rewritten } = rewrite(text, form)
  return find(damagePatterns, rewritten)
    .filter(({ code, index }) => code !== "family_name_first" || isBetweenNames(rewritten, index))
    .map(({ code, index }) => ({ code, index: offsets[index] ?? 0 }))
}

/** Whether the comma is the only one and has letters on both sides. */
const isBetweenNames = (text: string, comma: number): boolean =>
  text.search(/[,，]/u) === comma && /\p{L}/u.test(text.slice(0, comma)) && /\p{L}/u.test(text.slice(comma))

/** How `rewrite` splits a text into parts, and writes each part. The first group of `parts` matches spaces. */
interface Form {
  readonly parts: RegExp
  readonly write: (part: string) => string
}

/** A no-break space after these letters is the second byte of à, Š, Π, Р or נ. */
const originalForm: Form = {
  parts: /((?:(?!(?<=[\u00C3\u00C5\u00CE\u00D0\u00D7])\u00A0)[\t\p{Zs}])+)|[^]/gu,
  write: identity
}

const normalizedForm: Form = {
  parts: /([\t\p{Zs}]+)|[^\t\p{Zs}]\p{M}*/gu,
  write: (part) => Invisible.removeAll(part).normalize("NFC")
}

/**
 * Rewrites a text for the patterns, with one space for each sequence of spaces. `offsets` has the original position of
 * each UTF-16 unit of the result.
 */
const rewrite = (text: string, { parts, write }: Form) => {
  const offsets: Array<number> = []
  let rewritten = ""
  for (const { 0: part, 1: blanks, index } of text.matchAll(parts)) {
    const units = blanks === undefined ? write(part) : " "
    if (units === " " && rewritten === "") continue
    for (let unit = 0; unit < units.length; unit++) offsets.push(index)
    rewritten += units
  }
  return { rewritten, offsets }
}

const isPersonName = (u: unknown): u is PersonName => {
  const text = Redacted.isRedacted(u) ? Redacted.value(u) : undefined
  return Predicate.isString(text) && normalize(text) === text && issuesOf(text, text, []).length === 0
}

/**
 * A schema of names made by {@link make}. Its `Arbitrary` generates names of many languages.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PersonName: Schema.Schema<PersonName> = Schema.declare(isPersonName, {
  identifier: "PersonName",
  ...Violation.expecting("a name that can be screened"),
  arbitrary: () => (fc) => Names.name(fc).map((name) => Redacted.make(brand(name)))
})

/**
 * A schema that decodes a text with {@link make}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FromString: Schema.Schema<PersonName, string> = Schema.transformOrFail(Schema.String, PersonName, {
  strict: true,
  decode: (text, _, ast) => Either.mapLeft(make(text), ({ message }) => new ParseResult.Type(ast, text, message)),
  encode: (name) => Either.right(Redacted.value(name))
}).annotations(Violation.expecting("a full name that can be screened"))

/**
 * Whether a text is the same name, ignoring case, spaces and Unicode normalization. That the service repeats a name
 * without other differences is an assumption. ı and i are different letters, except in a text that is all in upper
 * case.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isEquivalent = (name: Redacted.Redacted<string>, text: string): boolean => {
  const value = Redacted.value(name)
  const isSame = (fold: (text: string) => string) => fold(value) === fold(text)
  return value === text || isSame(fold) || (text === text.toUpperCase() && isSame((text) => fold(text.toUpperCase())))
}

/**
 * Whether a text has the same words as the name, in any order, ignoring case, punctuation, accents, tone marks, vowel
 * points and invisible characters. The name of another person may have the same words in another order.
 *
 * @category predicates
 * @since 0.1.0
 */
export const hasSameWords = (name: PersonName, text: string): boolean =>
  Equal.equals(Data.array(words(Redacted.value(name)).toSorted()), Data.array(words(text).toSorted()))

/**
 * {@link hasSameWords}, and in the same order.
 *
 * @category predicates
 * @since 0.1.0
 */
export const hasSameOrder = (name: PersonName, text: string): boolean =>
  Equal.equals(Data.array(words(Redacted.value(name))), Data.array(words(text)))
