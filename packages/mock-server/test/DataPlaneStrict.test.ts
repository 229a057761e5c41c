/** Requests that two readers could understand differently, or that have more than the document allows. */
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Layer } from "effect"
import { parse, send, token } from "./support/rawClient.ts"

type Lines = ReadonlyArray<string>

const form = "grant_type=client_credentials"
const person = { entity_type: "person", name: "Zoë Canary", dob: "01-02-1990" }

/** Sends the request exactly as written, with the headers in their order. */
const ask = (line: string, headers: Lines, body: string | Uint8Array) =>
  Effect.gen(function*() {
    const { url } = yield* MockServer.MockServer
    const bytes = Buffer.from(body)
    const framing = headers.some((header) => /^transfer-encoding/i.test(header))
      ? []
      : [`Content-Length: ${bytes.length}`]
    const head = [`${line} HTTP/1.1`, "Connection: close", ...headers, ...framing, "", ""].join("\r\n")
    const answer = parse(yield* send(url, Buffer.concat([Buffer.from(head), bytes]), 60_000))
    const { session, unmatchedRequests } = yield* Control.Control
    const journals = [yield* session("demo-customer").journal(), yield* unmatchedRequests()]
    const entry = journals.flatMap(({ entries }) => entries).toSorted((one, other) => one.id - other.id).at(-1)
    return { ...answer, text: answer.body.toString(), entry }
  })

const host = "Host: localhost"
const credentials = `Authorization: Basic ${Buffer.from("demo-customer:demo-key").toString("base64")}`
const formType = "Content-Type: application/x-www-form-urlencoded"
const jsonType = "Content-Type: application/json"

const tokenRequest = (headers: Lines = [host, credentials, formType], query = "", body: string | Uint8Array = form) =>
  ask(`POST /oauth/service${query}`, headers, body)

const issued = Effect.flatMap(MockServer.MockServer, ({ url }) => token(url, "demo-customer", "demo-key"))

const check = (
  headers: (authorization: string) => Lines = (authorization) => [host, authorization, jsonType],
  query = "",
  body: unknown = person
) =>
  Effect.flatMap(issued, (token) =>
    ask(
      `POST /api/aml${query}`,
      headers(`Authorization: Bearer ${token}`),
      typeof body === "string" ? body : JSON.stringify(body)
    ))

const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

const server = Layer.merge(MockServer.layerTest, NodeHttpClient.layerUndici)

