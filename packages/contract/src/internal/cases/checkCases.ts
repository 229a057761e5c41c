/** The cases of the AML check (service document, sections 2.3 and 4.2), apart from those about its token. */
import type { Case } from "../model.ts"
import type { Reading } from "../readings/readings.ts"
import type { AmlStep } from "../steps.ts"
import { bodyWith, check, misnamedField, noCredential, type Row, type Rows, sequences, wrongField } from "./probes.ts"
import { person, strangerStep } from "./testPeople.ts"

/** Reads something from the response to the documented request. */
const documented = (id: string, claim: string, title: string, reading: Reading): Case =>
  sequences(`aml.${id}`, claim, reading, [[title, [check()]]], { worth: 9 })

const listed: ReadonlyArray<Row<ReadonlyArray<AmlStep>>> = (["listed", "listed 2", "listed 3"] as const).map((
  ref,
  i
) => [
  `about ${["a listed person", "a second listed person", "a third listed person"][i]}`,
  [check({ person: ref })]
])

/** Reads a field from the responses about a person on no list and about listed ones. */
const field = (
  id: string,
  claim: string,
  title: string,
  reading: Reading,
  others: ReadonlyArray<Row<ReadonlyArray<AmlStep>>> = []
): Case => sequences(`aml.${id}`, claim, reading, [[title, [check()]], ...listed, ...others], { worth: 9 })

const leapDay: Row<AmlStep> = ["a person born on the 29th of February", person("Ida Leap Testclear", "29-02-1996")]

/** Reads something from the responses about listed persons. */
const aboutListed = (id: string, claim: string, title: string, reading: Reading): Case => {
  const [, ...more] = listed
  return sequences(`aml.${id}`, claim, reading, [
    [`${title} of a listed person`, [check({ person: "listed" })]],
    ...more
  ], {
    worth: 9
  })
}

/** How the API refuses the request of another case. */
const refusal = (id: string, claim: string, title: string, reading: Reading, { id: dependsOn, steps }: Case): Case =>
  sequences(`aml.${id}`, claim, reading, [[title, steps]], { dependsOn })

const people = (id: string, claim: string, rows: Rows<AmlStep>, worth?: number): Case => {
  const row = ([title, step]: Row<AmlStep>) => [title, [step]] as const
  const [first, ...rest] = rows
  return sequences(
    `aml.person.${id}`,
    claim,
    "check outcome",
    [row(first), ...rest.map(row)],
    worth === undefined ? {} : { worth }
  )
}

/** The documented check in another encoding of HTTP or JSON. */
const written = (id: string, rows: Rows<Omit<AmlStep, "to">>): Case => {
  const row = ([title, changes]: Row<Omit<AmlStep, "to">>) => [title, [check(changes)]] as const
  const [first, ...rest] = rows
  return sequences(`aml.${id}`, "aml.request.path", "check outcome", [row(first), ...rest.map(row)])
}

const putMethod = noCredential("method.put", "aml.request.method", [
  ["a check with PUT", { method: "PUT" }],
  ["a check with PATCH", { method: "PATCH" }],
  ["a check with DELETE", { method: "DELETE" }],
  ["a check with OPTIONS", { method: "OPTIONS" }],
  ["a check with HEAD", { method: "HEAD" }]
], { worth: 2 })

const notJson = noCredential("body.not-json", "aml.request.body", [
  ["a body that is not JSON", { body: "{\"entity_type\":\"person\"" }],
  ["the object without its last brace", { body: "{check|cut}" }],
  ["more text after the object", { body: "{check} more" }],
  ["the object twice", { body: "{check}{check}" }],
  ["a comma after the last field", { body: "{check|cut},}" }],
  ["a comment before the object", { body: "/* a check */{check}" }],
  ["single quotes", { body: "{'entity_type':'person','name':'{name}','dob':'{dob}'}" }],
  ["field names without quotes", { body: "{entity_type:\"person\",name:\"{name}\",dob:\"{dob}\"}" }]
])

