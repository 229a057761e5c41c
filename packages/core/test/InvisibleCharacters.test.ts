import { PersonName } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Either, FastCheck, Option, Redacted } from "effect"
import { runs } from "./support/cases.ts"

const issuesOf = (text: string) =>
  Either.match(PersonName.make(text), {
    onLeft: ({ issues }) => issues.map(({ code, index }) => [code, index]),
    onRight: () => []
  })

const sent = (text: string): string | undefined =>
  Option.getOrUndefined(Option.map(Either.getRight(PersonName.make(text)), Redacted.value))

const changesOf = (text: string) => PersonName.changes(text).map(({ code }) => code)

const hex = (codePoint: number) => `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`

const cases = (codePoints: ReadonlyArray<number>) => codePoints.map((codePoint) => [hex(codePoint), codePoint] as const)

const blank = [
  0x115f,
  0x1160,
  0x200b,
  0x2800,
  0x3164,
  0xfeff,
  0xffa0,
  0xfff9,
  0xfffb,
  0xfffc,
  0x13441,
  0x16fe4,
  0x1d159
]

const removed = [0xad, 0x34f, 0x61c, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x180f, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060]
  .concat([
    0x2064,
    0x206a,
    0x206f,
    0xfe00,
    0xfe0f,
    0x1bca0,
    0x1d173,
    0xe0001,
    0xe0020,
    0xe0041,
    0xe007f,
    0xe0100,
    0xe01ef
  ])

