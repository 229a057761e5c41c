/** A client with each usual bug is found, and a good client is not accused. */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { deepStrictEqual, fail, match, rejects, strictEqual } from "node:assert"
import { setTimeout as delay } from "node:timers/promises"
import { inspect } from "node:util"
import { sample } from "../../core/test/support/cases.ts"
import { withLongerLimits } from "../../core/test/support/eventually.ts"
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

/** Sends a check again after the time in `Retry-After`. */
const patient: Parts["send"] = (attempt) =>
  attempt().then((response) => {
    const seconds = Number(response.headers.get("retry-after"))
    return response.status !== 429
      ? response
      : delay(seconds * 1000, undefined, { ref: false }).then(() => patient(attempt))
  })

/** Keeps something for each key, for ever and for all customers. */
const keep = <A>() => {
  const kept = new Map<string, Promise<A>>()
  return (key: string, make: () => Promise<A>) => {
    const value = kept.get(key) ?? make()
    kept.set(key, value)
    return value
  }
}

const [keepOutcome, keepToken] = [keep<"clear" | "review" | "error">(), keep<string>()]

/** Returns the result of the check that runs. */
const shareRunning = (): Parts["check"] => {
  let running: ReturnType<Parameters<Parts["check"]>[0]> | undefined
  return (check) => {
    running ??= check().finally(() => running = undefined)
    return running
  }
}

/** Begins each check 60 ms after the one before: their token requests overlap only if a token response takes longer. */
const staggered = (): Parts["check"] => {
  let number = 0
  return (check) => delay(60 * number++).then(check)
}

const send = (dateOf: (dateOfBirth: string) => string): Parts["body"] => ({ dateOfBirth, name }) =>
  good.body({ name, dateOfBirth: dateOf(dateOfBirth) })