layer(server, { excludeTestServices: true })("The data plane", (it) => {
  describe("refuses with 400 a request that has", () => {
    it.effect.each<[string, Lines, string]>([
      ["two equal Authorization headers", [host, credentials, credentials, formType], "Authorization"],
      ["another Authorization before", [host, "authorization: Bearer x", credentials, formType], "Authorization"],
      ["another Authorization after", [host, credentials, formType, "AUTHORIZATION: Bearer x"], "Authorization"],
      ["another Content-Type after", [host, credentials, formType, jsonType], "Content-Type"],
      ["another Content-Type before", [host, jsonType, credentials, formType], "Content-Type"],
      ["two Host headers", [host, credentials, formType, "Host: elsewhere"], "Host"]
    ])("%s, at the token endpoint", ([, headers, name]) =>
      Effect.gen(function*() {
        const { entry, status, text } = yield* tokenRequest(headers)
        strictEqual(status, 400)
        strictEqual(JSON.parse(text).error, "invalid_request")
        const why = `The request has more than one ${name} header`
        strictEqual(JSON.parse(text).error_description, why)
        deepStrictEqual([entry?.rule, entry?.why, entry?.unexpected], ["token.headers", why, true])
      }))

    it.effect.each<[string, (authorization: string) => Lines, string]>([
      ["two Authorization headers", (own) => [host, own, credentials, jsonType], "Authorization"],
      ["two equal Authorization headers", (own) => [host, own, own, jsonType], "Authorization"],
      ["two Content-Type headers", (own) => [host, own, jsonType, jsonType], "Content-Type"],
      ["two Host headers", (own) => [host, host, own, jsonType], "Host"]
    ])("%s, at the AML endpoint", ([, headers, name]) =>
      Effect.gen(function*() {
        const { entry, status, text } = yield* check(headers)
        strictEqual(status, 400)
        assertInclude(text, `more than one ${name} header`)
        deepStrictEqual([entry?.rule, entry?.unexpected], ["aml.headers", true])
        strictEqual(entry?.why, `The request has more than one ${name} header`)
      }))

    it.effect.each([
      "u:p@localhost",
      "localhost/path",
      "localhost:port",
      "local host",
      "localhost?x",
      "<script>",
      "localhost:99999"
    ])("the invalid Host %s, at both endpoints, and no address has it", (name) =>
      Effect.gen(function*() {
        const invalid = `Host: ${name}`
        const why = "The Host header must be a host name with an optional port"
        const refused = yield* tokenRequest([invalid, credentials, formType])
        deepStrictEqual([refused.status, refused.entry?.rule, refused.entry?.why], [400, "token.headers", why])
        const checked = yield* check((own) => [invalid, own, jsonType])
        deepStrictEqual([checked.status, checked.entry?.rule, checked.entry?.why], [400, "aml.headers", why])
        strictEqual(`${refused.text}${checked.text}`.includes(name), false)
      }))

    it.effect.each<[string, string, string]>([
      ["a repeated parameter", `${form}&scope=a&scope=b`, "A parameter occurs more than once"],
      [
        "the credentials twice",
        `${form}&client_id=demo-customer&client_secret=demo-key`,
        "The credentials came twice: send them in the Authorization header only"
      ],
      [
        "an assertion beside the credentials",
        `${form}&client_assertion=canary`,
        "The credentials came twice: send them in the Authorization header only"
      ],
      ["broken percent-encoding", `${form}&scope=%zz`, "The percent-encoding of the body is invalid"],
      ["percent-encoding that is not UTF-8", `${form}&scope=%ff`, "The percent-encoding of the body is invalid"]
    ])("%s, in the body of a token request", ([, body, why]) =>
      Effect.gen(function*() {
        const { entry, status, text } = yield* tokenRequest([host, credentials, formType], "", body)
        deepStrictEqual([status, JSON.parse(text).error, entry?.rule, entry?.why], [
          400,
          "invalid_request",
          "token.parameters",
          why
        ])
      }))

    it.effect.each<[string, Lines, string, string]>([
      [
        "a Bearer token",
        [host, "Authorization: Bearer x", formType],
        "/oauth/service",
        "The Authorization header must be Basic with a known customer_id and its key: an Authorization header came, but with Bearer"
      ],
      [
        "no credentials",
        [host, formType],
        "/oauth/service",
        "The Authorization header must be Basic with a known customer_id and its key: it is missing"
      ],
      [
        "Basic that is not encoded",
        [host, "Authorization: Basic demo-customer:canary", formType],
        "/oauth/service",
        "The Authorization header must be Basic with a known customer_id and its key: the Basic credentials are not Base64: send base64(id:key)"
      ],
      [
        "Basic credentials",
        [host, credentials, jsonType],
        "/api/aml",
        "An Authorization header came, but with Basic: send the token as Bearer"
      ],
      [
        "a bare token",
        [host, "Authorization: canary", jsonType],
        "/api/aml",
        "An Authorization header came, but without the scheme Bearer: send Bearer and the token"
      ],
      ["no token", [host, jsonType], "/api/aml", "A bearer token is required"]
    ])("says in the request's own words what is wrong with %s", ([, headers, path, why]) =>
      Effect.gen(function*() {
        const { entry, status, text } = yield* ask(`POST ${path}`, headers, form)
        deepStrictEqual([status, entry?.why], [401, why])
        assertInclude(text, why)
        strictEqual(text.includes("canary"), false)
      }))

    it.effect.each<[unknown, string]>([
      [null, "dob is null: expected a text such as 14-03-1957"],
      [14031957, "dob is invalid: expected a text such as 14-03-1957"]
    ])("says what a date of birth must be instead of %j", ([dob, why]) =>
      Effect.gen(function*() {
        const { entry, status, text } = yield* check(undefined, "", { ...person, dob })
        deepStrictEqual([status, entry?.why], [422, why])
        assertInclude(text, "expected a text such as 14-03-1957")
      }))

    it.effect.each<[string, string]>([
      ["\u200b", "a name with a visible letter"],
      ["\u3164", "a name with a visible letter"],
      ["7", "a name with a visible letter"],
      ["Zoë\u0000Canary", "a name without control characters"],
      ["Zoë\nCanary", "a name without control characters"],
      ["Zoë Canary\ud800", "a name without half of a surrogate pair"],
      ["Zoë ".repeat(64), "a name of at most 255 characters"]
    ])("refuses the name %j, or checks it with the profile's variant", ([name, expected]) =>
      Effect.gen(function*() {
        const { entry, status, text } = yield* check(undefined, "", { ...person, name })
        deepStrictEqual([status, entry?.rule, entry?.why], [
          422,
          "aml.body-invalid",
          `name is invalid: expected ${expected}`
        ])
        strictEqual(text.includes("Canary"), false)
        const { session } = yield* Control.Control
        yield* session("demo-customer").changeProfile({ damagedName: "answered" })
        const answered = yield* Effect.ensuring(
          check(undefined, "", { ...person, name }),
          Effect.ignore(session("demo-customer").changeProfile({ damagedName: "refused" }))
        )
        strictEqual(answered.status, 200)
      }))

    it.effect.each<[string, Lines, string]>([
      ["two Content-Length", [host, credentials, formType, "Content-Length: 29"], form],
      ["two Transfer-Encoding", [host, credentials, formType, ...Array(2).fill("Transfer-Encoding: chunked")], "x"],
      ["chunked twice", [host, credentials, formType, "Transfer-Encoding: chunked, chunked"], "x"],
      ["a transfer coding that is not decoded", [host, credentials, formType, "Transfer-Encoding: gzip, chunked"], "x"],
      [
        "such a coding in a header of its own",
        [host, credentials, formType, "Transfer-Encoding: gzip", "Transfer-Encoding: chunked"],
        "x"
      ]
    ])("%s", ([, headers, body]) =>
      Effect.gen(function*() {
        strictEqual((yield* tokenRequest(headers, "", body === form ? form : chunked(form))).status, 400)
      }))

    it.effect("two Host headers, on an unknown path and on the control API", () =>
      Effect.gen(function*() {
        const { entry, status } = yield* ask("GET /aml-profiles/x", [host, "Host: elsewhere"], "")
        deepStrictEqual([status, entry?.rule, entry?.why, entry?.claims], [
          400,
          "request.headers",
          "The request has more than one Host header",
          []
        ])
        strictEqual((yield* ask("GET /_mock/sessions", [host, "Host: elsewhere"], "")).status, 400)
        strictEqual((yield* ask("GET /_mock/sessions", [host], "")).status, 200)
      }))
  })

  it.effect("accepts a chunked body", () =>
    Effect.gen(function*() {
      const headers = [host, credentials, formType, "Transfer-Encoding: Chunked"]
      strictEqual((yield* tokenRequest(headers, "", chunked(form))).status, 200)
    }))

  it.effect.each<[string, string]>([
    ["?grant_type=client_credentials", ""],
    ["?grant_type=client_credentials", form],
    ["?tenant=a&%67rant_type=client_credentials", form],
    ["?client_id=canary", form],
    ["?client_secret=canary", form],
    ["?client_assertion=canary", form],
    ["?client_assertion_type=canary", form],
    ["?scope=aml", form]
  ])("refuses the query %s of a token request, with the body %o", ([query, body]) =>
    Effect.gen(function*() {
      const { entry, status, text } = yield* tokenRequest(undefined, query, body)
      deepStrictEqual([status, JSON.parse(text).error], [400, "invalid_request"])
      strictEqual(entry?.rule, "token.query")
      assertInclude(entry?.why, "must be in the body, and not in the query")
      strictEqual(text.includes("canary"), false)
    }))

  it.effect("refuses a body that begins with a question mark, and accepts a query without OAuth parameters", () =>
    Effect.gen(function*() {
      const { status, text } = yield* tokenRequest(undefined, "", `?${form}`)
      deepStrictEqual([status, JSON.parse(text).error], [400, "invalid_request"])
      strictEqual((yield* tokenRequest(undefined, "?tenant=a&grant_types=b")).status, 200)
    }))

  it.effect.each(["?name=Canary", "?dob=01-02-1990&x", "?entity_type=person", "?access_token=canary"])(
    "refuses the query %s of a check",
    (query) =>
      Effect.gen(function*() {
        const { entry, status, text } = yield* check(undefined, query)
        strictEqual(status, 400)
        strictEqual(entry?.rule, "aml.query")
        assertInclude(entry?.why, "must not be in the query")
        strictEqual(/canary|1990/i.test(text), false)
      })
  )

  it.effect.each<[string, number]>([
    ["gzip", 415],
    ["GZip", 415],
    ["br", 415],
    ["x-unknown", 415],
    ["identity, gzip", 415],
    ["identity", 200],
    ["Identity , identity", 200],
    ["", 200]
  ])("responds to a body with Content-Encoding: %s with %d", ([coding, expected]) =>
    Effect.gen(function*() {
      const header = `Content-Encoding: ${coding}`
      const granted = yield* tokenRequest([host, credentials, formType, header])
      const checked = yield* check((authorization) => [host, authorization, jsonType, header])
      deepStrictEqual([granted.status, checked.status], [expected, expected])
      if (expected === 200) return
      for (const { entry, headers } of [granted, checked]) {
        strictEqual(headers["accept-encoding"], "identity")
        assertInclude(entry?.rule, "content-encoding")
        strictEqual(entry?.why, "The body may not have a content coding")
      }
    }))

  it.effect("refuses a second Content-Encoding header too", () =>
    Effect.gen(function*() {
      const headers = [host, credentials, formType, "Content-Encoding: identity", "Content-Encoding: gzip"]
      strictEqual((yield* tokenRequest(headers)).status, 415)
    }))

  it.effect("reports a duplicate key with its path, and no other key in the journal", () =>
    Effect.gen(function*() {
      const body = "{\"entity_type\":\"person\",\"name\":\"Canary\",\"n\\u0061me\":\"B\",\"dob\":\"01-02-1990\"," +
        "\"Canary\":1,\"Canary\":2}"
      const { entry, status, text } = yield* check(undefined, "", body)
      strictEqual(status, 400)
      const { detail, errors } = JSON.parse(text)
      strictEqual(detail, "The body has a duplicate key")
      const reason = "invalid: expected each key once in an object: this is a duplicate key"
      deepStrictEqual(errors, [{ path: "name", reason }, { path: "Canary", reason }])
      strictEqual(entry?.rule, "aml.body-duplicate-key")
      assertInclude(entry?.why, "name is invalid: expected each key once in an object: this is a duplicate key")
      strictEqual(JSON.stringify(entry).includes("Canary"), false)

      const cut = yield* check(undefined, "", body.slice(0, -1))
      deepStrictEqual([cut.status, cut.entry?.rule], [400, "aml.body-not-json"])
    }))
})