describe("An invisible character", () => {
  it.each(cases(blank))(
    "%s is rejected inside a name and around it, because it may replace a space",
    (_, codePoint) => {
      const character = String.fromCodePoint(codePoint)
      deepStrictEqual(issuesOf(`Ada${character}Test`), [["invisible_character", 3]])
      deepStrictEqual(issuesOf(`${character}Ada`), [["invisible_character", 0]])
      deepStrictEqual(issuesOf(`Ada ${character}`), [["invisible_character", 4]])
    }
  )

  it.each(cases(removed))("%s is removed inside a name and around it, and the change is recorded", (_, codePoint) => {
    const character = String.fromCodePoint(codePoint)
    for (const text of [`Ada${character}Test`, `${character}AdaTest`, `AdaTest${character}`]) {
      deepStrictEqual([sent(text), changesOf(text)], ["AdaTest", ["invisible_removed"]])
    }
    deepStrictEqual(issuesOf(character), [["empty", undefined]])
  })

  it("of every default-ignorable or format code point is rejected, or removed with a recorded change", () => {
    const silent: Array<string> = []
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
      const character = String.fromCodePoint(codePoint)
      if (!/\p{Default_Ignorable_Code_Point}|\p{Cf}/u.test(character)) continue
      const text = `Ada${character}Test`
      const isRefused = issuesOf(text).length > 0
      const isRemoved = sent(text) === "AdaTest" && changesOf(text).join() === "invisible_removed"
      if (isRefused === isRemoved) silent.push(hex(codePoint))
    }
    deepStrictEqual(silent, [])
  })

  it("leaves no extra space and no uncomposed letter when removed", () => {
    const text = "\u00ad Ada \u2060 Zoe\u034f\u0308 \u200e"
    deepStrictEqual([sent(text), changesOf(text)], ["Ada Zoë", ["invisible_removed", "blanks_folded", "composed"]])
  })

  it.each<[string, string, string]>([
    ["Persian, between letters", "علی\u200cرضا", "علی\u200cرضا"],
    ["Arabic, after a letter that does not join", "عبد\u200cالله", "عبد\u200cالله"],
    ["Persian, typed twice", "علی\u200c\u200cرضا", "علی\u200cرضا"],
    ["Persian, with a soft hyphen beside it", "علی\u00ad\u200cرضا", "علی\u200cرضا"],
    ["Persian, at the end of a word", "علی\u200c رضا\u200c", "علی رضا"],
    ["Persian, at the beginning of a word", "علی \u200cرضا", "علی رضا"],
    ["Persian beside Latin", "علی\u200cReza", "علیReza"],
    ["Sinhala, after a virama", "ශ\u0dca\u200dර\u0dd3", "ශ\u0dca\u200dර\u0dd3"],
    ["Bengali, before a virama", "র\u200d\u09cdয\u09be", "র\u200d\u09cdয\u09be"],
    ["Malayalam, an old chillu at the end of a word", "നന\u0d4dദന\u0d4d\u200d ന", "നന\u0d4dദന\u0d4d\u200d ന"],
    ["Telugu, after a virama at the end", "ర\u0c3eమ\u0c4d\u200c", "ర\u0c3eమ\u0c4d\u200c"],
    ["Telugu, after a virama at the end, twice", "ర\u0c3eమ\u0c4d\u200c\u200d", "ర\u0c3eమ\u0c4d\u200c"],
    ["Hindi, after a vowel sign at the end", "र\u093e\u200d", "र\u093e"],
    ["Arabic, after a vowel sign", "علي\u064f\u200cرضا", "علي\u064f\u200cرضا"],
    ["Arabic, after a tatweel", "عـ\u200cرضا", "عـ\u200cرضا"],
    ["Adlam, beyond the BMP", "𞤀\u200c𞤥", "𞤀\u200c𞤥"],
    ["Latin", "Ann\u200dMarie", "AnnMarie"],
    ["Cyrillic", "Ив\u200cан", "Иван"],
    ["Han", "王\u200d伟", "王伟"],
    ["digits", "Ada ١\u200c٢", "Ada ١٢"]
  ])("ZWJ or ZWNJ is kept only where the script needs it: %s", (_, text, expected) => {
    deepStrictEqual([sent(text), changesOf(text)], [expected, text === expected ? [] : ["invisible_removed"]])
  })

  it("does not hide a placeholder, a title or mojibake, and can be part of mojibake", () => {
    const codes = (text: string) => PersonName.warnings(text).map(({ code, index }) => [code, index])
    deepStrictEqual(issuesOf("UNK\u2060NOWN"), [["placeholder", undefined]])
    deepStrictEqual(codes("M\u00adr. Testclear"), [["title", 0]])
    deepStrictEqual(codes("\u200e Mr. Testclear"), [["title", 2]])
    deepStrictEqual(codes("Ada \u200e Ã\u2060¼ber"), [["mojibake", 6]])
    deepStrictEqual(codes("MarÃ\u00ada"), [["mojibake", 3]])
    deepStrictEqual(codes("A\u0303¼ber"), [["mojibake", 0]])
    deepStrictEqual(codes("A\u0303¼b Ã¼"), [["mojibake", 0]])
    deepStrictEqual(codes("MarÃ\u00ada A\u0303¼"), [["mojibake", 3]])
    deepStrictEqual(codes("Ada \u200e Zoe\u0308 FNU"), [["unknown_part", 11]])
  })

  it("is removed in linear time in any number and order", () => {
    for (
      const part of [
        "\u00ad",
        "\u200d",
        "ع\u200c",
        "a\u0308\u200d\u0d4d\u200d",
        "\u0d4d\u200d",
        "\u094d",
        "a\u034f\u0301"
      ]
    ) {
      const text = `عa${part.repeat(20_000)}`
      PersonName.make(text)
      PersonName.changes(text)
      PersonName.warnings(text)
    }
  })

  it("is removed completely: a valid name is not changed again", () => {
    const characters = FastCheck.constantFrom(
      ..."a é \u0308 \u00ad \u200c \u200d \u200e \u034f \u180e \ufe0f \u{e0100} ع ی د \u0640 ശ \u0d4d र \u094d \u093e 王 -"
        .split(" "),
      " ",
      "\u3000"
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(characters, { maxLength: 12 }), (characters) => {
        const once = sent(characters.join(""))
        if (once === undefined) return
        deepStrictEqual([sent(once), changesOf(once)], [once, []])
      }),
      { numRuns: runs(800) }
    )
  })
})
