/** Folds names for comparison. Folded names are never sent. */
import * as Invisible from "./invisible.ts"

/** Replaces each sequence of spaces with one space, and removes outer spaces. */
export const foldBlanks = (text: string): string => text.replaceAll(/[\t\p{Zs}]+/gu, " ").replaceAll(/^ | $/g, "")

/**
 * Folds case and spaces, and composes to NFC. Converting to upper case first makes ß equal to SS. It would also make ı
 * equal to i, so ı is left out.
 */
export const fold = (text: string): string =>
  foldBlanks(text).split("ı").map((part) => part.toUpperCase().toLowerCase()).join("ı").normalize("NFC")

/**
 * Accents, tone marks and vowel points. The vowel signs of Indic scripts and the voicing marks of kana are excluded.
 */
const marks = /(?![\u3099\u309A])(?=\p{M})\p{Script=Inherited}|[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7]/gu

/** Removes the marks from a text in NFD, and replaces ı with i. */
export const removeMarks = (text: string): string => text.replaceAll(marks, "").replaceAll("ı", "i")

/** The words of a name without case, marks and punctuation. */
export const words = (text: string): ReadonlyArray<string> =>
  removeMarks(Invisible.removeAll(fold(text)).normalize("NFD")).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
