/** The cases of the AML check (service document, sections 2.3, 4.2 and 5). */
import type { Case, Reading } from "../model.ts"
import type { AmlStep, Json } from "../steps.ts"
import * as TestPeople from "./testPeople.ts"

/** The request of section 4.2 about a person on no list, with these changes. */
const check = (changes: Omit<AmlStep, "to" | "body"> & { readonly body?: Json } = {}): AmlStep => ({
  to: "aml",
  body: TestPeople.bodyOf(TestPeople.clear),
  ...changes
})

const checkOf = (person: TestPeople.TestPerson): AmlStep => check({ body: TestPeople.bodyOf(person) })

/** A check with changed fields in its body. */
const withFields = (changes: { readonly [field: string]: Json | undefined }): AmlStep =>
  check({ body: TestPeople.bodyOf(TestPeople.clear, changes) })

/** Reads something from the response to the documented request. */
const documented = (id: string, claim: string, title: string, reading: Reading): Case => ({
  id: `aml.${id}`,
  claim,
  title,
  steps: [check()],
  reading
})

/** Reads the outcome of a request that may be refused. */
const changed = (id: string, claim: string, title: string, step: AmlStep): Case => ({
  id: `aml.${id}`,
  claim,
  title,
  steps: [step],
  reading: mayBeAnswered.includes(claim) ? "check outcome" : "credential withheld"
})

/** Claims about requests that a service may answer. */
const mayBeAnswered = ["aml.request.scheme-case", "aml.request.name.empty", "aml.request.dob.day"]

const mockPeople = "only the mock server has these people"

