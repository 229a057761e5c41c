/** The explanation of each decision, as the journal and the page show it. */
import { Control, MockServer, type Profile } from "@effect-idv/mock-server"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`
const formType = "application/x-www-form-urlencoded"
const person = { entity_type: "person", name: "Ada Testclear", dob: "01-02-1960" }

interface Sent {
  readonly method?: "GET" | "POST"
  readonly target?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

const send = ({ body = "", headers = {}, method = "POST", target = "/" }: Sent) =>
  Effect.gen(function*() {
    const { url } = yield* MockServer.MockServer
    const { "content-type": contentType = "", ...others } = headers
    const response = yield* HttpClientRequest.make(method)(`${url}${target}`).pipe(
      HttpClientRequest.setHeaders(others),
      (request) => method === "GET" ? request : HttpClientRequest.bodyText(request, body, contentType),
      HttpClient.execute
    )
    return { status: response.status, headers: response.headers, text: yield* response.text }
  })

const tokenRequest = (change: Sent = {}): Sent => ({
  target: "/oauth/service",
  body: "grant_type=client_credentials",
  ...change,
  headers: { authorization: basic("demo-customer:demo-key"), "content-type": formType, ...change.headers }
})

const issuedToken = Effect.map(send(tokenRequest()), ({ text }): string => JSON.parse(text).access_token)

const check = (token: string, change: Sent = {}): Sent => ({
  target: "/api/aml",
  body: JSON.stringify(person),
  ...change,
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...change.headers }
})

/** The status of the response, and what the journal has of the decision. */
const decisionOf = (request: Sent) =>
  Effect.gen(function*() {
    const { session, unmatchedRequests } = yield* Control.Control
    const { status } = yield* send(request)
    const journals = [yield* session("demo-customer").journal(), yield* unmatchedRequests()]
    const entry = journals.flatMap(({ entries }) => entries).toSorted((one, other) => one.id - other.id).at(-1)
    return [status, entry?.rule, entry?.why, entry?.claims, entry?.unexpected]
  })

type Expected = [
  status: number,
  rule: string,
  why: string,
  claims: ReadonlyArray<string>,
  unexpected: boolean
]

/** Begins with a session as the server starts it. */
const reset = Effect.flatMap(Control.Control, ({ session }) => session("demo-customer").reset)

const changeProfile = (patch: Profile.Patch) =>
  Effect.flatMap(Control.Control, ({ session }) => session("demo-customer").changeProfile(patch))

const tooLong = "x".repeat(64 * 1024 + 1)

layer(MockServer.layerHttpClient)("The decision about a token request", (it) => {
  const credentials = "the Authorization header must be Basic with a known customer_id and its key"
  const ofCredentials = ["token.request.authorization", "token.error", "token.error.code", "token.error.challenge"]
  const ofSuccess = ["token.success.status", "token.response.fields", "token.lifetime", "token.response.lifetime"]
  const ofGrantType = ["token.request.grant-type", "token.error", "token.error.grant-type"]

  it.effect.each<readonly [string, Sent, Profile.Patch, Expected]>([
    ["that is correct", {}, {}, [
      200,
      "token.granted",
      "The credentials are right: the token is valid for 3600 s",
      ofSuccess,
      false
    ]],
    ["with form-encoded credentials", { headers: { authorization: basic("demo%2Dcustomer:demo%2Dkey") } }, {}, [
      200,
      "token.granted",
      "The credentials are right: the token is valid for 3600 s. The client form-encoded them, which the service " +
      "document does not show",
      ofSuccess,
      false
    ]],
    ["with a form-encoded customer id", { headers: { authorization: basic("demo%2Dcustomer:demo-key") } }, {}, [
      200,
      "token.granted",
      "The credentials are right: the token is valid for 3600 s. The client form-encoded them, which the service " +
      "document does not show",
      ofSuccess,
      false
    ]],
    ["with another parameter", { body: "grant_type=client_credentials&scope=x" }, {}, [
      200,
      "token.granted",
      "The credentials are right: the token is valid for 3600 s",
      ofSuccess,
      false
    ]],
    ["without a refused parameter", {}, { tokenParameters: "refused" }, [
      200,
      "token.granted",
      "The credentials are right: the token is valid for 3600 s",
      ofSuccess,
      false
    ]],
    ["of another method", { method: "GET" }, {}, [
      405,
      "token.method",
      "The method of this operation is POST",
      ["token.request.method", "token.error.method"],
      true
    ]],
    ["of another content type", { headers: { "content-type": "text/plain" } }, {}, [
      415,
      "token.content-type",
      `The content type of this operation is ${formType}`,
      ["token.request.content-type", "token.error.content-type"],
      true
    ]],
    ["with a content coding", { headers: { "content-encoding": "gzip" } }, {}, [
      415,
      "token.content-encoding",
      "The body may not have a content coding",
      ["token.error"],
      true
    ]],
    ["that is too long", { body: tooLong }, {}, [
      413,
      "token.body-too-long",
      "A body has at most 65536 bytes",
      ["limits.body"],
      true
    ]],
    ["without credentials", { headers: { authorization: "Bearer x" } }, {}, [
      401,
      "token.credentials",
      `${credentials}: it is not Basic, or not there`,
      ofCredentials,
      true
    ]],
    ["of an unknown customer", { headers: { authorization: basic("nobody:wrong") } }, {}, [
      401,
      "token.credentials",
      `${credentials}: the customer_id is not known, or its key is wrong`,
      ofCredentials,
      true
    ]],
    ["with a wrong key", { headers: { authorization: basic("demo-customer:wrong") } }, {}, [
      401,
      "token.credentials",
      `${credentials}: the key is wrong`,
      ofCredentials,
      true
    ]],
    ["with a parameter in the query", { target: "/oauth/service?scope=x" }, {}, [
      400,
      "token.query",
      "scope must be in the body, and not in the query",
      ["token.request.grant-type", "token.error"],
      true
    ]],
    ["without a grant type", { body: "grant_type=" }, {}, [
      400,
      "token.grant-type",
      "grant_type is required, once",
      ofGrantType,
      true
    ]],
    ["with two grant types", { body: "grant_type=client_credentials&grant_type=client_credentials" }, {}, [
      400,
      "token.grant-type",
      "grant_type is required, once",
      ofGrantType,
      true
    ]],
    ["with another grant type", { body: "grant_type=password" }, {}, [
      400,
      "token.grant-type",
      "grant_type must be client_credentials",
      ofGrantType,
      true
    ]],
    ["with a refused parameter", { body: "grant_type=client_credentials&scope=x" }, { tokenParameters: "refused" }, [
      400,
      "token.parameters",
      "there is no parameter but grant_type",
      ["token.request.parameters", "token.error"],
      true
    ]],
    ["that the profile redirects", {}, { redirects: "same-origin" }, [
      307,
      "token.redirected",
      "The profile redirects: a client must not follow with its credentials or its token",
      ["redirects"],
      false
    ]]
  ])("%s has a rule, a reason and its claims", ([, change, patch, expected]) =>
    Effect.gen(function*() {
      yield* reset
      yield* changeProfile(patch)
      deepStrictEqual(yield* decisionOf(tokenRequest(change)), expected)
    }))
})

layer(MockServer.layerHttpClient)("The decision about a check", (it) => {
  const ofUnknownToken = ["aml.request.authorization", "aml.error.challenge"]

  it.effect.each<readonly [string, Sent, Profile.Patch, Expected]>([
    ["that is correct", {}, {}, [
      200,
      "aml.answered",
      "The token and the body are valid: the mock server returns \"No\"",
      ["aml.success.status", "aml.answer.credential", "aml.answer.match-found", "aml.answer.aml-profile"],
      false
    ]],
    ["of another method", { method: "GET" }, {}, [
      405,
      "aml.method",
      "The method of this operation is POST",
      ["aml.request.method", "aml.error.method"],
      true
    ]],
    ["without a token", { headers: { authorization: "" } }, {}, [
      401,
      "aml.token-missing",
      "A bearer token is required",
      ["aml.request.authorization", "aml.error.unauthorized", "aml.error.challenge"],
      true
    ]],
    ["with an unknown token", { headers: { authorization: "Bearer x" } }, {}, [
      401,
      "aml.token-unknown",
      "The token is unknown",
      ofUnknownToken,
      true
    ]],
    ["of another content type", { headers: { "content-type": "text/plain" } }, {}, [
      415,
      "aml.content-type",
      "The content type of this operation is application/json",
      ["aml.request.content-type", "aml.error.content-type"],
      true
    ]],
    ["with a content coding", { headers: { "content-encoding": "gzip" } }, {}, [
      415,
      "aml.content-encoding",
      "The body may not have a content coding",
      ["aml.error"],
      true
    ]],
    ["with a field in the query", { target: "/api/aml?dob=x" }, {}, [
      400,
      "aml.query",
      "dob must not be in the query",
      ["aml.error"],
      true
    ]],
    ["that is too long", { body: tooLong }, {}, [
      413,
      "aml.body-too-long",
      "A body has at most 65536 bytes",
      ["limits.body"],
      true
    ]],
    ["that is not JSON", { body: "{" }, {}, [
      400,
      "aml.body-not-json",
      "The body is not JSON text in UTF-8",
      ["aml.request.body", "aml.error", "aml.error.json"],
      true
    ]],
    ["with a duplicate key", { body: "{\"name\":\"A\",\"name\":\"B\"}" }, {}, [
      400,
      "aml.body-duplicate-key",
      "name is invalid: expected each key once in an object: this is a duplicate key",
      ["aml.request.body", "aml.error", "aml.error.json"],
      true
    ]],
    ["with an unknown field", { body: JSON.stringify({ ...person, Canary: 1 }) }, {}, [
      422,
      "aml.body-invalid",
      "another field is unexpected: expected no such field",
      ["aml.request.body", "aml.error", "aml.error.fields"],
      true
    ]],
    ["that is not an object", { body: "[]" }, {}, [
      422,
      "aml.body-invalid",
      "the value is invalid: expected an object",
      ["aml.request.body", "aml.error", "aml.error.fields"],
      true
    ]],
    ["that the profile redirects", {}, { redirects: "same-origin" }, [
      307,
      "aml.redirected",
      "The profile redirects: a client must not follow with its credentials or its token",
      ["redirects"],
      false
    ]]
  ])("%s has a rule, a reason and its claims", ([, change, patch, expected]) =>
    Effect.gen(function*() {
      yield* reset
      const token = yield* issuedToken
      yield* changeProfile(patch)
      deepStrictEqual(yield* decisionOf(check(token, change)), expected)
    }))

  it.effect.each<readonly ["expired" | "revoked", ReadonlyArray<string>]>([
    ["expired", ["token.lifetime", "token.expired"]],
    ["revoked", ["token.revoked", "token.expired"]]
  ])("with a token that is %s expects it, and follows the profile", ([state, claims]) =>
    Effect.gen(function*() {
      yield* reset
      const session = (yield* Control.Control).session("demo-customer")
      const token = yield* issuedToken
      yield* state === "expired" ? session.advance("1 hour") : session.revokeTokens()
      const expected = [`aml.token-${state}`, `The token is ${state}, by this session's clock`, claims, false]
      deepStrictEqual(yield* decisionOf(check(token)), [401, ...expected])
      const challenge = (yield* send(check(token))).headers["www-authenticate"]
      deepStrictEqual(challenge, "Bearer realm=\"idv-mock\", error=\"invalid_token\"")
      yield* changeProfile({ expiredToken: "forbidden" })
      deepStrictEqual(yield* decisionOf(check(token)), [403, ...expected])
      deepStrictEqual((yield* send(check(token))).headers["www-authenticate"], undefined)
    }))

  it.effect("has its rule as the code of an OAuth error", () =>
    Effect.gen(function*() {
      yield* reset
      const token = yield* issuedToken
      yield* changeProfile({ amlError: "oauth" })
      const { text } = yield* send(check(token, { body: "{\"name\":\"A\",\"name\":\"B\"}" }))
      deepStrictEqual(JSON.parse(text), {
        error: "body_duplicate_key",
        error_description: "The body has a duplicate key"
      })
    }))

  it.effect("has a challenge without an error for a missing token, and one with an error for an unknown token", () =>
    Effect.gen(function*() {
      yield* reset
      const challengeOf = (authorization: string) =>
        Effect.map(send(check("", { headers: { authorization } })), ({ headers }) => headers["www-authenticate"])
      deepStrictEqual(yield* challengeOf(""), "Bearer realm=\"idv-mock\"")
      deepStrictEqual(yield* challengeOf("Bearer x"), "Bearer realm=\"idv-mock\", error=\"invalid_token\"")
    }))
})