const rows: ReadonlyArray<Row> = [
  [
    "authenticates twice, and has a default result",
    {
      tokenBody: ({ customerId, customerKey }) =>
        `grant_type=client_credentials&client_id=${customerId}&client_secret=${customerKey}`,
      read: (response, person) =>
        json(response).then((body) => {
          const attributes = body.credentials?.attributes
          if (attributes !== undefined) attributes.match_found ||= "No"
          return good.read(response.ok ? Response.json(body) : response, person)
        })
    },
    ["no-result"],
    "wrong",
    /without a result: match_found missing, match_found null, match_found ""$/
  ],
  [
    "authenticates in the body only, and follows redirects",
    {
      authorization: () => "none",
      tokenBody: ({ customerId, customerKey }) =>
        `grant_type=client_credentials&client_id=${customerId}&client_secret=${customerKey}`,
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
    "clears a person whose check the service refuses",
    {
      body: ({ dateOfBirth: dob, name }) => JSON.stringify({ entity_type: "person", name, dob }),
      read: (response, person) => response.status === 422 ? Promise.resolve("clear") : good.read(response, person)
    },
    ["names"],
    "wrong",
    /clears a person although the check failed/
  ],
  [
    "clears after a 429",
    { read: (response, person) => response.status === 429 ? Promise.resolve("clear") : good.read(response, person) },
    ["retry-after"],
    "wrong",
    /clears a person although the check failed/
  ],
  [
    "sends a week-based year",
    { body: send((date) => date.replace(/^(\d+)-12-(29|3.)$/, (_, year, day) => `${Number(year) + 1}-12-${day}`)) },
    ["dates"],
    "wrong",
    /another date of birth than it received: 1997-12-29, 1996-12-30/
  ],
  [
    "corrects an impossible date",
    { body: send((date) => new Date(`${date}T00:00Z`).toISOString().slice(0, 10)) },
    ["impossible-date"],
    "wrong",
    /another date of birth than it received: 30 February/
  ],
  [
    "keeps results by name",
    { check: (check, { name }) => keepOutcome(name, check) },
    ["same-name"],
    "wrong",
    /clears a person without a request: the same name and another date of birth/
  ],
  [
    "repeats a match without middle names",
    {
      body: (person) => good.body({ ...person, name: person.name.replace(/ .* /, " ") })
    },
    ["match"],
    "wrong",
    /a name other than the one it received: a potential match with middle names/
  ],
  [
    "sends the person in a header",
    {
      fetch: (url, init) =>
        good.fetch(url, {
          ...init,
          headers: { ...init.headers as Record<string, string>, "x-trace": encodeURIComponent(String(init.body)) }
        })
    },
    ["match"],
    "risky",
    /a header other than Authorization/
  ],
  [
    "sends the person in the address",
    { fetch: (url, init) => good.fetch(`${url}?trace=${encodeURIComponent(String(init.body))}`, init) },
    ["match"],
    "wrong",
    /a person in the address/
  ],
  [
    "uses token_type as it comes",
    { bearer: ({ access_token, token_type }) => `${token_type} ${access_token}` },
    ["token-type"],
    "wrong",
    /without a Bearer token/
  ],
  ["waits for an hour", { send: patient }, ["retry-after-hour"], "risky", /waits for a long Retry-After/],
  [
    "does not share a token request",
    {
      token: (kept, renew) => Promise.race([kept, Promise.resolve(undefined)]).then((token) => token ?? renew()),
      check: staggered()
    },
    ["simultaneous"],
    "risky",
    /more than 3 tokens for 10 simultaneous checks/
  ],
  [
    "shares one result among simultaneous checks",
    { check: shareRunning() },
    ["simultaneous"],
    "wrong",
    /without a request: .*a potential match among/
  ],
  [
    "keeps the token of another customer",
    { token: (_, renew) => keepToken("token", renew) },
    ["match"],
    "wrong",
    /the token of another customer/
  ],
  [
    "reports errors as matches",
    { read: (response, person) => response.ok ? good.read(response, person) : Promise.resolve("review") },
    ["errors"],
    "risky",
    /a failed check as a potential match: status 400/
  ],
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
  [
    "resends after 500",
    { send: upTo(3, (status) => status >= 500) },
    ["errors"],
    "wrong",
    /may bill twice: status 500, status 502, status 504$/
  ],
  [
    "resends after a cut connection",
    { send: upTo(3, () => false) },
    ["cut-response"],
    "wrong",
    /may bill twice: a connection that is reset/
  ],
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
    "repeats a refused token",
    { send: upTo(2, (status) => status === 401), token: (kept, renew) => kept ?? renew() },
    ["refused-tokens"],
    "risky",
    /a refused token again and again/
  ],
  [
    "does not compare first names",
    {
      read: (response, person) =>
        json(response).then((body) => {
          const attributes = body.credentials?.attributes
          const [last] = person.name.split(" ").slice(-1)
          if (last !== undefined && String(attributes?.name).endsWith(` ${last}`)) attributes.name = person.name
          return good.read(response.ok ? Response.json(body) : response, person)
        })
    },
    ["other-person"],
    "wrong",
    /somebody else: another first name$/
  ],
  [
    "does not renew",
    {
      token: (kept, renew) => kept ?? renew()
    },
    ["refused-token", "expired-token"],
    "risky",
    /does not renew the token after a 401: each check/
  ],
  ["requests a token for each check", { token: (_, renew) => renew() }, ["token-reuse"], "risky", /although it has a/],
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

const isWaiting = (word: string) => /^hang|hour/.test(word)

describe("The test of a good client", () => {
  // A deadline of the client would measure the machine.
  it("finds nothing", () =>
    ClientTest.run(make({ fetch: (url, init) => fetch(url, { ...init, redirect: "manual" }) }), {
      only: ClientTest.days.map(({ word }) => word).filter((word) => !isWaiting(word)),
      deadline: "2 minutes",
      parallel: 8
    }).then(({ days, findings }) => {
      deepStrictEqual(findings, [])
      deepStrictEqual(days.filter(({ reason }) => reason !== undefined), [])
    }))

  it("finds nothing on the days without a response", () =>
    ClientTest.run(make({}), {
      only: ClientTest.days.map(({ word }) => word).filter(isWaiting),
      deadline: "2 minutes"
    }).then(({ findings }) => deepStrictEqual(findings, [])))
})

describe("The test of a client", { concurrent: true }, () => {
  it.each(sample(rows, 4))("finds a client that %s", (_, parts, only, verdict, text) => {
    const find = (deadline: number): Promise<void> =>
      ClientTest.run(make(parts), { deadline, only }).then(
        ({ findings }) => {
          const finding = findings.find(({ steps, text: found }) => text.test(`${found}: ${steps.join(", ")}`))
          if (finding === undefined) fail(JSON.stringify(findings, undefined, 2))
          strictEqual(finding.verdict, verdict)
        },
        (error: unknown) => match(String(error), text)
      )
    // A client without a deadline is waited for. If other checks were not in time on a busy machine, it waits longer.
    const isWaitedFor = only.includes("hang") || only.includes("retry-after-hour")
    return isWaitedFor
      ? Effect.runPromise(withLongerLimits(2000, (deadline) => Effect.promise(() => find(deadline)), 32_000))
      : find(options.deadline)
  })

  it("does not accuse a client that reports a 401 and renews the token for the next check", () =>
    ClientTest.run(
      make({
        token: (kept, renew, refused) =>
          refused === undefined ? kept ?? renew() : renew().then(() => Promise.reject(new Error("401")))
      }),
      {
        ...options,
        only: ["refused-token", "expired-token", "refused-tokens"]
      }
    ).then(({ findings }) => deepStrictEqual(findings, [])))

  it("rejects an unknown day, and one that cannot test a function", () =>
    Promise.all([
      rejects(ClientTest.run(make({}), { only: ["matches"] }), /only is invalid/),
      rejects(ClientTest.expectGood(make({}), "tipping-off"), /not tested: only the response of a backend/)
    ]))
})
