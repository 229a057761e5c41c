/** The cases of the AML check (API document, sections 2.3, 4.2 and 5). */
import type { Case } from "../../Conformance.ts"
import type { Reading } from "../readings/readings.ts"
import type { Json, ToAml } from "./requestSpec.ts"
import * as People from "./testPeople.ts"

/** The request of section 4.2 about somebody who is on no list, but for what is given. */
const check = (changes: Omit<ToAml, "to" | "body"> & { readonly body?: Json } = {}): ToAml => ({
  to: "aml",
  body: People.about(People.clear),
  ...changes
})

const ask = (subject: People.Subject): ToAml => check({ body: People.about(subject) })

/** One that is wrong in some fields. */
const wrong = (changes: { readonly [field: string]: Json | undefined }): ToAml =>
  check({ body: People.about(People.clear, changes) })

/** What is read of the answer to the right request. */
const answer = (id: string, claim: string, title: string, reads: Reading): Case => ({
  id: `aml.${id}`,
  claim,
  title,
  sends: [check()],
  reads
})

/** What is not answered with a credential. */
const refused = (id: string, claim: string, title: string, send: ToAml): Case => ({
  id: `aml.${id}`,
  claim,
  title,
  sends: [send],
  reads: "answer"
})

const onlyThere = "only the mock server has these people"

