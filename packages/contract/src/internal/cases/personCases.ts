/** Documented checks of many people: each must be answered, with every field, about this person. */
import type { Case } from "../model.ts"
import type { AmlStep, Json } from "../steps.ts"
import { check } from "./probes.ts"
import * as TestPeople from "./testPeople.ts"

/** A check of a person, and the claim that it is answered. */
const casesOf = (id: string, title: string, claim: string, step: AmlStep): ReadonlyArray<Case> => {
  const of = (suffix: string, claim: string, reading: Case["reading"]): Case => ({
    id: `aml.${id}${suffix}`,
    claim,
    title,
    steps: [step],
    reading
  })
  return [
    of("", claim, "check outcome"),
    of(".fields", "aml.answer.every", "every field"),
    of(".result", "aml.match.subjects", "test person")
  ]
}

type Row = readonly [id: string, title: string, name: string, dob?: string]

const bodyOf = (name: string, dob: string): Json => ({ entity_type: "person", name, dob })

const people = (claim: string, rows: ReadonlyArray<Row>): ReadonlyArray<Case> =>
  rows.flatMap(([id, title, name, dob = "14-03-1957"]) =>
    casesOf(`person.${id}`, title, claim, check({ body: bodyOf(name, dob) }))
  )

const clearText = JSON.stringify(TestPeople.bodyOf(TestPeople.clear))

/** The same object written in another way. */
const written = (id: string, title: string, body: string): ReadonlyArray<Case> =>
  casesOf(`body.${id}`, title, "aml.request.path", check({ body })).slice(0, 1)

