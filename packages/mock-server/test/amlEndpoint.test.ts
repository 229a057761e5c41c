import { Control, MockServer, type Profile } from "@effect-idv/mock-server"
import { layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import {
  changeProfile,
  check,
  decisionOf,
  type Expected,
  issuedToken,
  person,
  reset,
  send,
  type Sent,
  tooLong
} from "./support/decisions.ts"

layer(MockServer.layerHttpClient)("The decision about a check", (it) => {
  const ofUnknownToken = ["aml.request.authorization", "aml.error.challenge"]

  it.effect.each<readonly [string, Sent, Profile.Patch, Expected]>([
    ["that is correct", {}, {}, [
      200,
      "aml.answered",
      "No: the name ends with Testclear",
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
    ["with a token that only looks issued", { headers: { authorization: "Bearer ZGVtby1jdXN0b21lcg.0000" } }, {}, [
      401,
      "aml.token-unknown",
      "The token is unknown",
      ofUnknownToken,
      true
    ]],
    ["about a person whose name selects a fault", { body: JSON.stringify({ ...person, name: "Ada Test429" }) }, {}, [
      429,
      "aml.answered",
      "Returned status 429 instead of the service's response: the name ends with Test429",
      ["aml.success.status", "aml.answer.credential", "aml.answer.match-found", "aml.answer.aml-profile"],
      false
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

  it.effect("is described to the client without the address of a wrong field or the clock of the session", () =>
    Effect.gen(function*() {
      yield* reset
      const session = (yield* Control.Control).session("demo-customer")
      const token = yield* issuedToken
      const detailOf = (body?: string) =>
        Effect.map(send(check(token, body === undefined ? {} : { body })), ({ text }) => JSON.parse(text).detail)
      deepStrictEqual(yield* detailOf("{}"), "The body is not the one of this operation")
      yield* session.revokeTokens()
      deepStrictEqual(yield* detailOf(), "The token is revoked")
    }))

  it.effect.each<readonly [Profile.Profile["amlRequestType"], string, number]>([
    ["any", "text/plain", 200],
    ["exact", "application/json", 200],
    ["exact", "application/json; charset=utf-8", 415],
    ["exact", "text/plain", 415]
  ])(
    "with the profile amlRequestType %s and the content type %s has the status %d",
    ([amlRequestType, type, status]) =>
      Effect.gen(function*() {
        yield* reset
        const token = yield* issuedToken
        yield* changeProfile({ amlRequestType })
        deepStrictEqual((yield* send(check(token, { headers: { "content-type": type } }))).status, status)
      })
  )

  it.effect.each<readonly [string, number]>([
    ["20-02-2026", 200],
    ["14-03-2026", 200],
    ["15-03-2026", 422],
    ["01-04-2026", 422],
    ["31-12-2025", 200]
  ])(
    "about a person born on %s, on 14 March 2026 at UTC+14, has the status %d",
    ([dob, status]) =>
      Effect.gen(function*() {
        yield* reset
        yield* (yield* Control.Control).session("demo-customer").setTime("2026-03-13T10:00:00Z")
        const token = yield* issuedToken
        deepStrictEqual((yield* send(check(token, { body: JSON.stringify({ ...person, dob }) }))).status, status)
      })
  )

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
