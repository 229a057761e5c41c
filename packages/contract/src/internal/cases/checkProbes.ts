/** Checks with another method or body than the documented one, which should receive no credential. */
import type { Case } from "../model.ts"
import type { AmlStep, Json } from "../steps.ts"
import { check, checkProbes, type Probe, withFields } from "./probes.ts"
import * as TestPeople from "./testPeople.ts"

const field = (name: string) => (id: string, title: string, value: Json): Probe<AmlStep> => [
  id,
  title,
  withFields({ [name]: value })
]

const body = TestPeople.bodyOf(TestPeople.clear)

const text = JSON.stringify(body)

const withText = (id: string, title: string, body: string): Probe<AmlStep> => [id, title, check({ body })]

const encoded = new URLSearchParams({ entity_type: "person", name: TestPeople.clear.name, dob: TestPeople.clear.dob })

const entityType = field("entity_type")
const name = field("name")

export const cases: ReadonlyArray<Case> = [
  ...checkProbes("aml.request.method", "method", [
    ...["PATCH", "DELETE", "HEAD", "OPTIONS"].map((method): Probe<AmlStep> => [
      method.toLowerCase(),
      `a check with ${method}`,
      check({ method })
    ]),
    ["get-query", "a check with GET and the fields in the query", check({ method: "GET", query: String(encoded) })]
  ]),
  ...checkProbes("aml.request.entity-type", "entity-type", [
    entityType("upper", "entity_type PERSON", "PERSON"),
    entityType("blank", "entity_type with a blank after it", "person "),
    entityType("blank-before", "entity_type with a blank before it", " person"),
    entityType("line", "entity_type with a line feed", "person\n"),
    entityType("empty", "an empty entity_type", ""),
    entityType("null", "null as entity_type", null),
    entityType("number", "a number as entity_type", 1),
    entityType("true", "true as entity_type", true),
    entityType("list", "a list as entity_type", ["person"]),
    entityType("lists", "a list with another word as entity_type", ["person", "company"]),
    entityType("object", "an object as entity_type", { type: "person" }),
    entityType("plural", "entity_type persons", "persons"),
    entityType("people", "entity_type people", "people"),
    entityType("individual", "entity_type individual", "individual"),
    entityType("natural", "entity_type natural_person", "natural_person"),
    entityType("organisation", "entity_type organisation", "organisation"),
    entityType("organization", "entity_type organization", "organization"),
    entityType("business", "entity_type business", "business"),
    entityType("vessel", "entity_type vessel", "vessel"),
    entityType("prefix", "entity_type pers", "pers"),
    entityType("short", "entity_type p", "p"),
    entityType("long", "entity_type personal", "personal"),
    entityType("unknown", "a word that is not an entity type", "anything")
  ]),
  ...checkProbes("aml.request.name", "name", [
    name("null", "null as name", null),
    name("true", "true as name", true),
    name("false", "false as name", false),
    name("zero", "0 as name", 0),
    name("object", "an object as name", { first: "Zoë", last: "Testclear" }),
    name("empty-list", "an empty list as name", []),
    name("empty-object", "an empty object as name", {}),
    name("list-of-one", "a list with the name", [TestPeople.clear.name]),
    [
      "parts",
      "first_name and last_name instead of name",
      check({
        body: TestPeople.bodyOf(TestPeople.clear, { name: undefined, first_name: "Zoë", last_name: "Testclear" })
      })
    ],
    [
      "case",
      "Name instead of name",
      check({
        body: TestPeople.bodyOf(TestPeople.clear, { name: undefined, Name: TestPeople.clear.name })
      })
    ],
    [
      "full-name",
      "full_name instead of name",
      check({
        body: TestPeople.bodyOf(TestPeople.clear, { name: undefined, full_name: TestPeople.clear.name })
      })
    ]
  ]),
  ...[" ", "\t", "\u00a0", "\n"].map((blank, i): Case => ({
    id: `aml.name.blank-${["space", "tab", "wide", "line"][i]}`,
    claim: "aml.request.name.empty",
    title: "a name of one blank",
    steps: [withFields({ name: blank })],
    reading: "check outcome"
  })),
  ...checkProbes("aml.request.body", "body", [
    withText("null", "null as body", "null"),
    withText("number", "a number as body", "1"),
    withText("true", "true as body", "true"),
    withText("empty-object", "an empty object", "{}"),
    withText("empty-array", "an empty array", "[]"),
    withText("json-text", "the object as a JSON string", JSON.stringify(text)),
    withText("trailing", "more text after the object", `${text} more`),
    withText("twice", "the object twice", `${text}${text}`),
    withText("comma", "a comma after the last field", `${text.slice(0, -1)},}`),
    withText("quotes", "single quotes", text.replaceAll("\"", "'")),
    withText("bare", "field names without quotes", text.replaceAll(/"(\w+)":/g, "$1:")),
    withText("comment", "a comment before the object", `/* a check */${text}`),
    withText("cut", "the object without its last brace", text.slice(0, -1)),
    withText("form", "a form with the content type of JSON", String(encoded)),
    withText("two", "two persons in an array", `[${text},${text}]`),
    ["form-type", "a form", check({ contentType: "application/x-www-form-urlencoded", body: String(encoded) })],
    [
      "multipart",
      "a multipart form",
      check({
        contentType: "multipart/form-data; boundary=b",
        body: [...encoded].map(([name, value]) =>
          `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
        ).join("") + "--b--\r\n"
      })
    ],
    ["query", "the fields in the query", check({ query: String(encoded), body: "" })],
    ["query-object", "the fields in the query, and an empty object", check({ query: String(encoded), body: "{}" })],
    ["nested", "the fields inside person", check({ body: { person: body } })],
    ["data", "the fields inside data", check({ body: { data: body } })],
    [
      "wrapped",
      "the name and dob inside person",
      check({
        body: { entity_type: "person", person: { name: TestPeople.clear.name, dob: TestPeople.clear.dob } }
      })
    ],
    [
      "upper",
      "field names in upper case",
      check({
        body: { ENTITY_TYPE: "person", NAME: TestPeople.clear.name, DOB: TestPeople.clear.dob }
      })
    ],
    [
      "camel",
      "entityType and dateOfBirth",
      check({
        body: { entityType: "person", name: TestPeople.clear.name, dateOfBirth: TestPeople.clear.dob }
      })
    ]
  ])
]
