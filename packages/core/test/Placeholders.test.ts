import { PersonName } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either } from "effect"

const codesOf = (text: string, placeholders?: ReadonlyArray<string>): ReadonlyArray<string> =>
  Either.match(PersonName.make(text, { placeholders }), {
    onLeft: ({ issues }) => issues.map(({ code }) => code),
    onRight: () => []
  })

const warningsOf = (text: string) => PersonName.warnings(text).map(({ code, index }) => [code, index])

describe("A placeholder", () => {
  it.each([
    ..."not provided|nil|tbc|TBA|n.n.|LNU|FNU|UNKNOWN UNKNOWN|FNU LNU|N/A N/A|n.a|no name|name unknown|None|-|- -"
      .split("|"),
    ..."(unknown)|who|Who?|[none]|\"unknown\"|Unknown.|unknown?|Unknown, Unknown|NOT_PROVIDED|not-provided|*n/a*|- unknown -|#N/A"
      .split(
        "|"
      ),
    ..."#N/A|, not known;|((unknown))|*-unknown-*".split("|"),
    ..."ＵＮＫＮＯＷＮ|Ｎ／Ａ|UNK\u00adNOWN|  not   provided |[object Object]|xxx".split("|"),
    ..."sin nombre|DESCONOCIDO DESCONOCIDO|inconnu|sans nom|NEANT|néant|unbekannt|неизвестно|Неизвестный|без имени"
      .split("|"),
    ..."不明|无名|氏名不明|名無し|미상|غير معروف|بی‌نام|لا يوجد|desconhecido|nao informado|sconosciuto|nieznany".split(
      "|"
    ),
    ..."bilinmiyor|BİLİNMİYOR|okänd|OKAND|ukjent|tuntematon|onbekend|ismeretlen|άγνωστο|ΑΓΝΩΣΤΟ|לא ידוע|अज्ञात|không rõ"
      .split("|"),
    ..."ไม่ทราบ|tidak diketahui|անհայտ|უცნობი".split("|")
  ])("%o is rejected", (text) => {
    deepStrictEqual(codesOf(text), ["placeholder"])
  })

  it.each([
    ..."Jennifer Null|Null Jennifer|Ada Nil|Christopher None|Les Blank|Ada Test|Test|An No|No|Na Na|NA|N A|Nan|Nann"
      .split("|"),
    ..."Unknownová|Võ Danh|Khổng Tử|Nilsson|Tbcova|Fnuk|Noname-Ada|Name Ada|Ufnu Ada|不明子".split("|")
  ])("%o is accepted, because it contains a possible name", (text) => {
    deepStrictEqual([codesOf(text), warningsOf(text)], [[], []])
  })

  it.each(["…", "* *", ", ;", "?"])("%o is rejected, because it contains no letter", (text) => {
    deepStrictEqual(codesOf(text), ["no_letter"])
  })

  it.each<[string, number]>([
    ["FNU Singh", 0],
    ["Singh LNU", 6],
    ["singh (lnu)", 7],
    ["  Singh   fnu", 10],
    ["Unknown Smith", 0],
    ["Ada N/A", 4],
    ["undefined Testclear", 0],
    ["Desconocida García", 0],
    ["山田 不明", 3],
    ["Неизвестный Иван", 0]
  ])("in %o, next to a real name, is accepted with a warning at %i", (text, index) => {
    deepStrictEqual([codesOf(text), warningsOf(text)], [[], [["unknown_part", index]]])
  })

  it.each([
    ..."FNU|LNU|NFN|NLN|NMN|N/A|Unknown|Undefined|Inconnu|Inconnue|Desconocido|Desconocida|Desconhecido|Desconhecida"
      .split("|"),
    ..."Sconosciuto|Sconosciuta|Unbekannt|Onbekend|Okänd|Okand|Ukjent|Nieznany|Nieznana|Bilinmiyor".split("|"),
    ..."Неизвестно|Неизвестный|Неизвестная|Невідомо|Невідомий|Невідома|مجهول|نامعلوم|不明|不詳|不详|未知|미상".split(
      "|"
    )
  ])("%o next to a real name is accepted with a warning", (word) => {
    deepStrictEqual([`${word} Testclear`, `Testclear ${word}`].map(warningsOf), [
      [["unknown_part", 0]],
      [["unknown_part", 10]]
    ])
    deepStrictEqual(warningsOf(`Testclear${word}`), [])
  })

  it("of a custom list replaces the default ones, and can be repeated and combined", () => {
    const own = ["Test Person", "Jane", "--"]
    deepStrictEqual(
      ["test  person", "Jane Test Person", "JANE, Jane", "test-person", "--"].map((text) => codesOf(text, own)),
      [
        ["placeholder"],
        ["placeholder"],
        ["placeholder"],
        ["placeholder"],
        ["placeholder"]
      ]
    )
    deepStrictEqual(
      ["Unknown", "Test", "Person Test", "Jane Testclear", "Test Jane Person"].map((text) => codesOf(text, own)),
      [
        [],
        [],
        [],
        [],
        []
      ]
    )
    deepStrictEqual(codesOf("Unknown", []), [])
    deepStrictEqual(codesOf("Jane", [...PersonName.placeholders, "Jane"]), ["placeholder"])
  })

  it("is rejected in upper and lower case, and is listed once", () => {
    deepStrictEqual(
      PersonName.placeholders.filter((text) =>
        [text, text.toUpperCase(), `${text} ${text}`].some((text) => !codesOf(text).includes("placeholder"))
      ),
      []
    )
    strictEqual(new Set(PersonName.placeholders).size, PersonName.placeholders.length)
  })

  it("is found in linear time, also with overlapping phrases", () => {
    const own = ["a", "a a", "a a a", "a a a a"]
    deepStrictEqual(codesOf(`${"a ".repeat(120)}b`, own), [])
    deepStrictEqual(codesOf("a ".repeat(120), own), ["placeholder"])
    deepStrictEqual(codesOf("unknown ".repeat(100_000)), ["too_long"])
  }, 5000)
})
