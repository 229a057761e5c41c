/** Checks of people with unusual names and dates, which a service must answer too (section 4.2). */
import type { Case } from "../model.ts"
import type { AmlStep } from "../steps.ts"
import { ofOne, person, type Rows, sequences } from "./probes.ts"

const people = (id: string, claim: string, rows: Rows<AmlStep>, worth?: number): Case =>
  sequences(
    `aml.person.${id}`,
    claim,
    "check outcome",
    ofOne((step: AmlStep) => step, rows),
    worth === undefined ? {} : { worth }
  )

export const cases: ReadonlyArray<Case> = [
  people("middle", "aml.request.people", [
    ["a name with three middle names", person("Anna Maria Louise Clara Testclear", "30-06-1985")],
    ["a listed name with three middle names", person("Anna Maria Louise Clara Testpep", "30-06-1985")],
    ["a name with a word twice", person("Ana Ana Testclear")],
    ["a short name", person("Li Testclear", "31-12-1999")],
    ["a name with one letter", person("X Testclear")],
    ["a name of 80 characters", person(`${"Maria ".repeat(12)}Testclear`)],
    ["a listed name of 80 characters", person(`${"Maria ".repeat(12)}Testpep`)],
    ["a name with a word of 60 letters", person(`${"Abcdef".repeat(10)} Testclear`)]
  ], 3),
  people("day", "aml.request.people", [
    ["a person born on the 29th of February", person("Ida Leap Testclear", "29-02-1996")],
    ["a listed name, born on the 29th of February", person("Ida Leap Testpep", "29-02-1996")],
    ["a person born on the 29th of February 2000", person("Ida Leap Testclear", "29-02-2000")],
    ["a person born on the first of January", person("Ida Test Testclear", "01-01-1980")],
    ["a person born on the last of December", person("Ida Test Testclear", "31-12-1980")],
    ["a person born on the 31st of a month", person("Kim Lee Testclear", "31-07-1988")],
    ["a person born on the 12th of November", person("Kim Lee Testclear", "12-11-1970")],
    ["a person born on the 11th of December", person("Kim Lee Testclear", "11-12-1971")]
  ], 3),
  people("year", "aml.request.people", [
    ["a person born on the last day of 1999", person("Mia Lee Testclear", "31-12-1999")],
    ["a person born in 2000", person("Mia Lee Testclear", "10-10-2000")],
    ["a person born on 1 January 1970", person("Kim Lee Testclear", "01-01-1970")],
    ["a listed name, born on 1 January 1970", person("Kim Lee Testpep", "01-01-1970")],
    ["a listed name, born in 1969", person("Kim Lee Testpep", "31-12-1969")],
    ["a person born in 1930", person("Otto Lee Testclear", "08-09-1930")],
    ["a person born in 2007", person("Mia Lee Testclear", "15-08-2007")],
    ["a listed name, born in 2007", person("Mia Lee Testpep", "15-08-2007")]
  ], 3),
  people("punctuation", "aml.request.people", [
    ["a name with an apostrophe and a hyphen", person("Anne-Marie O'Neil Testclear")],
    ["a listed name with an apostrophe", person("Sean O'Neil Testpep")],
    ["a name with an apostrophe", person("Sean O'Neil Testclear")],
    ["a name with a hyphen", person("Anne-Marie Lee Testclear")],
    ["a name with a dot", person("John Q. Testclear")]
  ], 4),
  people("marks", "aml.request.people", [
    ["a name with marks", person("Šárka Łukasz Größe Testclear")],
    ["a listed name with marks", person("Zoë Šárka Łukasz Testpep")],
    ["a name with a dotless i", person("Işıl Ayşe Testclear")],
    ["a Vietnamese name", person("Nguyễn Thị Testclear")]
  ], 4),
  people("case", "aml.request.people", [
    ["a name in lower case", person("anna maria testclear")],
    ["a listed name in lower case", person("anna maria testpep")],
    ["a name in upper case", person("ANNA MARIA TESTCLEAR")],
    ["a listed name in upper case", person("ANNA MARIA TESTPEP")]
  ], 3),
  people("age", "aml.request.age", [
    ["a person born in 1901", person("Otto Lee Testclear", "02-03-1901")],
    ["a listed name, born in 1901", person("Otto Lee Testpep", "02-03-1901")],
    ["a person born in 1899", person("Otto Lee Testclear", "28-02-1899")],
    ["a person born on 1 January 1900", person("Otto Lee Testclear", "01-01-1900")],
    ["a person born in 2012", person("Mia Lee Testclear", "09-08-2012")],
    ["a child born in 2020", person("Mia Lee Testclear", "29-02-2020")],
    ["a listed name, born in 2020", person("Mia Lee Testpep", "28-02-2020")]
  ]),
  people("one-word", "aml.request.name.word", [
    ["a name of one word", person("Testclear")],
    ["a listed name of one word", person("Testpep")]
  ]),
  people("script", "aml.request.name.script", [
    ["a name without a Latin letter, born on 1 January 1970", person("Иван 王小明 𠮷野", "01-01-1970")],
    ["a name in another script", person("Иван Петрович Testclear", "29-02-2000")],
    ["a listed name in another script", person("Иван Петрович Testpep")],
    ["a Greek name", person("Ελένη Παπαδοπούλου")],
    ["an Arabic name", person("محمد علي حسن")],
    ["a listed Arabic name", person("محمد علي Testpep")],
    ["a Hebrew name", person("דוד כהן")],
    ["a Chinese name", person("王小明")],
    ["a listed Chinese name", person("王小明 Testpep")],
    ["a Japanese name", person("山田 タロウ Testclear")],
    ["a Korean name", person("김민준")],
    ["a Devanagari name", person("आशा शर्मा")],
    ["a Thai name", person("สมชาย Testclear")],
    ["a name in three scripts", person("Anna Анна 安娜 Testclear")],
    ["a name with a character beyond the basic plane", person("𠮷野 Testclear")],
    ["a listed name with such a character", person("𠮷野 Testpep")],
    ["a name with an emoji", person("Ann 😀 Testclear")],
    ["a name with combining marks", person("Zoe\u0308 Testclear")]
  ], 5),
  people("characters", "aml.request.name.script", [
    ["a name with HTML characters", person("Tom & <b>Jerry</b> Testclear")],
    ["a listed name with HTML characters", person("Tom & <b>Jerry</b> Testpep")],
    ["a name with an HTML reference", person("Tom &amp; Jerry Testclear")],
    ["a name with double quotes", person("Ann \"Annie\" Testclear")],
    ["a name with a backslash", person("Ann \\ Testclear")],
    ["a name with a typographic apostrophe", person("Sean O’Neil Testclear")],
    ["a name with a comma", person("Martin King, Jr. Testclear")],
    ["a name with a percent sign", person("Ann 100%20 Testclear")],
    ["a name with a plus sign", person("Ann+Beth Testclear")],
    ["a name with digits", person("Louis 14 Testclear")],
    ["a name with brackets", person("Ann (Beth) Testclear")],
    ["a name with a slash", person("Ann s/o Beth Testclear")],
    ["a name of 130 characters", person(`${"Maria ".repeat(20)}Testclear`)],
    ["a name of 200 characters", person(`${"Maria ".repeat(32)}Testclear`)],
    ["a name of 249 characters", person(`${"Maria ".repeat(40)}Testclear`)],
    ["a listed name of 247 characters", person(`${"Maria ".repeat(40)}Testpep`)],
    ["a long name in another script", person(`${"Александра ".repeat(12)}Testclear`)]
  ])
]
