/** The cases of the AML check (service document, sections 2.3 and 4.2): its response, and the encoding of its request. */
import type { Case } from "../model.ts"
import type { Reading } from "../readings/readings.ts"
import type { AmlStep } from "../steps.ts"
import * as FieldCases from "./fieldCases.ts"
import * as PersonCases from "./personCases.ts"
import {
  bodyWith,
  check,
  mayBlock,
  noCredential,
  ofOne,
  refusals,
  type Row,
  type Rows,
  sequences,
  traceparent
} from "./probes.ts"

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
const field = (id: string, claim: string, title: string, reading: Reading): Case =>
  sequences(`aml.${id}`, claim, reading, [[title, [check()]], ...listed], { worth: 9 })

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

/** The documented check in another encoding of HTTP or JSON. */
const written = (id: string, rows: Rows<Omit<AmlStep, "to">>, worth = 1): Case =>
  sequences(`aml.${id}`, "aml.request.path", "check outcome", ofOne(check, rows), { worth })

const putMethod = noCredential("method.put", "aml.request.method", [
  ["a check with PUT", { method: "PUT" }],
  ["a check with PATCH", { method: "PATCH" }],
  ["a check with DELETE", { method: "DELETE" }],
  ["a check with OPTIONS", { method: "OPTIONS" }],
  ["a check with HEAD", { method: "HEAD" }]
], { worth: 3 })

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
  field("birth-year", "aml.answer.birth-year", "birth_year", "birth_year"),
  field("searched-on", "aml.answer.searched-on", "the form of searched_on", "searched_on"),
  documented("match-found", "aml.answer.match-found", "match_found", "match_found"),
  documented("aml-profile", "aml.answer.aml-profile", "aml_profile", "aml_profile"),
  aboutListed("listed.answered", "aml.request.listed", "a check", "check outcome"),
  aboutListed("listed.match-found", "aml.answer.match-found", "match_found", "match_found"),
  aboutListed("listed.aml-profile", "aml.answer.aml-profile", "aml_profile", "aml_profile"),
  aboutListed("listed.fields", "aml.answer.every", "every field", "every field"),
  sequences("aml.again", "aml.match.again", "repeated check", [
    ["the same check of a listed person twice", [check({ person: "listed" }), check({ person: "listed" })]],
    ["the same check twice", [check(), check()]]
  ]),
  sequences("aml.profile", "aml.profile.page", "page", [["the page at aml_profile", [check(), { to: "profile" }]]], {
    notOnSandbox: "the page at aml_profile is for people and may contain names"
  }),

  ...PersonCases.cases,

  written("written.body", [
    ["the check in another order, with blanks, line feeds and escaped letters, and with Accept", {
      headers: { accept: "application/json" },
      body: "{\n  \"\\u0064ob\" : \"{dob}\",\n  \"name\" : {name|escaped},\n  \"entity_type\" : \"person\"\n}"
    }],
    ["the fields in another order", { body: "{\"dob\":\"{dob}\",\"name\":{name|json},\"entity_type\":\"person\"}" }],
    ["the name with escaped letters", {
      body: "{\"entity_type\":\"person\",\"name\":{name|escaped},\"dob\":\"{dob}\"}"
    }],
    ["the object with blanks and line feeds", {
      body: "{\n  \"entity_type\": \"person\",\n  \"name\": {name|json},\n  \"dob\": \"{dob}\"\n}"
    }],
    ["a field name with an escaped letter", {
      body: "{\"entity_type\":\"person\",\"name\":{name|json},\"\\u0064ob\":\"{dob}\"}"
    }],
    ["the body in two packets", { inPieces: true }]
  ], 5),
  written("written.headers", [
    ["a check with Accept", { headers: { accept: "application/json" } }],
    ["a check with Accept for anything", { headers: { accept: "*/*" } }],
    ["a check of another program", { headers: { "user-agent": "Java/21.0.2" } }],
    ["a check with the headers of a trace", {
      headers: { traceparent, "x-request-id": "1" }
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
  ...refusals(putMethod, [["method.status", "aml.error.method", "the status of a check with PUT", "status"]]),
  notJson,
  ...refusals(notJson, [["body.not-json.status", "aml.error.json", "the status of a body that is not JSON", "status"]]),
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
  ], { worth: 3 }),
  noCredential("body.form", "aml.request.body", [
    ["a form", { contentType: "application/x-www-form-urlencoded", body: "{form}" }],
    ["a form with the content type of JSON", { body: "{form}" }],
    ["the fields in the query, and an empty object", { query: "{form}", body: {} }],
    ["a multipart form", {
      contentType: "multipart/form-data; boundary=b",
      body: ["entity_type\"\r\n\r\nperson", "name\"\r\n\r\n{name}", "dob\"\r\n\r\n{dob}"].map((part) =>
        `--b\r\ncontent-disposition: form-data; name="${part}\r\n`
      ).join("") + "--b--\r\n"
    }]
  ], { worth: 3 }),
  noCredential("body.nested", "aml.request.body", [
    ["the fields inside person and inside data", { body: { person: bodyWith({}), data: bodyWith({}) } }],
    ["the name and dob inside person", { body: { entity_type: "person", person: { name: "{name}", dob: "{dob}" } } }]
  ], { worth: 2 }),
  sequences("aml.extra-field", "aml.request.extra-fields", "ignored field", [
    ["a field that section 4.2 does not show", [check({ body: bodyWith({ reference: "1" }) })]]
  ], { worth: 6 }),

  ...FieldCases.cases,
  ...refusals(FieldCases.isoDate, [
    ["error", "aml.error", "the form of the error body", "error form"],
    ["error.fields", "aml.error.fields", "the status of a wrong field", "status"],
    ["error.echo", "aml.error.echo", "whether the error repeats the name or the dob", "echo"]
  ]),

  sequences("aml.path.other", "paths.other", "status", [["another path", [check({ path: "/api/aml/other" })]]]),
  sequences("aml.body.long", "limits.body", "status", [
    ["a body of 66 KiB", [check({ body: bodyWith({ name: "A".repeat(66 * 1024) }) })]]
  ], { notOnSandbox: mayBlock }),
  sequences("aml.rate", "limits.rate.retry-after", "retry after", [
    ["a second check within a quota of one in ten seconds", [
      { to: "control", path: "/faults", body: { on: "aml", what: { kind: "quota", limit: 1, per: "10 seconds" } } },
      { to: "token" },
      check({ token: 0 }),
      check({ token: 0 })
    ]]
  ], { notOnSandbox: mayBlock })
]
