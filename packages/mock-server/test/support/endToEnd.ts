/** End-to-end checks of the client on a socket. They run directly against the mock server, and through a proxy. */
import { AmlClient, Idv, Person, TokenProvider } from "@effect-idv/core"
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import type { HttpClient } from "@effect/platform"
import { assert } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, Layer, Redacted } from "effect"

/** The result about a person. */
export const screen = (name: string, dateOfBirth = "1957-03-14") =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name, dateOfBirth })
    const { result } = yield* aml.check(person)
    return result
  })

const failureOf = (name: string) => Effect.map(Effect.flip(screen(name)), ({ _tag }) => String(_tag))

/** The client as this customer, at the address in the context. */
export const layerIdv = (customer: Partial<Session.Customer>, layerClient: Layer.Layer<HttpClient.HttpClient>) =>
  MockServer.MockServer.pipe(
    Effect.map(({ options }) => Idv.layer({ ...options, ...customer })),
    Layer.unwrapEffect,
    Layer.provide(layerClient)
  )

type Requirements = Idv.Idv | Control.Control

/** The checks. Each has its own session. The statuses are those in the journal, in its order. */
const checks: Record<string, (session: Control.SessionControl) => Effect.Effect<void, unknown, Requirements>> = {
  "screens names in any script": () =>
    Effect.gen(function*() {
      strictEqual(yield* screen("Zoë O’Testclear Testclear"), "No")
      strictEqual(yield* screen("Иван Testsanc"), "Potential match")
      strictEqual(yield* screen("王"), "No")
      strictEqual(yield* screen(`${"Ada ".repeat(40)}Testpep`), "Potential match")
    }),
  "screens people of any age": () =>
    Effect.gen(function*() {
      for (const dateOfBirth of ["1908-01-01", "1960-02-29", "1999-12-31", "2024-02-29"]) {
        strictEqual(yield* screen("Zoë Testpep", dateOfBirth), "Potential match")
      }
    }),
  "keeps the response as evidence": () =>
    Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      const person = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1957-03-14" })
      const { attempts, body, credential, status } = yield* aml.check(person)
      deepStrictEqual([attempts, status], [1, 200])
      const { credentials } = JSON.parse(new TextDecoder().decode(body && Redacted.value(body)))
      strictEqual(credentials.attributes.aml_profile, Redacted.value(credential.credentials.attributes.amlProfile))
    }),
  "requests one token for 50 concurrent checks": ({ verify }) =>
    Effect.gen(function*() {
      const found = yield* Effect.forEach(
        Arr.makeBy(50, (i) => i % 2 === 0 ? "A Testclear" : "B Testpep"),
        (name) => screen(name),
        { concurrency: "unbounded" }
      )
      deepStrictEqual(found, Arr.makeBy(50, (i) => i % 2 === 0 ? "No" : "Potential match"))
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "token" } })
      yield* verify({ kind: "exactly", n: 50, pattern: { operation: "aml", status: 200 } })
    }),
  "replaces a token that expired early, and replays the check": ({ advance, journal }) =>
    Effect.gen(function*() {
      strictEqual(yield* screen("A Testclear"), "No")
      yield* advance("61 minutes")
      strictEqual(yield* screen("B Testpep"), "Potential match")
      deepStrictEqual((yield* journal()).entries.map(({ rule }) => rule), [
        "token.granted",
        "aml.answered",
        "aml.token-expired",
        "token.granted",
        "aml.answered"
      ])
    }),
  "replaces a token that was revoked": ({ revokeTokens, verify }) =>
    Effect.gen(function*() {
      strictEqual(yield* screen("A Testclear"), "No")
      yield* revokeTokens()
      strictEqual(yield* screen("B Testpep"), "Potential match")
      yield* verify({ kind: "inOrder", patterns: [{ rule: "aml.token-revoked" }, { rule: "aml.answered" }] })
    }),
  "refreshes the token on request": ({ verify }) =>
    Effect.gen(function*() {
      const tokens = yield* TokenProvider.TokenProvider
      yield* tokens.get
      yield* tokens.refresh
      yield* verify({ kind: "exactly", n: 2, pattern: { operation: "token", status: 200 } })
    }),
  "fails if every token is rejected": ({ fault }) =>
    Effect.gen(function*() {
      yield* fault({ on: "aml", what: { kind: "tokenExpiry" } })
      strictEqual(yield* failureOf("A Testclear"), "AmlUnauthorized")
    }),
  "waits for the Retry-After of a 429": ({ fault, journal }) =>
    Effect.gen(function*() {
      const what = { kind: "quota", limit: 1, per: "1 day", retryAfter: { kind: "seconds", seconds: 1 } } as const
      yield* fault({ on: "aml", when: { kind: "first", n: 2 }, what })
      strictEqual(yield* screen("A Testclear"), "No")
      strictEqual(yield* screen("B Testpep"), "Potential match")
      const [, , refused, answered] = (yield* journal()).entries
      assert(refused !== undefined && answered !== undefined)
      deepStrictEqual([refused.response.status, answered.response.status], [429, 200])
      assert(Date.parse(answered.at) - Date.parse(refused.at) > 900)
    }),
  "fails with a 403 and with a 500": () =>
    Effect.gen(function*() {
      strictEqual(yield* failureOf("A Test403"), "AmlForbidden")
      strictEqual(yield* failureOf("A Test500"), "AmlUnavailable")
    }),
  "retries after a 503 of the API and of the token endpoint": ({ fault }) =>
    Effect.gen(function*() {
      const what = { kind: "status", retryAfter: { kind: "seconds", seconds: 0 } } as const
      yield* fault({ on: "aml", when: { kind: "first", n: 1 }, what })
      yield* fault({ on: "token", when: { kind: "first", n: 1 }, what })
      strictEqual(yield* screen("B Testpep"), "Potential match")
    }),
  "sends nothing that a strict service rejects": ({ changeProfile, verify }) =>
    Effect.gen(function*() {
      yield* changeProfile({ preset: "strict" })
      strictEqual(yield* screen("B Testpep"), "Potential match")
      yield* verify({ kind: "nothingUnexpected" })
    })
}

export const names = Object.keys(checks)

/** The checks can run concurrently, because each has its own session. */
export const concurrent = { concurrent: true }

/** Runs one check, as a customer whose id has this prefix. */
export const run = (name: string, prefix: string, layerClient: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const { create, session } = yield* Control.Control
    const customer = Session.testCustomer(`test-${prefix}-${names.indexOf(name)}`)
    yield* create(customer)
    const check = checks[name] ?? (() => assert.fail(name))
    yield* Effect.provide(check(session(customer.customerId)), layerIdv(customer, layerClient))
  })

/** A check with a wrong key. It has no session, so it is not one of the others. */
export const wrongKey = (layerClient: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(screen("A Testclear"))
    assert.deepInclude(error, { _tag: "TokenRejected", status: 401, code: "invalid_client" })
  }).pipe(Effect.provide(layerIdv({ customerKey: Redacted.make("wrong") }, layerClient)))