layer(MockServer.layerHttpClient)("The decision about", (it) => {
  it.effect("a fault that responds in place of the service says so", () =>
    Effect.gen(function*() {
      yield* reset
      const session = (yield* Control.Control).session("demo-customer")
      const token = yield* issuedToken
      yield* session.fault({ id: "down", on: "aml", what: { kind: "status", status: 503 } })
      deepStrictEqual(yield* decisionOf(check(token)), [
        503,
        "fault.status",
        "The fault responded, and the service did not see the request. down (status): fired at request 1 of those it " +
        "watches",
        [],
        false
      ])
    }))

  it.effect("a check whose token a fault expires is the one of the service", () =>
    Effect.gen(function*() {
      yield* reset
      const session = (yield* Control.Control).session("demo-customer")
      const token = yield* issuedToken
      yield* session.fault({ id: "gone", on: "aml", what: { kind: "tokenExpiry" } })
      deepStrictEqual(yield* decisionOf(check(token)), [
        401,
        "aml.token-expired",
        "The token is expired, by this session's clock. gone (tokenExpiry): fired at request 1 of those it watches",
        ["token.lifetime", "token.expired"],
        false
      ])
    }))

  it.effect("a request beyond a quota names the quota", () =>
    Effect.gen(function*() {
      yield* reset
      const session = (yield* Control.Control).session("demo-customer")
      const token = yield* issuedToken
      yield* session.fault({ id: "few", on: "aml", what: { kind: "quota", limit: 1, per: "1 minute" } })
      yield* send(check(token))
      deepStrictEqual(yield* decisionOf(check(token)), [
        429,
        "fault.quota",
        "The quota of 1 requests per 1m is exceeded. few (quota): fired at request 2 of those it watches",
        ["limits.rate.retry-after"],
        false
      ])
    }))

  it.effect.each<readonly [string, Expected]>([
    ["/elsewhere", [
      404,
      "path.unknown",
      "There are POST /oauth/service and POST /api/aml, and for people /_mock/ui",
      ["paths.other"],
      true
    ]],
    ["/favicon.ico", [404, "path.icon", "A browser requested an icon, and there is none", ["paths.other"], false]]
  ])("the path %s is the one of a path that does not exist", ([target, expected]) =>
    Effect.gen(function*() {
      yield* reset
      deepStrictEqual(yield* decisionOf({ method: "GET", target }), expected)
    }))
})