layer(server, { excludeTestServices: true })("A date of birth", (it) => {
  const born = (dob: string) => check(undefined, "", { ...person, dob })

  it.effect("in the future is refused, with its path and the reason but not the date", () =>
    Effect.gen(function*() {
      const { entry, status, text } = yield* born("01-01-9999")
      strictEqual(status, 422)
      deepStrictEqual(JSON.parse(text).errors, [
        { path: "dob", reason: "invalid: expected a day that has begun, by the clock of the session" }
      ])
      strictEqual(text.includes("9999"), false)
      deepStrictEqual([entry?.rule, entry?.why, entry?.unexpected], [
        "aml.body-invalid",
        "dob is invalid: expected a day that has begun, by the clock of the session",
        true
      ])
    }))

  it.effect("is in the future if its day has begun nowhere on earth, by the session's clock", () =>
    Effect.gen(function*() {
      const { session } = yield* Control.Control
      const { setTime } = session(Session.demoCustomer.customerId)
      const statuses = (...dates: ReadonlyArray<string>) =>
        Effect.map(Effect.forEach(dates, born), (answers) => answers.map(({ status }) => status))
      yield* setTime("2026-03-13T09:59:59Z")
      deepStrictEqual(yield* statuses("13-03-2026", "14-03-2026"), [200, 422])
      yield* setTime("2026-03-13T10:00:00Z")
      deepStrictEqual(yield* statuses("14-03-2026", "15-03-2026", "01-01-0001"), [200, 422, 200])
      yield* setTime("1980-01-01")
      deepStrictEqual(yield* statuses("01-02-1990", "31-12-1979"), [422, 200])
      yield* setTime("9999-12-31T23:59:59Z")
      deepStrictEqual(yield* statuses("31-12-9999"), [200])
    }))
})
