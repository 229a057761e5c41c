/** Finds and removes the invisible characters of a name. With them a sanctions list may not match the name. */

/**
 * A character that looks like a space or formats its surroundings. It is refused, because it is unknown whether a space
 * was meant.
 */
export const refusedCharacter =
  /(?=\p{Default_Ignorable_Code_Point})\p{L}|(?!\p{Default_Ignorable_Code_Point})\p{Cf}|[\u200B\uFEFF\u2800\uFFFC\u{13441}\u{13442}\u{16FE4}\u{1D159}]/u

/**
 * Characters whose removal keeps the name: soft hyphens, word joiners, directional marks, variation selectors, tags.
 */
const removableCharacters = /(?![\p{L}\u200B-\u200D\uFEFF\u202A-\u202E\u2066-\u2069])\p{Default_Ignorable_Code_Point}/gu

const anyInvisible = /\p{Default_Ignorable_Code_Point}/u

/** Scripts whose letters join or form clusters, where ZWJ and ZWNJ change what is read. */
const joiningScripts =
  "Arab Syrc Mand Nkoo Mong Adlm Rohg Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr Tibt Bali Java Sund Cakm Mtei Newa Limb Lana Cham"

const letter = `(?=\\p{L})[\\u0640${joiningScripts.split(" ").map((script) => `\\p{Script=${script}}`).join("")}]`

/** Signs that remove the vowel of a consonant. After them a joiner may end a word, as in an old chillu. */
const viramas =
  "\\u094D\\u09CD\\u0A4D\\u0ACD\\u0B4D\\u0BCD\\u0C4D\\u0CCD\\u0D4D\\u0DCA\\u1B44\\u1BAA\\uA9C0\\uABED\\u{11133}\\u{11134}\\u{11442}"

const joiner = "[\\u200C\\u200D]"

/** A sequence of joiners. A group captures the one that the script needs. NFC decides the order of the marks. */
const joiners = new RegExp(
  `(?=${joiner})(?:` +
    `(?<=${letter}\\p{M}*)(${joiner})${joiner}*(?=\\p{M}|${letter})|` +
    `(?<=[${viramas}]\\p{M}*)(${joiner})${joiner}*|` +
    `${joiner}+)`,
  "gu"
)

/** Removes the invisible characters, except joiners that a script needs. */
export const remove = (text: string): string =>
  anyInvisible.test(text) ? text.replaceAll(removableCharacters, "").replaceAll(joiners, "$1$2") : text

/** Removes the invisible characters, including joiners that a script needs. */
export const removeAll = (text: string): string => text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
