import { type Person, PersonName, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Arbitrary, Either, FastCheck, Option, Redacted, Schema } from "effect"
import { inspect } from "node:util"
import people from "./data/people.json" with { type: "json" }

const realNames = people.filter(({ expected }) => expected.verdict === "accepted").map(({ name }) => name)
  .filter((name) => !name.includes("?"))

const issuesOf = (text: string) =>
  Either.match(PersonName.make(text), {
    onLeft: ({ issues }) => issues.map(({ code, field, index }) => [field, code, index]),
    onRight: () => []
  })

const valueOf = (text: string): string | undefined =>
  Option.getOrUndefined(Option.map(Either.getRight(PersonName.make(text)), Redacted.value))

describe("PersonName", () => {
  it.each([
    "Ada Testclear",
    "A",
    "Suharto",
    "王",
    "山田太郎",
    "Zoë O’Testpep-Müller, 3rd",
    "Ng'ang'a Kaʻahumanu",
    "محمد بن سلمان",
    "नरेन्द्र मोदी",
    "علی\u200cرضا", // ZWNJ
    "ශ්\u200dරී", // ZWJ
    "Иван Testsanc",
    "J.R.R. McTest",
    "İpek ıŞIK",
    "𠮷野家", // beyond the BMP
    "x".repeat(255),
    "𠮷".repeat(255)
  ])("keeps %o unchanged", (text) => {
    strictEqual(valueOf(text), text.normalize("NFC"))
  })

  it.each([
    ["  Ada\t Testclear  ", "Ada Testclear"],
    ["Ada\u00a0Testclear", "Ada Testclear"],
    ["山田\u3000太郎", "山田 太郎"],
    ["Zoe\u0308", "Zoë"]
  ])("folds the spaces of %o and composes it to NFC", (text, expected) => {
    strictEqual(valueOf(text), expected)
  })

  it("does not use NFKC", () => {
    strictEqual(valueOf("ﬁnn Ⅲ"), "ﬁnn Ⅲ")
  })

  it.each(
    [
      ["", "empty", undefined],
      [" \t ", "empty", undefined],
      ["123 - .", "no_letter", undefined],
      ["x".repeat(256), "too_long", undefined],
      ["Ada\nTestclear", "control_character", 3],
      ["Ada\r", "control_character", 3],
      ["Ada\u0000", "control_character", 3],
      ["Ada\u0085", "control_character", 3],
      ["Ada\u2028x", "control_character", 3],
      ["\u202eAda", "bidi_control", 0],
      ["Ada\u2066", "bidi_control", 3],
      ["Ada\u200bTest", "invisible_character", 3],
      ["\ufeffAda", "invisible_character", 0],
      ["Ada\ud83d", "lone_surrogate", 3],
      ["Ada\ufffd", "replacement_character", 3],
      ["Ada\ue000", "private_use_character", 3],
      ["Ada\u0378", "unassigned_character", 3]
    ] as const
  )("rejects %o with the code %s at %s", (text, code, index) => {
    deepStrictEqual(issuesOf(text), [["name", code, index]])
  })

  it("reports each code once, quickly, in a long name", () => {
    deepStrictEqual(issuesOf("\u200b".repeat(1_000_000)), [
      ["name", "invisible_character", 0],
      ["name", "no_letter", undefined],
      ["name", "too_long", undefined]
    ])
  }, 5000)

  it.each(["\u3164", "\u115f\u1160", "\uffa0 \u3164"])("rejects %o, whose letters are invisible", (text) => {
    deepStrictEqual(issuesOf(text), [["name", "invisible_character", 0], ["name", "no_letter", undefined]])
  })

  it("rejects a value that is not a string", () => {
    deepStrictEqual(issuesOf(JSON.parse("null")), [["name", "not_text", undefined]])
    deepStrictEqual(issuesOf(JSON.parse("4711")), [["name", "not_text", undefined]])
  })

  it("reports every issue, and never the text", () => {
    const text = "Canary\u0000Canary\u200b"
    deepStrictEqual(issuesOf(text), [["name", "control_character", 6], ["name", "invisible_character", 13]])
    const error = Either.flip(PersonName.make(text)).pipe(Either.getOrThrow)
    strictEqual(/canary/i.test([error.message, String(error), JSON.stringify(error), inspect(error)].join()), false)
  })

  it.each([
    ["Zoë Testpep", "ZOË  TESTPEP", true],
    ["Zoë Testpep", " zoe\u0308 testpep", true],
    ["Groß", "GROSS", true],
    ["Kılıç", "KILIÇ", true],
    ["Ada Testclear", "Ada\nTestclear", false],
    ["Yıldız Kaya", "YILDIZ KAYA", true],
    ["Yıldız Kaya", "yıldız KAYA", true],
    ["Yıldız Kaya", "Yildiz Kaya", false],
    ["Yildiz Kaya", "Yıldız Kaya", false],
    ["Zoë Testpep", "Zoe Testpep", false],
    ["Ada Testclear", "Testclear Ada", false],
    ["Ada Testclear", "", false]
  ])("%o and a response about %o have the same name: %s", (name, echo, expected) => {
    strictEqual(PersonName.isEquivalent(Either.getOrThrow(PersonName.make(name)), echo), expected)
  })

  it.each(["Jos? Garcia", "Ren?", "Zo? Testpep", "Andr?", "?ngela", "Mart?nez", "Garc?a", "Jos? Garc?a"])(
    "%s looks damaged",
    (text) => {
      deepStrictEqual(PersonName.warnings(text).map(({ code }) => code), ["question_mark"])
    }
  )

  const latin1 = (text: string) => Buffer.from(text).toString("latin1")
  it.each<[string, Person.Warning["code"], number]>([
    [latin1("Nicolà Rossi"), "mojibake", 5],
    [latin1("Rossi Nicolà"), "mojibake", 11],
    [latin1("Škoda Jan"), "mojibake", 0],
    [latin1("Роман Пак"), "mojibake", 0],
    ["Jos√© Garc√≠a", "mojibake", 3],
    ["Jos├® Garc├¡a", "mojibake", 3],
    ["РђР»РµРєСЃРµР№ РРІР°РЅРѕРІ", "mojibake", 0],
    ["JosĂ© GarcĂ­a", "mojibake", 3],
    ["Jos%C3%A9 Garcia", "mojibake", 3],
    ["Ada+Testclear", "mojibake", 3],
    ["O&#039Brien", "html_entity", 1],
    ["Jos&eacute Garcia", "html_entity", 3],
    ["Dr.Smith", "title", 0],
    ["García，José", "family_name_first", 6]
  ])("%s looks damaged: %s at %d", (text, code, index) => {
    deepStrictEqual(PersonName.warnings(text).map(({ code, index }) => [code, index]), [[code, index]])
  })

  it.each([
    "JOSÉ\u00A0GARCÍA",
    "PÄIVÄ\u00A0HEIKKILÄ",
    "BÙI\u00A0THỊ\u00A0LÀ",
    "Ada\u00A0Testclear",
    "СІРКО СВІТЛАНА",
    "Сірко Роксолана",
    "Ion Bădărău",
    "Smith & Jones",
    "Ada Testclear %"
  ])("%s does not look damaged", (text) => deepStrictEqual(PersonName.warnings(text), []))

  it("with a question mark for each letter that ASCII lacks looks damaged, and without them it does not", () => {
    const hasQuestionMark = (text: string) => PersonName.warnings(text).some(({ code }) => code === "question_mark")
    const damaged = realNames.filter((name) => /[^\p{ASCII}]/u.test(name) && /[a-z]/i.test(name)).map((name) =>
      name.normalize("NFC").replaceAll(/(?!\p{ASCII})[\p{L}\p{M}]/gu, "?")
    ).filter((name) => name.includes("?"))
    deepStrictEqual([damaged.length > 50, damaged.filter((name) => !hasQuestionMark(name))], [true, []])
    deepStrictEqual(realNames.filter(hasQuestionMark), [])
  })

  it("is redacted when printed", () => {
    const name = Either.getOrThrow(PersonName.make("Canary"))
    strictEqual(
      [String(name), JSON.stringify(name), inspect(name, { showHidden: true })].join().includes("Canary"),
      false
    )
  })

  it("rejects a placeholder that is repeated up to the longest name, and too long as well", () => {
    const text = Array.from({ length: 73 }, () => "abcdef").join(" ")
    strictEqual(text.length, 510)
    const codes = Either.match(PersonName.make(text, { placeholders: ["abcdef"] }), {
      onLeft: ({ issues }) => issues.map(({ code }) => code),
      onRight: () => []
    })
    deepStrictEqual(codes, ["placeholder", "too_long"])
  })

  it("does not warn of a family name before a comma if there is none", () => {
    deepStrictEqual(PersonName.warnings(", Ada Testclear"), [])
  })

  it("has the same words in any order and with other marks, and no others", () => {
    const name = Either.getOrThrow(PersonName.make("Zoë Ada Testclear"))
    deepStrictEqual(
      ["TESTCLEAR, Zoe Ada", "Zoë Testclear", "Zoë Ada Testclear Ada"].map((text) =>
        PersonName.hasSameWords(name, text)
      ),
      [true, false, false]
    )
  })

  it("has a schema of the names that make returns, with an Arbitrary", () => {
    const isName = Schema.is(PersonName.PersonName)
    strictEqual(isName(Either.getOrThrow(PersonName.make(" Ada  Testclear "))), true)
    // Placeholders are an option of `make`.
    strictEqual(isName(Redacted.make("Unknown")), true)
    for (
      const other of ["Ada", Redacted.make(" Ada"), Redacted.make("Ada\u200b"), Redacted.make(""), Redacted.make(5)]
    ) {
      strictEqual(isName(other), false)
    }
    strictEqual(FastCheck.sample(Arbitrary.make(PersonName.PersonName), 20).every((name) => isName(name)), true)
    strictEqual(String(PersonName.PersonName), "PersonName")
  })

  it("decodes from text and encodes to it, and its errors describe it without the text", () => {
    const name = Schema.decodeSync(PersonName.FromString)(" Ada Testclear")
    strictEqual(Schema.encodeSync(PersonName.FromString)(name), "Ada Testclear")
    const violationsOf = <A, I>(schema: Schema.Schema<A, I>, input: unknown) =>
      Either.match(Violation.decodeUnknown(schema)(input), {
        onLeft: (violations) => violations.map(String),
        onRight: () => []
      })
    deepStrictEqual(violationsOf(PersonName.FromString, "Canary\u200b"), [
      "the value is invalid: expected a full name that can be screened"
    ])
    deepStrictEqual(violationsOf(PersonName.PersonName, "Canary"), [
      "the value is invalid: expected a name that can be screened"
    ])
  })

  it("takes linear time for many spaces, commas, marks or question marks", () => {
    for (const part of [" ", "\t", ",", "a,", "?", "a?", "&", "&a", "\u0301", "Ã", ", a"]) {
      PersonName.warnings(part.repeat(100_000))
      PersonName.warnings(`Ada${part.repeat(100_000)}Ada`)
      PersonName.changes(part.repeat(100_000))
    }
    strictEqual(valueOf(`${" ".repeat(100_000)}Ada`), "Ada")
  })
})
