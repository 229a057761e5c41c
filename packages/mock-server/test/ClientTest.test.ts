/** A client with each usual bug is found, and a good client is not accused. */
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, fail, match, strictEqual } from "node:assert"
import { inspect } from "node:util"
import * as ClientTest from "../src/ClientTest.ts"
import { basic, deadline, dob, good, json, make, type Parts } from "./support/foreignClient.ts"

const options = { deadline: 3 * deadline }

/** A client with a bug, the days that show it, and a part of the finding. */
type Row = readonly [bug: string, parts: Partial<Parts>, only: ReadonlyArray<string>, verdict: string, text: RegExp]

/** Sends a check again after these statuses and after a broken connection. */
const upTo = (attempts: number, isRetried: (status: number) => boolean): Parts["send"] => (attempt) => {
  const again = () => upTo(attempts - 1, isRetried)(attempt)
  return attempt().then(
    (response) => attempts > 1 && isRetried(response.status) ? again() : response,
    (error) => attempts > 1 ? again() : Promise.reject(error)
  )
}

const rows: ReadonlyArray<Row> = [
  [
    "clears a match",
    { read: () => Promise.resolve("clear"), check: (check) => check().catch(() => "error") },
    [
      "match"
    ],
    "error",
    /says clear for every person/
  ],
  [
    "clears all but a match",
    {
      read: (response) =>
        json(response).then((body) =>
          body.credentials?.attributes.match_found === "Potential match" ? "review" : "clear"
        )
    },
    ["errors"],
    "wrong",
    /the check failed: status 400, .*status 504/
  ],
  [
    "ignores the status",
    {
      read: (response, person) => good.read(new Response(response.body, { status: 200 }), person)
    },
    ["error-with-result"],
    "wrong",
    /ignores the status/
  ],
  [
    "clears what it cannot read",
    { read: (response, person) => good.read(response, person).catch(() => "clear") },
    [
      "no-result",
      "cut-response"
    ],
    "wrong",
    /without a result: an empty body, an HTML page/
  ],
  [
    "searches the text",
    {
      read: (response) =>
        response.text().then((text) =>
          !response.ok ? "error" : text.includes("\"match_found\":\"No\"") ? "clear" : "review"
        )
    },
    ["cut-response"],
    "wrong",
    /incomplete response: a body that is not complete JSON/
  ],
  [
    "ignores the person",
    {
      read: (response, { dateOfBirth }) =>
        json(response).then((body) =>
          good.read(response.ok ? Response.json(body) : response, {
            name: body.credentials?.attributes.name,
            dateOfBirth
          })
        )
    },
    ["other-person"],
    "wrong",
    /somebody else: another name/
  ],
  [
    "ignores the year",
    {
      read: (response, { name }) =>
        json(response).then((body) =>
          good.read(response.ok ? Response.json(body) : response, {
            name,
            dateOfBirth: String(body.credentials?.attributes.birth_year)
          })
        )
    },
    ["other-person", "other-year"],
    "risky",
    /another year of birth/
  ],
  [
    "reads results loosely",
    {
      read: (response, person) =>
        json(response).then((body) => {
          const attributes = body.credentials?.attributes
          if (/^no\b/i.test(String(attributes?.match_found))) attributes.match_found = "No"
          return good.read(response.ok ? Response.json(body) : response, person)
        })
    },
    ["unknown-result"],
    "wrong",
    /unlisted match_found: no in lower case$/
  ],
  [
    "ignores the kind of credential",
    {
      read: (response, person) =>
        json(response).then((body) =>
          good.read(response.ok ? Response.json({ ...body, credential_type: "aml" }) : response, person)
        )
    },
    ["other-credential"],
    "risky",
    /another kind of credential: credential_type identity/
  ],
  [
    "sends ISO dates",
    { body: ({ dateOfBirth: dob, name }) => JSON.stringify({ entity_type: "person", name, dob }) },
    [
      "match"
    ],
    "wrong",
    /date of birth as dd-mm-yyyy/
  ],
  [
    "sends another entity_type",
    {
      body: (person) => JSON.stringify({ entity_type: "individual", name: person.name, dob: dob(person) })
    },
    ["match"],
    "wrong",
    /another entity_type/
  ],
  [
    "swaps day and month",
    {
      body: ({ dateOfBirth, name }) => {
        const [year, month, day] = dateOfBirth.split("-")
        const isPossible = Number(day) < 13
        return JSON.stringify({
          entity_type: "person",
          name,
          dob: isPossible ? `${month}-${day}-${year}` : `${day}-${month}-${year}`
        })
      }
    },
    ["dates"],
    "wrong",
    /another date of birth/
  ],
  [
    "removes marks",
    {
      body: ({ dateOfBirth, name }) => good.body({ dateOfBirth, name: name.normalize("NFD").replaceAll(/\p{M}/gu, "") })
    },
    ["names"],
    "wrong",
    /a name other than the one it received: letters beyond ASCII, .*marks as separate/
  ],
  [
    "concatenates JSON",
    {
      body: (person) => `{"entity_type":"person","name":"${person.name}","dob":"${dob(person)}"}`
    },
    ["names"],
    "wrong",
    /is not JSON/
  ],
  [
    "encodes the key",
    {
      authorization: ({ customerKey, ...service }) =>
        basic({ ...service, customerKey: encodeURIComponent(customerKey) })
    },
    ["key"],
    "risky",
    /form-encodes/
  ],
  ["resends after 500", { send: upTo(3, (status) => status >= 500) }, ["errors"], "wrong", /again after status 5/],
  ["resends after a cut connection", { send: upTo(3, () => false) }, ["cut-response"], "wrong", /connection failed/],
  [
    "clears a name that it does not send",
    { check: (check, { name }) => /^[ -~]+$/.test(name) ? check() : Promise.resolve("clear") },
    ["names"],
    "wrong",
    /clears a person without a request/
  ],
  ["ignores Retry-After", { send: upTo(3, (status) => status === 429) }, ["retry-after"], "wrong", /before the time/],
  [
    "renews for ever",
    {
      send: upTo(4, (status) => status === 401)
    },
    ["refused-tokens"],
    "wrong",
    /a check more than 5 times/
  ],
  [
    "does not renew",
    {
      token: (kept, renew) => kept ?? renew()
    },
    ["refused-token", "expired-token"],
    "risky",
    /does not renew/
  ],
  ["requests a token for each check", { token: (_, renew) => renew() }, ["token-reuse"], "risky", /a token for each/],
  [
    "has no deadline",
    { fetch: (url, init) => fetch(url, { ...init, redirect: "manual" }) },
    [
      "hang",
      "hang-body",
      "hang-token"
    ],
    "wrong",
    /no deadline/
  ],
  [
    "follows redirects",
    {
      fetch: (url, init) =>
        good.fetch(url, init).then((response) => {
          const location = response.headers.get("location")
          return location === null ? response : good.fetch(location, init)
        })
    },
    ["redirect"],
    "wrong",
    /another host with its credentials/
  ],
  [
    "logs the token",
    {
      fetch: (url, init) =>
        good.fetch(url, init).then((response) =>
          response.ok ? response : Promise.reject(new Error(inspect(init.headers)))
        )
    },
    ["errors"],
    "wrong",
    /the access token to its error output/
  ],
  [
    "logs the person",
    {
      check: (check, person) => check().catch(() => Promise.reject(new Error(`no result for ${person.name}`)))
    },
    ["token-errors"],
    "wrong",
    /the name or the date of birth of a person to its error output/
  ]
]

describe("The test of a client", () => {
  it("does not accuse a good client", () =>
    ClientTest.run(make({}), { ...options, parallel: 8 }).then(({ days, findings }) => {
      deepStrictEqual(findings, [])
      deepStrictEqual(days.filter(({ verdict }) => verdict === "not tested").map(({ word }) => word), ["tipping-off"])
    }))

  it.each(rows)("finds a client that %s", (_, parts, only, verdict, text) => {
    // Only a client without a deadline is waited for.
    const deadline = only.includes("hang") ? 1000 : options.deadline
    return ClientTest.run(make(parts), { deadline, only }).then(
      ({ findings }) => {
        const finding = findings.find(({ steps, text: found }) => text.test(`${found}: ${steps.join(", ")}`))
        if (finding === undefined) fail(JSON.stringify(findings, undefined, 2))
        strictEqual(finding.verdict, verdict)
      },
      (error: unknown) => match(String(error), text)
    )
  })
})