const escaped = (text: string): string =>
  text.replaceAll(/[^\x00-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)

export const cases: ReadonlyArray<Case> = [
  ...people("aml.request.people", [
    ["short", "a short name", "Li Testclear", "31-12-1999"],
    ["middle", "a name with three middle names", "Anna Maria Louise Clara Testclear", "30-06-1985"],
    ["middle-pep", "a listed person with three middle names", "Anna Maria Louise Clara Testpep", "30-06-1985"],
    ["first-day", "a person born on the first of January", "Ida Test Testclear", "01-01-1980"],
    ["last-day", "a person born on the last of December", "Ida Test Testclear", "31-12-1980"],
    ["leap", "a person born on the 29th of February", "Ida Leap Testclear", "29-02-1996"],
    ["leap-pep", "a listed person born on the 29th of February", "Ida Leap Testpep", "29-02-1996"],
    ["leap-2000", "a person born on the 29th of February 2000", "Ida Leap Testclear", "29-02-2000"],
    ["old", "a person born in 1901", "Otto Testclear", "02-03-1901"],
    ["old-pep", "a listed person born in 1901", "Otto Testpep", "02-03-1901"],
    ["century", "a person born in 1899", "Otto Testclear", "28-02-1899"],
    ["young", "a person born in 2007", "Mia Testclear", "15-08-2007"],
    ["young-pep", "a listed person born in 2007", "Mia Testpep", "15-08-2007"],
    ["epoch", "a person born on 1 January 1970", "Kim Testclear", "01-01-1970"],
    ["epoch-pep", "a listed person born on 1 January 1970", "Kim Testpep", "01-01-1970"],
    ["century-first", "a person born on 1 January 1900", "Otto Testclear", "01-01-1900"],
    ["turn", "a person born on the last day of 1999", "Mia Testclear", "31-12-1999"],
    ["thirties", "a person born in 1930", "Otto Testclear", "08-09-1930"],
    ["adolescent", "a person born in 2012", "Mia Testclear", "09-08-2012"],
    ["child", "a person born in 2020", "Mia Testclear", "29-02-2020"],
    ["child-pep", "a listed person born in 2020", "Mia Testpep", "28-02-2020"],
    ["word-twice", "a name with a word twice", "Ana Ana Testclear"],
    ["two-thousand", "a person born in 2000", "Mia Testclear", "10-10-2000"],
    ["day-12", "a person born on the 12th of November", "Kim Testclear", "12-11-1970"],
    ["day-11", "a person born on the 11th of December", "Kim Testclear", "11-12-1971"],
    ["day-31", "a person born on the 31st of a month", "Kim Testclear", "31-07-1988"],
    ["eighties-pep", "a listed person born in 1980", "Kim Testpep", "08-08-1980"],
    ["sixties-pep", "a listed person born in 1969", "Kim Testpep", "31-12-1969"],
    ["one-word", "a name of one word", "Testclear"],
    ["one-word-pep", "a listed person with a name of one word", "Testpep"],
    ["letter", "a name with one letter", "X Testclear"],
    ["apostrophe", "a name with an apostrophe", "Sean O'Neil Testclear"],
    ["apostrophe-pep", "a listed person with an apostrophe", "Sean O'Neil Testpep"],
    ["hyphen", "a name with a hyphen", "Anne-Marie Testclear"],
    ["hyphen-pep", "a listed person with a hyphen", "Anne-Marie Testpep"],
    ["dot", "a name with a dot", "John Q. Testclear"],
    ["marks", "a name with marks", "Zoë Šárka Łukasz Testclear"],
    ["marks-pep", "a listed person with marks", "Zoë Šárka Łukasz Testpep"],
    ["german", "a name with umlauts and sharp s", "Jörg Größe Testclear"],
    ["turkish", "a name with a dotless i", "Işıl Ayşe Testclear"],
    ["vietnamese", "a Vietnamese name", "Nguyễn Thị Testclear"],
    ["lower", "a name in lower case", "anna maria testclear"],
    ["lower-pep", "a listed person in lower case", "anna maria testpep"],
    ["upper", "a name in upper case", "ANNA MARIA TESTCLEAR"],
    ["upper-pep", "a listed person in upper case", "ANNA MARIA TESTPEP"],
    ["long-40", "a name of 40 characters", `${"Maria ".repeat(5)}Testclear`],
    ["long-80", "a name of 80 characters", `${"Maria ".repeat(12)}Testclear`],
    ["long-80-pep", "a listed person with a name of 80 characters", `${"Maria ".repeat(12)}Testpep`]
  ]),
  ...people("aml.request.name.script", [
    ["quote", "a name with a typographic apostrophe", "Sean O’Neil Testclear"],
    ["comma", "a name with a comma", "Martin King, Jr. Testclear"],
    ["double-quote", "a name with double quotes", "Ann \"Annie\" Testclear"],
    ["backslash", "a name with a backslash", "Ann \\ Testclear"],
    ["html", "a name with HTML characters", "Tom & <b>Jerry</b> Testclear"],
    ["html-pep", "a listed person with HTML characters", "Tom & <b>Jerry</b> Testpep"],
    ["entity", "a name with an HTML reference", "Tom &amp; Jerry Testclear"],
    ["percent", "a name with a percent sign", "Ann 100%20 Testclear"],
    ["plus", "a name with a plus sign", "Ann+Beth Testclear"],
    ["digits", "a name with digits", "Louis 14 Testclear"],
    ["brackets", "a name with brackets", "Ann (Beth) Testclear"],
    ["slash", "a name with a slash", "Ann s/o Beth Testclear"],
    ["combining", "a name with combining marks", "Zoe\u0308 Testclear"],
    ["cyrillic-pep", "a listed person with a Cyrillic name", "Иван Петрович Testpep"],
    ["greek", "a Greek name", "Ελένη Testclear"],
    ["arabic", "an Arabic name", "محمد علي Testclear"],
    ["arabic-pep", "a listed person with an Arabic name", "محمد علي Testpep"],
    ["hebrew", "a Hebrew name", "דוד Testclear"],
    ["chinese", "a Chinese name", "王小明 Testclear"],
    ["chinese-pep", "a listed person with a Chinese name", "王小明 Testpep"],
    ["japanese", "a Japanese name", "山田 タロウ Testclear"],
    ["korean", "a Korean name", "김민준 Testclear"],
    ["hindi", "a Devanagari name", "आशा Testclear"],
    ["thai", "a Thai name", "สมชาย Testclear"],
    ["astral", "a name with a character beyond the basic plane", "𠮷野 Testclear"],
    ["astral-pep", "a listed person with such a character", "𠮷野 Testpep"],
    ["mixed", "a name in three scripts", "Anna Анна 安娜 Testclear"],
    ["mixed-pep", "a listed person with a name in three scripts", "Anna Анна 安娜 Testpep"],
    ["only-cyrillic", "a name in Cyrillic letters only", "Анна Иванова"],
    ["only-greek", "a name in Greek letters only", "Ελένη Παπαδοπούλου"],
    ["only-arabic", "a name in Arabic letters only", "محمد علي حسن"],
    ["only-hebrew", "a name in Hebrew letters only", "דוד כהן"],
    ["only-chinese", "a name in Chinese characters only", "王小明"],
    ["only-korean", "a name in Korean letters only", "김민준"],
    ["only-hindi", "a name in Devanagari letters only", "आशा शर्मा"],
    ["emoji", "a name with an emoji", "Ann 😀 Testclear"],
    ["long-130", "a name of 130 characters", `${"Maria ".repeat(20)}Testclear`],
    ["long-200", "a name of 200 characters", `${"Maria ".repeat(32)}Testclear`],
    ["long-300", "a name of 300 characters", `${"Maria ".repeat(49)}Testclear`],
    ["long-300-pep", "a listed person with a name of 300 characters", `${"Maria ".repeat(49)}Testpep`],
    ["long-word", "a name with a word of 60 letters", `${"Abcdef".repeat(10)} Testclear`],
    ["long-script", "a long name in another script", `${"Александра ".repeat(12)}Testclear`]
  ]),
  ...written(
    "order",
    "the fields in another order",
    JSON.stringify({
      dob: TestPeople.clear.dob,
      name: TestPeople.clear.name,
      entity_type: "person"
    })
  ),
  ...([
    ["accept", "a check with Accept", { accept: "application/json" }],
    ["accept-any", "a check with Accept for anything", { accept: "*/*" }],
    ["agent", "a check of another program", { "user-agent": "Java/21.0.2" }],
    ["trace", "a check with the headers of a trace", {
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "x-request-id": "1"
    }],
    ["language", "a check with Accept-Language", { "accept-language": "de-CH, fr;q=0.7" }]
  ] as const).flatMap(([id, title, headers]) =>
    casesOf(`header.${id}`, title, "aml.request.path", check({ headers })).slice(0, 2)
  ),
  ...casesOf("body.pieces", "the body in two packets", "aml.request.path", check({ inPieces: true })).slice(0, 2),
  ...written("blanks", "the object with blanks and line feeds", JSON.stringify(JSON.parse(clearText), null, 2)),
  ...written("escaped", "the name with escaped letters", escaped(clearText)),
  ...written("escaped-all", "the field names with escaped letters", clearText.replace("\"dob\"", "\"\\u0064ob\""))
]
