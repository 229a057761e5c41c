/** Names: how they are compared, without letter case, repeated blanks and normalization form, and what damages one. */

const words = (name: string): ReadonlyArray<string> => name.normalize("NFC").toLowerCase().trim().split(/\s+/)

/** A name in the form in which two equal names are the same text. */
export const comparable = (name: string): string => words(name).join(" ")

/** The last word of a name, in the form of {@link comparable}. */
export const lastWord = (name: string): string => words(name).at(-1) ?? ""

/** What a name must be instead of a damaged one, which no person can have. */
export const damageOf = (name: string): string | undefined =>
  Array.from(name).length > 255
    ? "a name of at most 255 characters"
    : /\p{Cs}/u.test(name)
    ? "a name without half of a surrogate pair"
    : /\p{Cc}/u.test(name)
    ? "a name without control characters"
    : /(?!\p{Default_Ignorable_Code_Point})\p{L}/u.test(name)
    ? undefined
    : "a name with a visible letter"
