/** Judges of the requests of a client: their form, and the person in them. */
import type { Judge } from "../day.ts"
import * as Persons from "../persons.ts"
import { each, found, redirecting, requestsTo } from "./judge.ts"
import { inAddress } from "./leaks.ts"
import { isOfEarlierRun } from "./tokens.ts"

const section = "section 4.2, request body"

/** What a refused request does wrong, by the rule of the mock server. */
const refusals: Readonly<Record<string, readonly [text: string, change: string, basis: string]>> = {
  "aml.token-missing": [
    "The client sends a check without a Bearer token",
    "Send the token as `Authorization: Bearer <token>`, and send no check without a token",
    "section 5, rules 1 and 4: every API request needs the token"
  ],
  "aml.token-unknown": [
    "The client sends a check with a token that the service did not issue",
    "Send the token of the token response, and send no check if there is none",
    "section 5, rule 4"
  ],
  "aml.body-not-json": ["The body of the check is not JSON", "Write the body with a JSON library", section],
  "aml.body-duplicate-key": ["The body of the check has a field twice", "Send each field once", section],
  "aml.query": inAddress,
  "aml.method": ["The client does not send the check as POST", "Use POST", "section 4.2: POST {base_url}/api/aml"],
  "path.unknown": [
    "The client calls a path that the document does not show",
    "Use {auth_url}/oauth/service and {base_url}/api/aml",
    "sections 4.1 and 4.2"
  ],
  "token.method": ["The client does not request the token as POST", "Use POST", "section 4.1"],
  "token.content-type": [
    "The token request does not have the type application/x-www-form-urlencoded",
    "Send this content type",
    "section 4.1, headers"
  ],
  "token.credentials": [
    "The token request does not have the customer's id and key as Basic",
    "Send `Authorization: Basic` and base64(customer_id:customer_key), without other changes, and the same pair as --customer if the test has it",
    "section 4.1, headers"
  ],
  "token.grant-type": [
    "The token request does not have grant_type=client_credentials",
    "Send grant_type=client_credentials in the body",
    "section 4.1, request body"
  ],
  "token.query": inAddress,
  "token.parameters": [
    "The token request authenticates twice, or repeats a parameter",
    "Send the credentials in the header only, and grant_type once",
    "RFC 6749, section 2.3: not more than one authentication method in a request"
  ]
}

const fields: Readonly<Record<string, readonly [text: string, change: string, basis: string]>> = {
  dob: [
    "The client does not send the date of birth as dd-mm-yyyy",
    "Send dob as dd-mm-yyyy, such as 14-03-1957",
    `${section}: dob, date of birth in the format dd-mm-yyyy`
  ],
  entity_type: [
    "The client sends another entity_type than person",
    "Send \"entity_type\": \"person\"",
    `${section}: entity_type must be person`
  ],
  name: ["The client sends no name", "Send the full name as text in the field name", `${section}: name`]
}

const otherField = [
  "The client sends a field that the document does not show",
  "Send entity_type, name and dob only",
  section
] as const

/** The requests break the document. */
export const requests: Judge = each((check) =>
  check.requests.filter((request) => redirecting(request, check) === undefined && !isOfEarlierRun(request)).flatMap((
    request
  ) => {
    const { facts, rule } = request.entry
    const wrong = ([text, change, basis]: readonly [string, string, string]) =>
      found("wrong", text, change, basis, request)
    if (facts.kind === "granted" && facts.isFormEncoded) {
      return [
        found(
          "risky",
          "The client form-encodes the id and the key before it encodes them as base64",
          "Encode them as they are",
          "section 4.1: base64 of customer_id, a colon, and customer_key",
          request
        )
      ]
    }
    if (rule === "aml.content-type") {
      return [
        found(
          "risky",
          "The client does not send the check as application/json",
          "Send Content-Type: application/json",
          "section 4.2, request body: a JSON object. The document does not show the content type",
          request
        )
      ]
    }
    if (facts.kind === "refused" && rule === "aml.body-invalid") {
      return facts.violations
        .filter(({ path }) => path !== "dob" || Persons.isPossible(check.person))
        .map(({ path }) => wrong(fields[path] ?? otherField))
    }
    const refusal = refusals[rule]
    return refusal === undefined ? [] : [wrong(refusal)]
  })
)

/** The client sends another name or another date than it received. */
export const persons: Judge = each((check) =>
  requestsTo("aml", check).flatMap((request) => {
    const { dateOfBirth, name } = request
    const expected = Persons.comparable(check.person.name)
    const sent = name === undefined ? expected : Persons.comparable(name)
    const isCase = sent.toLowerCase() === expected.toLowerCase()
    return [
      ...(sent === expected ? [] : [
        found(
          isCase ? "risky" : "wrong",
          isCase
            ? "The client changes the case of a name"
            : "The client sends a name other than the one it received",
          isCase
            ? "Keep upper and lower case"
            : "Send the name as it is, in UTF-8, with all of its words and characters",
          "section 4.2: name, full name of the person, including any middle names",
          request,
          [check.step]
        )
      ]),
      ...(dateOfBirth === undefined || dateOfBirth === check.person.dateOfBirth ? [] : [
        found(
          "wrong",
          "The client sends another date of birth than it received",
          "Rearrange the parts of the text. Do not convert the date between time zones, and keep the order dd-mm-yyyy",
          "section 4.2: dob, date of birth in the format dd-mm-yyyy",
          request,
          [check.step]
        )
      ])
    ]
  })
)