export const cases: ReadonlyArray<Case> = [
  documented("answered", "aml.request.path", "the request of section 4.2", "check outcome"),
  documented("status", "aml.success.status", "the status of the credential", "status"),
  documented("content-type", "aml.answer.content-type", "the content type of the credential", "media type"),
  documented("redirect", "redirects", "a redirect of the check", "redirect"),
  documented("credential", "aml.answer.credential", "the body of the response", "body"),
  documented("credential-type", "aml.answer.credential-type", "credential_type", "credential_type"),
  documented("credential-name", "aml.answer.credential-name", "credential_name", "credential_name"),
  documented("issued-by", "aml.answer.issued-by", "issued_by", "issued_by"),
  documented("issuer-id", "aml.answer.issuer-id", "issuer_id", "issuer_id"),
  documented("cred-version", "aml.answer.cred-version", "the form of cred_version", "cred_version form"),
  documented("cred-version.value", "aml.cred-version", "cred_version", "cred_version"),
  documented("attributes", "aml.answer.attributes", "credentials.attributes", "attributes"),
  documented("name", "aml.answer.name", "the name in the credential", "name"),
  documented("name.echo", "aml.name.echo", "how the credential writes the name", "name echo"),
  documented("birth-year", "aml.answer.birth-year", "birth_year", "birth_year"),
  documented("searched-on", "aml.answer.searched-on", "the form of searched_on", "searched_on"),
  documented("searched-on.zone", "aml.searched-on.zone", "the time zone of searched_on", "time zone"),
  documented("match-found", "aml.answer.match-found", "match_found", "match_found"),
  documented("aml-profile", "aml.answer.aml-profile", "aml_profile", "aml_profile"),
  documented("encoding", "aml.answer.encoding", "the encoding of the credential", "encoding"),
  documented("extra-fields", "aml.credential.extra-fields", "fields that section 2.3 does not show", "extra fields"),

  ...[TestPeople.exposed, TestPeople.sanctioned].flatMap((person, i): ReadonlyArray<Case> => {
    const who = i === 0 ? "pep" : "sanc"
    const title = i === 0 ? "of a politically exposed person" : "of a sanctioned person"
    return [
      {
        ...documented(`match-found.${who}`, "aml.answer.match-found", `match_found ${title}`, "match_found"),
        steps: [checkOf(person)],
        ...(i === 1 && { notOnSandbox: mockPeople })
      },
      {
        ...documented(`aml-profile.${who}`, "aml.answer.aml-profile", `aml_profile ${title}`, "aml_profile"),
        steps: [checkOf(person)],
        ...(i === 1 && { notOnSandbox: mockPeople })
      },
      {
        ...documented(`subject.${who}`, "aml.match.subjects", `the result ${title}`, "test person"),
        steps: [checkOf(person)],
        ...(i === 1 && { notOnSandbox: mockPeople })
      }
    ]
  }),
  documented("subject.clear", "aml.match.subjects", "the result of a person on no list", "test person"),
  {
    ...documented("name.script", "aml.request.name.script", "a name in another script", "check outcome"),
    steps: [checkOf(TestPeople.cyrillic)]
  },
  {
    ...documented("name.script.echo", "aml.answer.name", "the name in the credential, in another script", "name"),
    steps: [checkOf(TestPeople.cyrillic)]
  },
  {
    ...documented(
      "birth-year.other",
      "aml.answer.birth-year",
      "birth_year of another person",
      "birth_year"
    ),
    steps: [checkOf(TestPeople.cyrillic)]
  },
  {
    ...documented("again", "aml.match.again", "the same check twice", "repeated check"),
    steps: [check(), check()]
  },
  {
    ...documented("profile", "aml.profile.page", "the page at aml_profile", "page"),
    steps: [check(), { to: "profile" }],
    notOnSandbox: "the page at aml_profile is for people and may contain names"
  },

  changed("method.get", "aml.request.method", "a check with GET", check({ method: "GET" })),
  changed("method.put", "aml.request.method", "a check with PUT", check({ method: "PUT" })),
  {
    ...changed("method.status", "aml.error.method", "the status of a check with PUT", check({ method: "PUT" })),
    reading: "status",
    dependsOn: "aml.method.put"
  },
  changed(
    "authorization.missing",
    "aml.request.authorization",
    "a check without an Authorization header",
    check({ authorization: null })
  ),
  changed(
    "authorization.unknown",
    "aml.request.authorization",
    "a forged token",
    check({ authorization: "Bearer {otherKey}" })
  ),
  changed(
    "authorization.scheme",
    "aml.request.token-place",
    "the token after Basic instead of Bearer",
    check({ authorization: "Basic {token}" })
  ),
  changed(
    "authorization.customer",
    "aml.request.authorization",
    "customer id and key instead of a token",
    check({ authorization: "Basic base64({id}:{key})" })
  ),
  changed(
    "authorization.case",
    "aml.request.scheme-case",
    "the scheme in lower case",
    check({ authorization: "bearer {token}" })
  ),
  {
    ...changed(
      "unauthorized.status",
      "aml.error.unauthorized",
      "the status of a check without an Authorization header",
      check({ authorization: null })
    ),
    reading: "status",
    dependsOn: "aml.authorization.missing"
  },
  {
    ...changed(
      "unauthorized.challenge",
      "aml.error.challenge",
      "the challenge to a check without an Authorization header",
      check({ authorization: null })
    ),
    reading: "challenge",
    dependsOn: "aml.authorization.missing"
  },

  {
    id: "aml.content-type.request",
    claim: "aml.request.content-type",
    title: "application/json with a charset, and the same body as plain text",
    steps: [check({ contentType: "application/json; charset=utf-8" }), check({ contentType: "text/plain" })],
    reading: "request type"
  },
  {
    ...changed(
      "content-type.status",
      "aml.error.content-type",
      "the status of a check sent as plain text",
      check({ contentType: "text/plain" })
    ),
    reading: "status"
  },
  changed(
    "body.not-json",
    "aml.request.body",
    "a body that is not JSON",
    check({ body: "{\"entity_type\":\"person\"" })
  ),
  changed("body.empty", "aml.request.body", "an empty body", check({ body: "" })),
  changed(
    "body.array",
    "aml.request.body",
    "the object inside an array",
    check({ body: [TestPeople.bodyOf(TestPeople.clear)] })
  ),
  {
    ...changed(
      "body.not-json.status",
      "aml.error.json",
      "the status of a body that is not JSON",
      check({
        body: "{\"entity_type\":\"person\""
      })
    ),
    reading: "status",
    dependsOn: "aml.body.not-json"
  },

  changed(
    "entity-type.other",
    "aml.request.entity-type",
    "entity_type company",
    withFields({ entity_type: "company" })
  ),
  changed("entity-type.case", "aml.request.entity-type", "entity_type Person", withFields({ entity_type: "Person" })),
  changed("entity-type.missing", "aml.request.entity-type", "no entity_type", withFields({ entity_type: undefined })),
  changed("name.missing", "aml.request.name", "no name", withFields({ name: undefined })),
  changed("name.number", "aml.request.name", "a number as name", withFields({ name: 1 })),
  changed("name.list", "aml.request.name", "a list as name", withFields({ name: ["Zoë", "Testclear"] })),
  changed("name.empty", "aml.request.name.empty", "an empty name", withFields({ name: "" })),
  changed("dob.missing", "aml.request.dob", "no dob", withFields({ dob: undefined })),
  changed("dob.iso", "aml.request.dob", "a dob with the year first", withFields({ dob: "1990-02-01" })),
  changed("dob.slashes", "aml.request.dob", "a dob with slashes", withFields({ dob: "01/02/1990" })),
  changed("dob.short", "aml.request.dob", "a dob without zeros", withFields({ dob: "1-2-1990" })),
  changed("dob.number", "aml.request.dob", "a number as dob", withFields({ dob: 1021990 })),
  changed("dob.day", "aml.request.dob.day", "the 31st of February", withFields({ dob: "31-02-1990" })),
  {
    ...changed(
      "extra-field",
      "aml.request.extra-fields",
      "a field that section 4.2 does not show",
      withFields({ reference: "1" })
    ),
    reading: "ignored field"
  },
  {
    ...changed("error", "aml.error", "the form of the error body", withFields({ dob: "1990-02-01" })),
    reading: "error form",
    dependsOn: "aml.dob.iso"
  },
  {
    ...changed("error.fields", "aml.error.fields", "the status of a wrong field", withFields({ dob: "1990-02-01" })),
    reading: "status",
    dependsOn: "aml.dob.iso"
  },
  {
    ...changed(
      "error.echo",
      "aml.error.echo",
      "whether the error repeats the name or the dob",
      withFields({ dob: "1990-02-01" })
    ),
    reading: "echo",
    dependsOn: "aml.dob.iso"
  },

  {
    ...changed("path.other", "paths.other", "another path", check({ path: "/api/aml/other" })),
    reading: "status"
  },
  {
    ...changed("body.long", "limits.body", "a body of 66 KiB", withFields({ name: "A".repeat(66 * 1024) })),
    reading: "status",
    notOnSandbox: "limits of a service are not tested"
  },
  {
    id: "aml.rate",
    claim: "limits.rate.retry-after",
    title: "a second check within a quota of one in ten seconds",
    steps: [
      { to: "control", path: "/faults", body: { on: "aml", what: { kind: "quota", limit: 1, per: "10 seconds" } } },
      { to: "token" },
      check({ token: 0 }),
      check({ token: 0 })
    ],
    reading: "retry after",
    notOnSandbox: "limits of a service are not tested"
  }
]
