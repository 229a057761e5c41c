import { Control, MockServer } from "@effect-idv/mock-server"
import { Headers, HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Layer } from "effect"
import * as AmlEndpoint from "../src/internal/service/amlEndpoint.ts"

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`
const form = "application/x-www-form-urlencoded"

const request = (
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  headers: Record<string, string> = {},
  body: string | Uint8Array = ""
) =>
  Effect.gen(function*() {
    const { url } = yield* MockServer.MockServer
    const { "content-type": contentType = "", ...others } = headers
    const response = yield* HttpClientRequest.make(method)(`${url}${path}`).pipe(
      HttpClientRequest.setHeaders(others),
      method === "GET"
        ? (request) => request
        : HttpClientRequest.bodyUint8Array(Buffer.from(body), contentType),
      HttpClient.execute
    )
    const text = yield* response.text
    return { status: response.status, headers: response.headers, text }
  })

const tokenRequest = (changes: Record<string, string> = {}, body = "grant_type=client_credentials") =>
  request("POST", "/oauth/service", {
    authorization: basic("demo-customer:demo-key"),
    "content-type": form,
    ...changes
  }, body)

const accessToken = Effect.map(tokenRequest(), ({ text }): string => JSON.parse(text).access_token)

const person = { entity_type: "person", name: "Ada Testclear", dob: "01-02-1960" }

const amlRequest = (body: unknown, changes: Record<string, string> = {}) =>
  Effect.flatMap(accessToken, (token) =>
    request(
      "POST",
      "/api/aml",
      { authorization: `Bearer ${token}`, "content-type": "application/json", ...changes },
      typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
    ))

const layers: ReadonlyArray<
  readonly [
    string,
    Layer.Layer<MockServer.MockServer | Control.Control | HttpClient.HttpClient, MockServer.MockServerError>
  ]
> = [
  ["on a socket", Layer.merge(MockServer.layerTest, NodeHttpClient.layerUndici)],
  ["in process", MockServer.layerHttpClient]
]

describe("The address of a profile", () => {
  it.each<[Record<string, string>, string]>([
    [{ host: "mock.test:4010" }, "http://mock.test:4010/aml-profiles/x"],
    [{}, "http://localhost/aml-profiles/x"]
  ])("for the headers %j is %s", (headers, expected) => {
    strictEqual(AmlEndpoint.profileUrl({ headers: Headers.fromInput(headers), isSecure: false }, "x"), expected)
  })
})

describe.each(layers)("The data plane %s", (_, layer) => {
  it.layer(layer)((it) => {
    it.effect("leaves the connection open after a response that is falsely declared as compressed", () =>
      Effect.gen(function*() {
        const { session } = yield* Control.Control
        const { clearFaults, fault } = session("demo-customer")
        const token = yield* accessToken
        yield* fault("aml:falseGzip")
        const { url } = yield* MockServer.MockServer
        const { headers } = yield* HttpClientRequest.post(`${url}/api/aml`).pipe(
          HttpClientRequest.bearerToken(token),
          HttpClientRequest.bodyUnsafeJson(person),
          HttpClient.execute,
          Effect.ensuring(Effect.ignore(clearFaults))
        )
        deepStrictEqual(
          [headers["content-encoding"], headers["connection"] ?? "keep-alive"],
          ["gzip", "keep-alive"]
        )
      }))

    describe("POST /oauth/service", () => {
      it.effect("returns a token with headers that forbid caching", () =>
        Effect.gen(function*() {
          const { headers, status, text } = yield* tokenRequest()
          strictEqual(status, 200)
          strictEqual(headers["content-type"], "application/json")
          strictEqual(headers["cache-control"], "no-store")
          const { access_token, ...rest } = JSON.parse(text)
          strictEqual(typeof access_token, "string")
          deepStrictEqual(rest, { token_type: "Bearer", expires_in: 3600 })
        }))

      it.effect("returns a new token each time", () =>
        Effect.gen(function*() {
          const [one, other] = yield* Effect.all([accessToken, accessToken])
          strictEqual(one === other, false)
        }))

      it.effect.each<[string, Record<string, string>]>([
        ["no authorization", { authorization: "" }],
        ["a wrong key", { authorization: basic("demo-customer:wrong") }],
        ["a wrong customer", { authorization: basic("nobody:demo-key") }],
        ["an empty key", { authorization: basic("demo-customer:") }],
        ["no colon", { authorization: basic("demo-customer") }],
        ["no base64", { authorization: "Basic ???" }],
        ["another scheme", { authorization: "Bearer demo-key" }]
      ])("401 invalid_client for %s", ([, headers]) =>
        Effect.gen(function*() {
          const { headers: answered, status, text } = yield* tokenRequest(headers)
          strictEqual(status, 401)
          strictEqual(JSON.parse(text).error, "invalid_client")
          assertInclude(answered["www-authenticate"], "Basic ")
          strictEqual(answered["cache-control"], "no-store")
        }))

      it.effect.each([
        ["", "invalid_request"],
        ["grant_type=", "invalid_request"],
        ["scope=aml", "invalid_request"],
        ["grant_type=client_credentials&grant_type=client_credentials", "invalid_request"],
        ["grant_type=password", "unsupported_grant_type"],
        ["grant_type=Client_Credentials", "unsupported_grant_type"]
      ])("400 for the body %o: %s", ([body, error]) =>
        Effect.gen(function*() {
          const { status, text } = yield* tokenRequest({}, body)
          deepStrictEqual([status, JSON.parse(text).error], [400, error])
        }))

      it.effect.each<[string, number]>([
        [form, 200],
        ["APPLICATION/X-WWW-FORM-URLENCODED; Charset=\"UTF-8\"", 200],
        ["application/json", 415],
        ["application/x-www-form-urlencoded; q=1;", 200],
        ["application/x-www-form-urlencoded-not", 415],
        ["application/x-www-form-urlencoded; charset=latin1", 415]
      ])("responds to the content type %s with %d", ([contentType, expected]) =>
        Effect.gen(function*() {
          strictEqual((yield* tokenRequest({ "content-type": contentType })).status, expected)
        }))

      it.effect.each(["basic", "BASIC", "Basic "])(
        "the scheme %o is known in any case",
        (scheme) =>
          Effect.gen(function*() {
            const authorization = basic("demo-customer:demo-key").replace("Basic", scheme)
            strictEqual((yield* tokenRequest({ authorization })).status, 200)
          })
      )
    })

    describe("POST /api/aml", () => {
      it.effect.each([
        ["Ada Testclear", "No"],
        ["Zoë TESTPEP", "Potential match"],
        ["Иван testsanc", "Potential match"],
        ["Testpep Somebody", "No"],
        ["Grace Hopper", "No"],
        ["王", "No"]
      ])("%s: %s", ([name, matchFound]) =>
        Effect.gen(function*() {
          const { url } = yield* MockServer.MockServer
          const { headers, status, text } = yield* amlRequest({ ...person, name })
          strictEqual(status, 200)
          strictEqual(headers["content-type"], "application/json")
          const { credentials: { attributes: { aml_profile, searched_on, ...attributes } }, ...rest } = JSON.parse(text)
          deepStrictEqual(rest, {
            credential_type: "aml",
            credential_name: "AML",
            issued_by: "Mock Identity Verification Service",
            issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
            cred_version: "1.0"
          })
          deepStrictEqual(attributes, { name, birth_year: "1960", match_found: matchFound })
          strictEqual(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(searched_on), true)
          strictEqual(String(aml_profile).startsWith(`${url}/`), true)
        }))

      it.effect("serves a page at aml_profile that shows the search, escaped", () =>
        Effect.gen(function*() {
          const { url } = yield* MockServer.MockServer
          const { text } = yield* amlRequest({ ...person, name: "<b>\"Zoë\"</b> Testpep" })
          const profile: string = JSON.parse(text).credentials.attributes.aml_profile
          const page = yield* request("GET", profile.slice(url.length))
          strictEqual(page.status, 200)
          assertInclude(page.headers["content-type"], "text/html")
          assertInclude(page.headers["content-security-policy"], "default-src 'none'")
          assertInclude(page.text, "&lt;b&gt;&quot;Zoë&quot;&lt;/b&gt; Testpep")
          assertInclude(page.text, "Potential match")
          assertInclude(page.text, " (by the mock&#39;s clock)")
          strictEqual(page.text.includes("<b>"), false)
          strictEqual((yield* request("GET", `${profile.slice(url.length)}0`)).status, 404)
        }))

      it.effect.each<[string, Record<string, string>, boolean]>([
        ["no token", { authorization: "" }, false],
        ["another scheme", { authorization: basic("demo-customer:demo-key") }, false],
        ["the token under another scheme", { authorization: "Token abc" }, false],
        ["a token that was never issued", { authorization: "Bearer abc" }, true],
        ["a token that only looks issued", { authorization: "Bearer ZGVtby1jdXN0b21lcg.0000" }, true]
      ])("401 for %s", ([, headers, isInvalid]) =>
        Effect.gen(function*() {
          const answer = yield* amlRequest(person, headers)
          strictEqual(answer.status, 401)
          assertInclude(answer.headers["www-authenticate"], "Bearer ")
          strictEqual(answer.headers["www-authenticate"]?.includes("invalid_token"), isInvalid)
        }))

      it.effect.each<[string, unknown]>([
        ["nothing", ""],
        ["cut off", "{\"entity_type\":"],
        ["ambiguous", "{\"entity_type\":\"person\",\"name\":\"A Testpep\",\"name\":\"A\",\"dob\":\"01-02-1990\"}"],
        ["no UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d)]
      ])("400 for a body that is %s", ([, body]) =>
        Effect.gen(function*() {
          strictEqual((yield* amlRequest(body)).status, 400)
        }))

      const without = (name: keyof typeof person) =>
        Object.fromEntries(Object.entries(person).filter(([key]) => key !== name))
      it.effect.each<[unknown, ReadonlyArray<string>]>([
        [null, [""]],
        [[person], [""]],
        [{}, ["entity_type", "name", "dob"]],
        [without("entity_type"), ["entity_type"]],
        [{ ...person, entity_type: "company" }, ["entity_type"]],
        [{ ...person, entity_type: "Person" }, ["entity_type"]],
        [without("name"), ["name"]],
        [{ ...person, name: " " }, ["name"]],
        [{ ...person, name: ["canary"] }, ["name"]],
        [without("dob"), ["dob"]],
        [{ ...person, dob: "31-02-1990" }, ["dob"]],
        [{ ...person, dob: "1990-02-01" }, ["dob"]],
        [{ ...person, dob: 19900201 }, ["dob"]],
        [{ ...person, extra: "canary" }, ["extra"]]
      ])("422 for %j, with the paths %j and no value", ([body, paths]) =>
        Effect.gen(function*() {
          const { headers, status, text } = yield* amlRequest(body)
          strictEqual(status, 422)
          strictEqual(headers["content-type"], "application/problem+json")
          const { errors } = JSON.parse(text)
          deepStrictEqual(errors.map(({ path }: { path: string }) => path), paths)
          for (const { reason } of errors) strictEqual(typeof reason === "string" && reason.length > 0, true)
          strictEqual(/canary|31-02|company/.test(text), false)
        }))

      it.effect("lists the first of many wrong fields in a 422, and counts the others", () =>
        Effect.gen(function*() {
          const extra = (count: number) =>
            Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 1]))
          const whole: { readonly errors: ReadonlyArray<{ readonly path: string; readonly reason: string }> } = JSON
            .parse((yield* amlRequest({ ...person, ...extra(20) })).text)
          deepStrictEqual(whole.errors.map(({ path }) => path), Object.keys(extra(20)))

          const { status, text } = yield* amlRequest({ ...person, ...extra(4000) })
          strictEqual(status, 422)
          strictEqual(text.length < 4000, true, `${text.length} characters`)
          const { errors } = JSON.parse(text)
          strictEqual(errors.length, 20)
          deepStrictEqual(errors[19], {
            path: "",
            reason: "invalid: expected none of 3981 more violations, which are not listed"
          })
          const { entries } = yield* (yield* Control.Control).session("demo-customer").journal({ status: 422 })
          const { why = "" } = entries.at(-1) ?? {}
          assertInclude(why, "3981 more")
          strictEqual(why.length < 4000, true, `${why.length} characters`)
        }))

      it.effect("responds 422 to a body that is nested deeper than the stack", () =>
        Effect.gen(function*() {
          strictEqual((yield* amlRequest(`${"[".repeat(30_000)}${"]".repeat(30_000)}`)).status, 422)
        }))

      it.effect("reports a day that does not exist", () =>
        Effect.gen(function*() {
          const { text } = yield* amlRequest({ ...person, dob: "31-02-1990" })
          deepStrictEqual(JSON.parse(text).errors, [
            { path: "dob", reason: "invalid: expected a date that exists, as dd-mm-yyyy" }
          ])
        }))

      it.effect.each<[string, number]>([
        ["application/json", 200],
        ["Application/JSON;charset=utf-8", 200],
        ["text/plain", 415],
        ["application/jsonp", 415]
      ])("responds to the content type %s with %d", ([contentType, expected]) =>
        Effect.gen(function*() {
          strictEqual((yield* amlRequest(person, { "content-type": contentType })).status, expected)
        }))

      it.effect("responds 413 to a body over 64 KiB, and then to the next request", () =>
        Effect.gen(function*() {
          strictEqual((yield* amlRequest({ ...person, name: "x".repeat(64 * 1024) })).status, 413)
          // Blanks between the tokens of JSON are not part of the name.
          strictEqual((yield* amlRequest(JSON.stringify(person) + " ".repeat(60 * 1024))).status, 200)
        }))
    })

    it.effect.each(
      [
        ["GET", "/oauth/service", 405, "POST"],
        ["PUT", "/oauth/service", 405, "POST"],
        ["GET", "/api/aml", 405, "POST"],
        ["DELETE", "/api/aml", 405, "POST"],
        ["POST", "/api/AML", 404, undefined],
        ["POST", "/oauth/service/", 404, undefined],
        ["POST", "//api/aml", 404, undefined],
        ["POST", "/oauth", 404, undefined],
        ["GET", "/", 404, undefined]
      ] as const
    )("%s %s is %d", ([method, path, status, allow]) =>
      Effect.gen(function*() {
        const answer = yield* request(method, path)
        strictEqual(answer.status, status)
        strictEqual(answer.headers["allow"], allow)
      }))

    it.effect("accepts a token for one hour of the session's clock", () =>
      Effect.gen(function*() {
        const session = (yield* Control.Control).session("demo-customer")
        const token = yield* accessToken
        const status = Effect.map(
          amlRequest(person, { authorization: `Bearer ${token}` }),
          ({ status }) => status
        )
        strictEqual(yield* status, 200)
        yield* session.advance("59 minutes")
        strictEqual(yield* status, 200)
        yield* session.advance("1 minute")
        strictEqual(yield* status, 401)
        strictEqual((yield* amlRequest(person)).status, 200)
      }))
  })
})