export const cases: ReadonlyArray<Case> = [
  answer("answered", "aml.request.path", "the request of section 4.2", "answer"),
  answer("status", "aml.success.status", "the status of the credential", "status"),
  answer("content-type", "aml.answer.content-type", "the content type of the credential", "media type"),
  answer("redirect", "redirects", "where the check is sent on to", "redirect"),
  answer("credential", "aml.answer.credential", "the body of the answer", "body"),
  answer("credential-type", "aml.answer.credential-type", "credential_type", "credential_type"),
  answer("credential-name", "aml.answer.credential-name", "credential_name", "credential_name"),
  answer("issued-by", "aml.answer.issued-by", "issued_by", "issued_by"),
  answer("issuer-id", "aml.answer.issuer-id", "issuer_id", "issuer_id"),
  answer("cred-version", "aml.answer.cred-version", "the form of cred_version", "cred_version form"),
  answer("cred-version.value", "aml.cred-version", "cred_version", "cred_version"),
  answer("attributes", "aml.answer.attributes", "credentials.attributes", "attributes"),
  answer("name", "aml.answer.name", "whose name the credential has", "name"),
  answer("name.echo", "aml.name.echo", "how the credential repeats the name", "name echo"),
  answer("birth-year", "aml.answer.birth-year", "whose birth_year the credential has", "birth_year"),
  answer("searched-on", "aml.answer.searched-on", "the form of searched_on", "searched_on"),
  answer("searched-on.zone", "aml.searched-on.zone", "the time zone of searched_on", "time zone"),
  answer("match-found", "aml.answer.match-found", "match_found", "match_found"),
  answer("aml-profile", "aml.answer.aml-profile", "aml_profile", "aml_profile"),
  answer("extra-fields", "aml.credential.extra-fields", "fields that section 2.3 does not show", "extra fields"),

  ...[People.exposed, People.sanctioned].flatMap((subject, i): ReadonlyArray<Case> => {
    const who = i === 0 ? "pep" : "sanc"
    const title = i === 0 ? "of a person of the list of PEPs" : "of a person under sanctions"
    return [
      {
        ...answer(`match-found.${who}`, "aml.answer.match-found", `match_found ${title}`, "match_found"),
        sends: [ask(subject)],
        notOnSandbox: onlyThere
      },
      {
        ...answer(`aml-profile.${who}`, "aml.answer.aml-profile", `aml_profile ${title}`, "aml_profile"),
        sends: [ask(subject)],
        notOnSandbox: onlyThere
      },
      {
        ...answer(`subject.${who}`, "aml.match.subjects", `what is found ${title}`, "subject"),
        sends: [ask(subject)],
        notOnSandbox: onlyThere
      }
    ]
  }),
  {
    ...answer("subject.clear", "aml.match.subjects", "what is found of a person on no list", "subject"),
    notOnSandbox: onlyThere
  },
  {
    ...answer("name.script", "aml.request.name.script", "a name in another script", "answer"),
    sends: [ask(People.cyrillic)]
  },
  {
    ...answer("name.script.echo", "aml.answer.name", "whose name the credential has, in another script", "name"),
    sends: [ask(People.cyrillic)]
  },
  {
    ...answer(
      "birth-year.other",
      "aml.answer.birth-year",
      "whose birth_year the credential has, of another person",
      "birth_year"
    ),
    sends: [ask(People.cyrillic)]
  },
  {
    ...answer("again", "aml.match.again", "the same check twice", "again"),
    sends: [check(), check()]
  },
  {
    ...answer("profile", "aml.profile.page", "what aml_profile shows", "page"),
    sends: [check(), { to: "profile" }],
    notOnSandbox: "what aml_profile points to is for people, and may hold names"
  },

  refused("method.get", "aml.request.method", "a check by GET", check({ method: "GET" })),
  refused("method.put", "aml.request.method", "a check by PUT", check({ method: "PUT" })),
  {
    ...refused("method.status", "aml.error.method", "the status of a check by PUT", check({ method: "PUT" })),
    reads: "status",
    standsOn: "aml.method.put"
  },
  refused(
    "authorization.missing",
    "aml.request.authorization",
    "a check without Authorization header",
    check({ as: "nothing" })
  ),
  refused("authorization.unknown", "aml.request.authorization", "a forged token", check({ as: "unknown token" })),
  refused(
    "authorization.scheme",
    "aml.request.authorization",
    "the token after Basic instead of Bearer",
    check({ as: "another scheme" })
  ),
  refused(
    "authorization.customer",
    "aml.request.authorization",
    "id and key instead of a token",
    check({ as: "customer" })
  ),
  refused("authorization.case", "aml.request.scheme-case", "the scheme in lower case", check({ as: "lower case" })),
  {
    ...refused(
      "unauthorized.status",
      "aml.error.unauthorized",
      "the status of a check without Authorization header",
      check({ as: "nothing" })
    ),
    reads: "status",
    standsOn: "aml.authorization.missing"
  },
  {
    ...refused(
      "unauthorized.challenge",
      "aml.error.challenge",
      "what a check without Authorization header is asked for",
      check({ as: "nothing" })
    ),
    reads: "challenge",
    standsOn: "aml.authorization.missing"
  },

  {
    id: "aml.content-type.request",
    claim: "aml.request.content-type",
    title: "application/json with a charset, and the same body as plain text",
    sends: [check({ contentType: "application/json; charset=utf-8" }), check({ contentType: "text/plain" })],
    reads: "request type"
  },
  {
    ...refused(
      "content-type.status",
      "aml.error.content-type",
      "the status of a check as plain text",
      check({ contentType: "text/plain" })
    ),
    reads: "status"
  },
  refused(
    "body.not-json",
    "aml.request.body",
    "a body that is not JSON",
    check({ body: "{\"entity_type\":\"person\"" })
  ),
  refused("body.empty", "aml.request.body", "an empty body", check({ body: "" })),
  refused("body.array", "aml.request.body", "the object in a list", check({ body: [People.about(People.clear)] })),
  {
    ...refused(
      "body.not-json.status",
      "aml.error.json",
      "the status of a body that is not JSON",
      check({
        body: "{\"entity_type\":\"person\""
      })
    ),
    reads: "status",
    standsOn: "aml.body.not-json"
  },

  refused("entity-type.other", "aml.request.entity-type", "entity_type company", wrong({ entity_type: "company" })),
  refused("entity-type.case", "aml.request.entity-type", "entity_type Person", wrong({ entity_type: "Person" })),
  refused("entity-type.missing", "aml.request.entity-type", "no entity_type", wrong({ entity_type: undefined })),
  refused("name.missing", "aml.request.name", "no name", wrong({ name: undefined })),
  refused("name.number", "aml.request.name", "a number as name", wrong({ name: 1 })),
  refused("name.list", "aml.request.name", "a name in parts", wrong({ name: ["Zoë", "Testclear"] })),
  refused("name.empty", "aml.request.name.empty", "an empty name", wrong({ name: "" })),
  refused("dob.missing", "aml.request.dob", "no dob", wrong({ dob: undefined })),
  refused("dob.iso", "aml.request.dob", "a dob with the year first", wrong({ dob: "1990-02-01" })),
  refused("dob.slashes", "aml.request.dob", "a dob with slashes", wrong({ dob: "01/02/1990" })),
  refused("dob.short", "aml.request.dob", "a dob without zeros", wrong({ dob: "1-2-1990" })),
  refused("dob.number", "aml.request.dob", "a number as dob", wrong({ dob: 1021990 })),
  refused("dob.day", "aml.request.dob.day", "the 31st of February", wrong({ dob: "31-02-1990" })),
  {
    ...refused(
      "extra-field",
      "aml.request.extra-fields",
      "a field that section 4.2 does not show",
      wrong({ reference: "1" })
    ),
    reads: "ignored field"
  },
  {
    ...refused("error", "aml.error", "the form of a refusal", wrong({ dob: "1990-02-01" })),
    reads: "error form",
    standsOn: "aml.dob.iso"
  },
  {
    ...refused("error.fields", "aml.error.fields", "the status of a wrong field", wrong({ dob: "1990-02-01" })),
    reads: "status",
    standsOn: "aml.dob.iso"
  },
  {
    ...refused("error.echo", "aml.error.echo", "what a refusal repeats", wrong({ dob: "1990-02-01" })),
    reads: "echo",
    standsOn: "aml.dob.iso"
  },

  {
    ...refused("path.other", "paths.other", "another path", check({ path: "/api/aml/other" })),
    reads: "status"
  },
  {
    ...refused("body.long", "limits.body", "a body of 66 KiB", wrong({ name: "A".repeat(66 * 1024) })),
    reads: "status",
    notOnSandbox: "no limit of a service is tried"
  },
  {
    id: "aml.rate",
    claim: "limits.rate.retry-after",
    title: "the second check where one in ten seconds is allowed",
    sends: [
      { to: "control", path: "/faults", body: { on: "aml", what: { kind: "quota", limit: 1, per: "10 seconds" } } },
      { to: "token" },
      check({ as: "this token" }),
      check({ as: "this token" })
    ],
    reads: "retry after",
    notOnSandbox: "no limit of a service is tried"
  }
]
