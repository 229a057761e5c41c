/** Forms of a name that are the same for a comparison. None of them is sent. */
import * as Invisible from "./invisible.ts"

export const foldBlanks = (text: string): string => text.replaceAll(/[\t\p{Zs}]+/gu, " ").replaceAll(/^ | $/g, "")

/**
 * Case, blanks and NFC. ı and i are two letters.
 *
 * Upper case first, for ß and SS are one letter; but ı would become i.
 */
export const fold = (text: string): string =>
  foldBlanks(text).split("ı").map((part) => part.toUpperCase().toLowerCase()).join("ı").normalize("NFC")

/**
 * Accents, tone marks and vowel points. Not the vowel signs of Indic scripts, nor the voicing marks of kana: these
 * make another name.
 */
const marks = /(?![\u3099\u309A])(?=\p{M})\p{Script=Inherited}|[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7]/gu

/** Of a text in NFD, the letters without their marks; ı is an i without its dot. */
export const removeMarks = (text: string): string => text.replaceAll(marks, "").replaceAll("ı", "i")

/** The words of a name without case, marks and punctuation, in the order of their code units. */
export const sortedWords = (text: string): ReadonlyArray<string> =>
  (removeMarks(Invisible.removeAll(fold(text)).normalize("NFD")).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).sort()
