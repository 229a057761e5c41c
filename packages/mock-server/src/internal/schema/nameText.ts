/** Comparison of names: letter case, repeated blanks and the Unicode normalization form do not matter. */

const words = (name: string): ReadonlyArray<string> => name.normalize("NFC").toLowerCase().trim().split(/\s+/)

/** A name in the form in which two equal names are the same text. */
export const comparable = (name: string): string => words(name).join(" ")

/** The last word of a name, in the form of {@link comparable}. */
export const lastWord = (name: string): string => words(name).at(-1) ?? ""