const isoDate = wrongField("dob.iso", "aml.request.dob", "dob", [
  ["a dob with the year first", "{year}-{month}-{day}"],
  ["a dob as an ISO time", "{year}-{month}-{day}T00:00:00Z"],
  ["a dob with the year first and slashes", "{year}/{month}/{day}"],
  ["a dob with the year first and dots", "{year}.{month}.{day}"],
  ["a dob with the year first and no separators", "{year}{month}{day}"],
  ["a dob with the year first and without zeros", "{year}-{month|short}-{day|short}"],
  ["a dob with year, day and month", "1990-28-02"],
  ["a dob with the year first and the name of the month", "1990-Feb-01"],
  ["a dob as an ISO week", "1990-W05-4"],
  ["a dob as an ISO day of the year", "1990-032"]
], { worth: 4 })

const extraField = { reference: "1" }

export const cases: ReadonlyArray<Case> = [
  documented("answered", "aml.request.path", "the request of section 4.2", "check outcome"),
  documented("status", "aml.success.status", "the status of the credential", "status"),
  documented("content-type", "aml.answer.content-type", "the content type of the credential", "media type"),
  documented("redirect", "redirects", "a redirect of the check", "redirect"),
  documented("credential", "aml.answer.credential", "the body of the response", "body"),
  documented("encoding", "aml.answer.encoding", "the encoding of the credential", "encoding"),
  documented("cred-version.value", "aml.cred-version", "cred_version", "cred_version"),
  documented("searched-on.zone", "aml.searched-on.zone", "the time zone of searched_on", "time zone"),
  documented("extra-fields", "aml.credential.extra-fields", "fields that section 2.3 does not show", "extra fields"),
  documented("issued-by.text", "aml.issued-by.text", "whether issued_by is empty", "issued_by text"),
  field("credential-type", "aml.answer.credential-type", "credential_type", "credential_type"),
  field("credential-name", "aml.answer.credential-name", "credential_name", "credential_name"),
  field("issued-by", "aml.answer.issued-by", "issued_by", "issued_by"),
  field("issuer-id", "aml.answer.issuer-id", "issuer_id", "issuer_id"),
  field("cred-version", "aml.answer.cred-version", "the form of cred_version", "cred_version form"),
  field("attributes", "aml.answer.attributes", "credentials.attributes", "attributes"),
  field("name", "aml.answer.name", "the name in the credential", "name"),
  field("name.echo", "aml.name.echo", "how the credential writes the name", "name echo"),
  field("birth-year", "aml.answer.birth-year", "birth_year", "birth_year", [[leapDay[0], [leapDay[1]]]]),
  field("searched-on", "aml.answer.searched-on", "the form of searched_on", "searched_on"),
  documented("match-found", "aml.answer.match-found", "match_found", "match_found"),
  documented("aml-profile", "aml.answer.aml-profile", "aml_profile", "aml_profile"),
  aboutListed("listed.answered", "aml.request.listed", "a check", "check outcome"),
  aboutListed("listed.match-found", "aml.answer.match-found", "match_found", "match_found"),
  aboutListed("listed.aml-profile", "aml.answer.aml-profile", "aml_profile", "aml_profile"),
  aboutListed("listed.fields", "aml.answer.every", "every field", "every field"),
  sequences("aml.listed.result", "aml.match.persons", "promised result", [
    ["the result of a listed person", [check({ person: "listed" })]],
    ["the result of a second listed person", [check({ person: "listed 2" })]],
    ["the result of a third listed person", [check({ person: "listed 3" })]],
    ["the result of a person on no list", [check()]]
  ], { worth: 9 }),
  sequences("aml.again", "aml.match.again", "repeated check", [
    ["the same check of a listed person twice", [check({ person: "listed" }), check({ person: "listed" })]],
    ["the same check twice", [check(), check()]]
  ], { worth: 4 }),
  sequences("aml.profile.stable", "aml.profile.stable", "stable profile", [
    ["the profile in two checks of a listed person", [check({ person: "listed" }), check({ person: "listed" })]],
    ["the profile in two checks of a person", [check(), check()]]
  ]),
  sequences("aml.profile", "aml.profile.page", "page", [["the page at aml_profile", [check(), { to: "profile" }]]], {
    notOnSandbox: "the page at aml_profile is for people and may contain names"
  }),

  people("middle", "aml.request.people", [
    ["a name with three middle names", strangerStep],
    ["a listed name with three middle names", person("Anna Maria Louise Clara Testpep", "30-06-1985")],
    ["a name with a word twice", person("Ana Ana Testclear")],
    ["a short name", person("Li Testclear", "31-12-1999")],
    ["a name with one letter", person("X Testclear")],
    ["a name of 80 characters", person(`${"Maria ".repeat(12)}Testclear`)],
    ["a listed name of 80 characters", person(`${"Maria ".repeat(12)}Testpep`)],
    ["a name with a word of 60 letters", person(`${"Abcdef".repeat(10)} Testclear`)]
  ], 5),
  people("day", "aml.request.people", [
    leapDay,
    ["a listed name, born on the 29th of February", person("Ida Leap Testpep", "29-02-1996")],
    ["a person born on the 29th of February 2000", person("Ida Leap Testclear", "29-02-2000")],
    ["a person born on the first of January", person("Ida Test Testclear", "01-01-1980")],
    ["a person born on the last of December", person("Ida Test Testclear", "31-12-1980")],
    ["a person born on the 31st of a month", person("Kim Lee Testclear", "31-07-1988")],
    ["a person born on the 12th of November", person("Kim Lee Testclear", "12-11-1970")],
    ["a person born on the 11th of December", person("Kim Lee Testclear", "11-12-1971")]
  ], 5),
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
  ], 3),
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
    ["a name of 300 characters", person(`${"Maria ".repeat(49)}Testclear`)],
    ["a listed name of 300 characters", person(`${"Maria ".repeat(49)}Testpep`)],
    ["a long name in another script", person(`${"Александра ".repeat(12)}Testclear`)]
  ]),

  written("written.body", [
    ["the fields in another order", { body: "{\"dob\":\"{dob}\",\"name\":{name|json},\"entity_type\":\"person\"}" }],
    ["the name with escaped letters", { body: "{check|escaped}" }],
    ["the object with blanks and line feeds", {
      body: "{\n  \"entity_type\": \"person\",\n  \"name\": {name|json},\n  \"dob\": \"{dob}\"\n}"
    }],
    ["a field name with an escaped letter", {
      body: "{\"entity_type\":\"person\",\"name\":{name|json},\"\\u0064ob\":\"{dob}\"}"
    }],
    ["the body in two packets", { inPieces: true }]
  ]),
  written("written.headers", [
    ["a check with Accept", { headers: { accept: "application/json" } }],
    ["a check with Accept for anything", { headers: { accept: "*/*" } }],
    ["a check of another program", { headers: { "user-agent": "Java/21.0.2" } }],
    ["a check with the headers of a trace", {
      headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "x-request-id": "1" }
    }],
    ["a check with Accept-Language", { headers: { "accept-language": "de-CH, fr;q=0.7" } }]
  ]),
  sequences("aml.content-type.request", "aml.request.content-type", "request type", [
    ["application/json with a charset, and the same body as plain text", [
      check({ contentType: "application/json; charset=utf-8" }),
      check({ contentType: "text/plain" })
    ]]
  ]),
  sequences("aml.content-type.status", "aml.error.content-type", "status", [
    ["the status of a check sent as plain text", [check({ contentType: "text/plain" })]]
  ]),

  putMethod,
  noCredential("method.get", "aml.request.method", [
    ["a check with GET and the fields in the query", { method: "GET", query: "{form}" }],
    ["a check with GET", { method: "GET" }]
  ], { worth: 2 }),
  refusal("method.status", "aml.error.method", "the status of a check with PUT", "status", putMethod),
  notJson,
  refusal("body.not-json.status", "aml.error.json", "the status of a body that is not JSON", "status", notJson),
  noCredential("body.empty", "aml.request.body", [
    ["an empty body", { body: "" }],
    ["an empty object", { body: {} }],
    ["an empty array", { body: [] }],
    ["null as body", { body: null }],
    ["true as body", { body: true }],
    ["a number as body", { body: 1 }]
  ], { worth: 2 }),
  noCredential("body.array", "aml.request.body", [
    ["the object inside an array", { body: "[{check}]" }],
    ["two persons in an array", { body: "[{check},{check}]" }],
    ["the object as a JSON string", { body: "{check|json}" }]
  ], { worth: 2 }),
  noCredential("body.form", "aml.request.body", [
    ["a form", { contentType: "application/x-www-form-urlencoded", body: "{form}" }],
    ["a form with the content type of JSON", { body: "{form}" }],
    ["the fields in the query", { query: "{form}", body: "" }],
    ["the fields in the query, and an empty object", { query: "{form}", body: {} }],
    ["a multipart form", {
      contentType: "multipart/form-data; boundary=b",
      body: ["entity_type\"\r\n\r\nperson", "name\"\r\n\r\n{name}", "dob\"\r\n\r\n{dob}"].map((part) =>
        `--b\r\ncontent-disposition: form-data; name="${part}\r\n`
      ).join("") + "--b--\r\n"
    }]
  ], { worth: 2 }),
  noCredential("body.nested", "aml.request.body", [
    ["the fields inside person", { body: { person: bodyWith({}) } }],
    ["the fields inside data", { body: { data: bodyWith({}) } }],
    ["the name and dob inside person", { body: { entity_type: "person", person: { name: "{name}", dob: "{dob}" } } }]
  ]),
  noCredential("body.names", "aml.request.body", [
    ["field names in upper case", { body: { ENTITY_TYPE: "person", NAME: "{name}", DOB: "{dob}" } }],
    ["entityType and dateOfBirth", { body: { entityType: "person", name: "{name}", dateOfBirth: "{dob}" } }],
    ["entityType and dob", { body: { entityType: "person", name: "{name}", dob: "{dob}" } }]
  ]),
  sequences("aml.extra-field", "aml.request.extra-fields", "ignored field", [
    ["a field that section 4.2 does not show", [check({ body: bodyWith(extraField) })]]
  ]),

  wrongField("entity-type.other", "aml.request.entity-type", "entity_type", [
    ["entity_type company", "company"],
    ["entity_type organisation", "organisation"],
    ["entity_type organization", "organization"],
    ["entity_type business", "business"],
    ["entity_type vessel", "vessel"],
    ["a word that is not an entity type", "anything"]
  ], { worth: 4 }),
  wrongField("entity-type.similar", "aml.request.entity-type", "entity_type", [
    ["entity_type individual", "individual"],
    ["entity_type natural_person", "natural_person"],
    ["entity_type persons", "persons"],
    ["entity_type people", "people"]
  ], { worth: 3 }),
  wrongField("entity-type.case", "aml.request.entity-type", "entity_type", [
    ["entity_type Person", "Person"],
    ["entity_type PERSON", "PERSON"]
  ], { worth: 4 }),
  wrongField("entity-type.blank", "aml.request.entity-type", "entity_type", [
    ["entity_type with a blank after it", "person "],
    ["entity_type with a blank before it", " person"],
    ["entity_type with a line feed", "person\n"]
  ], { worth: 2 }),
  wrongField("entity-type.part", "aml.request.entity-type", "entity_type", [
    ["entity_type pers", "pers"],
    ["entity_type p", "p"],
    ["entity_type personal", "personal"]
  ]),
  wrongField("entity-type.json", "aml.request.entity-type", "entity_type", [
    ["null as entity_type", null],
    ["a list as entity_type", ["person"]],
    ["a list with another word as entity_type", ["person", "company"]],
    ["an object as entity_type", { type: "person" }],
    ["true as entity_type", true],
    ["a number as entity_type", 1]
  ], { worth: 2 }),
  misnamedField("entity-type.missing", "aml.request.entity-type", [
    ["no entity_type", { entity_type: undefined }],
    ["an empty entity_type", { entity_type: "" }]
  ]),

  misnamedField("name.missing", "aml.request.name", [
    ["no name", { name: undefined }],
    ["first_name and last_name instead of name", { name: undefined, first_name: "{name}", last_name: "{name}" }],
    ["full_name instead of name", { name: undefined, full_name: "{name}" }],
    ["Name instead of name", { name: undefined, Name: "{name}" }]
  ]),
  wrongField("name.json", "aml.request.name", "name", [
    ["a number as name", 1],
    ["a list as name", ["{name}"]],
    ["null as name", null],
    ["an object as name", { first: "{name}", last: "{name}" }],
    ["true as name", true],
    ["false as name", false],
    ["0 as name", 0],
    ["an empty list as name", []],
    ["an empty object as name", {}]
  ], { worth: 3 }),
  wrongField("name.empty", "aml.request.name.empty", "name", [
    ["an empty name", ""],
    ["a blank as name", " "],
    ["a tab as name", "\t"],
    ["a no-break space as name", "\u00a0"],
    ["a line feed as name", "\n"]
  ], { worth: 2 }),

  isoDate,
  wrongField("dob.slashes", "aml.request.dob", "dob", [
    ["a dob with slashes", "{day}/{month}/{year}"],
    ["a dob with dots", "{day}.{month}.{year}"],
    ["a dob with blanks", "{day} {month} {year}"],
    ["a dob with underscores", "{day}_{month}_{year}"],
    ["a dob with colons", "{day}:{month}:{year}"],
    ["a dob with commas", "{day},{month},{year}"],
    ["a dob with two separators", "{day}-{month}/{year}"],
    ["a dob with backslashes", "{day}\\{month}\\{year}"]
  ], { worth: 4 }),
  wrongField("dob.hyphens", "aml.request.dob", "dob", [
    ["a dob with en dashes", "{day}–{month}–{year}"],
    ["a dob with minus signs", "{day}−{month}−{year}"],
    ["a dob with Unicode hyphens", "{day}\u2010{month}\u2010{year}"],
    ["a dob with non-breaking hyphens", "{day}\u2011{month}\u2011{year}"],
    ["a dob with double hyphens", "{day}--{month}--{year}"],
    ["a dob with blanks around its hyphens", "{day} - {month} - {year}"]
  ]),
  wrongField("dob.us", "aml.request.dob", "dob", [
    ["a dob with the month first", "02-28-1990"],
    ["a dob with the month first and slashes", "02/28/1990"],
    ["a dob with slashes after the 12th", "28/02/1990"]
  ], { worth: 3 }),
  wrongField("dob.compact", "aml.request.dob", "dob", [
    ["a dob without separators", "{day}{month}{year}"],
    ["a dob without its second hyphen", "{day}-{month}{year}"],
    ["a dob without its first hyphen", "{day}{month}-{year}"]
  ], { worth: 3 }),
  wrongField("dob.short", "aml.request.dob", "dob", [
    ["a dob without zeros", "1-2-1990"],
    ["a dob with a day of one digit", "{day|short}-{month}-{year}"],
    ["a dob with a month of one digit", "{day}-{month|short}-{year}"],
    ["a dob with one digit for day and month and two for the year", "1-2-90"],
    ["a dob with a day of three digits", "0{day}-{month}-{year}"],
    ["a dob with a month of three digits", "{day}-0{month}-{year}"]
  ], { worth: 4 }),
  wrongField("dob.two-digits", "aml.request.dob", "dob", [
    ["a dob with a year of two digits", "{day}-{month}-{year|twoDigits}"],
    ["a dob with an apostrophe before two digits", "{day}-{month}-'{year|twoDigits}"],
    ["a dob with slashes and a year of two digits", "{day}/{month}/{year|twoDigits}"],
    ["a dob with a year of two digits first", "{year|twoDigits}-{month}-{day}"],
    ["a dob with a year of three digits", "01-02-990"],
    ["a dob with a year of five digits", "{day}-{month}-0{year}"],
    ["a dob with a sign before the year", "{day}-{month}-+{year}"],
    ["a dob with a negative year", "01-02--990"]
  ], { worth: 4 }),
  wrongField("dob.month-name", "aml.request.dob", "dob", [
    ["a dob with the name of a month", "01-Feb-1990"],
    ["a dob with FEB", "01-FEB-1990"],
    ["a dob with the full name of the month", "01-February-1990"],
    ["a dob with a month in words", "1 February 1990"],
    ["a dob in English with a comma", "February 1, 1990"],
    ["a dob with the name of the month first", "Feb-01-1990"],
    ["a dob with a Roman month", "01-II-1990"]
  ], { worth: 2 }),
  wrongField("dob.suffix", "aml.request.dob", "dob", [
    ["a dob with a time", "{dob} 00:00:00"],
    ["a dob with T and a time", "{dob}T00:00:00"],
    ["a dob with a letter after it", "{dob}x"],
    ["a dob with hours and minutes", "{dob} 00:00"],
    ["a dob with a Z", "{dob}Z"],
    ["a dob with an offset", "{dob}+01:00"],
    ["a dob with a hyphen after it", "{dob}-"],
    ["a dob with another field", "{dob}-1"],
    ["a dob with a second line", "{dob}\n{dob}"],
    ["two dates", "{dob}/{dob}"],
    ["two dates with a comma", "{dob},{dob}"]
  ], { worth: 3 }),
  wrongField("dob.prefix", "aml.request.dob", "dob", [
    ["a dob with a letter before it", "x{dob}"],
    ["a dob with a sign", "+{dob}"],
    ["a dob with a hyphen before it", "-{dob}"],
    ["a dob after an empty line", "\n{dob}"],
    ["a dob in quotes", "\"{dob}\""]
  ]),
  wrongField("dob.blank", "aml.request.dob", "dob", [
    ["a dob with a blank after it", "{dob} "],
    ["a dob with a blank before it", " {dob}"],
    ["a dob with a line feed", "{dob}\n"],
    ["a dob with a tab after it", "{dob}\t"],
    ["a dob with a carriage return and a line feed", "{dob}\r\n"],
    ["a dob with a NUL after it", "{dob}\u0000"],
    ["a dob with a no-break space after it", "{dob}\u00a0"],
    ["a dob with a zero-width space after it", "{dob}\u200b"]
  ], { worth: 2 }),
  wrongField("dob.digits", "aml.request.dob", "dob", [
    ["a dob with Arabic digits", "٠١-٠٢-١٩٩٠"],
    ["a dob with full-width digits", "０１-０２-１９９０"],
    ["a dob with Devanagari digits", "०१-०२-१९९०"],
    ["a dob with letters for zeros", "O1-O2-199O"]
  ]),
  wrongField("dob.number", "aml.request.dob", "dob", [
    ["a number as dob", 1021990],
    ["milliseconds as dob", 633830400000],
    ["a number with the year first as dob", 19900201],
    ["seconds as dob in a string", "633830400"],
    ["0 as dob", 0],
    ["a negative number as dob", -1],
    ["a fraction as dob", 1.021990]
  ], { worth: 2 }),
  wrongField("dob.json", "aml.request.dob", "dob", [
    ["null as dob", null],
    ["a list with the dob", ["{dob}"]],
    ["an object as dob", { day: 1, month: 2, year: 1990 }],
    ["a list of day, month and year", [1, 2, 1990]],
    ["a list of texts as dob", ["{day}", "{month}", "{year}"]],
    ["the dob inside an object", { date: "{dob}" }],
    ["true as dob", true],
    ["false as dob", false],
    ["an empty list as dob", []],
    ["an empty object as dob", {}]
  ], { worth: 2 }),
  misnamedField("dob.missing", "aml.request.dob", [
    ["no dob", { dob: undefined }],
    ["date_of_birth instead of dob", { dob: undefined, date_of_birth: "{dob}" }],
    ["dateOfBirth instead of dob", { dob: undefined, dateOfBirth: "{dob}" }],
    ["birthDate and birth_date instead of dob", { dob: undefined, birthDate: "{dob}", birth_date: "{dob}" }],
    ["birth_year instead of dob", { dob: undefined, birth_year: "{year}" }],
    ["DOB instead of dob", { dob: undefined, DOB: "{dob}" }],
    ["Dob instead of dob", { dob: undefined, Dob: "{dob}" }]
  ]),
  wrongField("dob.text", "aml.request.dob", "dob", [
    ["an empty dob", ""],
    ["a blank as dob", " "],
    ["a word as dob", "unknown"],
    ["letters as dob", "dd-mm-yyyy"],
    ["a dob with letters for day and month", "xx-xx-1990"],
    ["a dob with an unknown day", "??-02-1990"]
  ], { worth: 2 }),
  wrongField("dob.year", "aml.request.dob", "dob", [
    ["a year as dob", "{year}"],
    ["a month and a year as dob", "{month}-{year}"],
    ["a day and a month as dob", "{day}-{month}"]
  ], { worth: 2 }),
  wrongField("dob.impossible", "aml.request.dob", "dob", [
    ["the month 13", "01-13-1990"],
    ["the day 32", "32-01-1990"],
    ["the 30th of February", "30-02-1990"],
    ["the 31st of April", "31-04-1990"],
    ["the 29th of February of a year without one", "29-02-1990"],
    ["the 29th of February 1900", "29-02-1900"],
    ["the 29th of February 2023", "29-02-2023"],
    ["the 31st of June", "31-06-1990"],
    ["the 31st of September", "31-09-1990"],
    ["the 31st of November", "31-11-1990"],
    ["the day 00", "00-02-1990"],
    ["the month 00", "01-00-1990"],
    ["the day and month 00", "00-00-1990"],
    ["the day and the month 99", "99-99-1990"],
    ["a dob of zeros", "00-00-0000"],
    ["the year 0000", "01-02-0000"]
  ], { worth: 3 }),
  wrongField("dob.day", "aml.request.dob.day", "dob", [
    ["the 31st of February", "31-02-1990"],
    ["a dob in the next century", "01-02-2150"],
    ["a dob in the year 9999", "31-12-9999"]
  ]),
  refusal("error", "aml.error", "the form of the error body", "error form", isoDate),
  refusal("error.fields", "aml.error.fields", "the status of a wrong field", "status", isoDate),
  refusal("error.echo", "aml.error.echo", "whether the error repeats the name or the dob", "echo", isoDate),

  sequences("aml.path.other", "paths.other", "status", [["another path", [check({ path: "/api/aml/other" })]]]),
  sequences("aml.body.long", "limits.body", "status", [
    ["a body of 66 KiB", [check({ body: bodyWith({ name: "A".repeat(66 * 1024) }) })]]
  ], { notOnSandbox: "limits of a service are not tested" }),
  sequences("aml.rate", "limits.rate.retry-after", "retry after", [
    ["a second check within a quota of one in ten seconds", [
      { to: "control", path: "/faults", body: { on: "aml", what: { kind: "quota", limit: 1, per: "10 seconds" } } },
      { to: "token" },
      check({ token: 0 }),
      check({ token: 0 })
    ]]
  ], { notOnSandbox: "limits of a service are not tested" })
]
