/** The verification of what a request sent: the server compares unmasked values, and shows none. */
import { Control, Verification } from "@effect-idv/mock-server"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Effect, Exit, Layer, TestClock } from "effect"
import * as InProcess from "./support/mockServer.ts"
import * as Plain from "./support/plain.ts"

const customerId = "test-sent"

const canaries = /canary|1966|07-05|secret-trace/i

const send = (person: unknown, headers: Record<string, string> = {}) =>
  Effect.gen(function*() {
    const token = yield* Plain.token(customerId)
    return yield* Plain.request("POST", "/api/aml", {
      headers: { ...Plain.json, authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(person)
    })
  })

const canary = { entity_type: "person", name: "Zoë Canary", dob: "05-07-1966" }

const verify = (expectation: typeof Verification.Expectation.Encoded) =>
  Effect.flatMap(Control.Control, ({ session }) => session(customerId).verify(expectation))

const failureOf = (expectation: typeof Verification.Expectation.Encoded) =>
  Effect.map(
    Effect.flip(verify(expectation)),
    (error) => error instanceof Verification.VerificationFailed ? error : assert.fail(String(error))
  )

const holds = (pattern: typeof Verification.Pattern.Encoded) =>
  Effect.isSuccess(verify({ kind: "exactly", n: 1, pattern }))

describe("A pattern", () => {
  it.effect("compares name, date of birth and headers with what the request sent", () =>
    Effect.gen(function*() {
      yield* send(canary, { "X-Trace": "secret-trace" })
      const right = [
        { name: "zoe\u0308  CANARY" },
        { dateOfBirth: "1966-07-05" },
        { headers: { "x-TRACE": "secret-trace" } },
        {
          name: "Zoë Canary",
          dateOfBirth: "1966-07-05",
          operation: "aml",
          status: 200,
          customerId,
          headers: {}
        } as const
      ]
      for (const pattern of right) strictEqual(yield* holds(pattern), true, JSON.stringify(pattern))
      const wrong = [
        { name: "Canary" },
        { name: "Zoe Canary" },
        { dateOfBirth: "1966-05-07" },
        { headers: { "x-trace": "Secret-trace" } },
        { headers: { "x-missing": "secret-trace" } },
        { name: "Zoë Canary", status: 422 }
      ]
      for (const pattern of wrong) {
        strictEqual(yield* holds(pattern), false, JSON.stringify(pattern))
        yield* verify({ kind: "never", pattern })
      }
    }).pipe(Effect.provide(InProcess.layer)))

  it.effect("reads each field of a request that the server refused", () =>
    Effect.gen(function*() {
      yield* send({ name: "Zoë Canary", dob: "1966-07-05" })
      yield* verify({ kind: "exactly", n: 1, pattern: { name: "Zoë Canary", status: 422 } })
      yield* send({ name: 1, dob: "05-07-1966", padding: "x".repeat(20_000) })
      yield* verify({ kind: "exactly", n: 1, pattern: { dateOfBirth: "1966-07-05", unexpected: true } })
    }).pipe(Effect.provide(InProcess.layer)))

  it.effect("that no entry matches fails with the fields that differ, and with no value", () =>
    Effect.gen(function*() {
      yield* send(canary, { "x-trace": "secret-trace" })
      const failed = yield* failureOf({
        kind: "atLeast",
        n: 1,
        pattern: {
          operation: "aml",
          name: "Ada Canary",
          dateOfBirth: "1966-07-05",
          headers: { "x-trace": "secret-trace", "x-other": "secret-trace" }
        }
      })
      deepStrictEqual(failed.nearest[0]?.differs, ["name", "headers.x-other"])
      assertInclude(failed.message, "differs in name, headers.x-other")
      strictEqual(canaries.test(failed.message + JSON.stringify(failed)), false, failed.message)
      const excess = yield* failureOf({ kind: "never", pattern: { name: "Zoë Canary" } })
      deepStrictEqual(excess.nearest[0]?.differs, [])
      strictEqual(canaries.test(excess.message + JSON.stringify(excess)), false, excess.message)
    }).pipe(Effect.provide(InProcess.layer)))

  it.effect("over HTTP shows neither values of the request nor of the pattern", () =>
    Effect.gen(function*() {
      yield* send(canary, { "x-trace": "secret-trace" })
      const pattern = { name: "Ada Canary", dateOfBirth: "1966-07-05", headers: { "x-trace": "secret-trace" } }
      const { status, text } = yield* Plain.control("POST", `/sessions/${customerId}/verify`, {
        kind: "exactly",
        n: 1,
        pattern
      })
      strictEqual(status, 409)
      assertInclude(text, "\"differs\":[\"name\"]")
      strictEqual(canaries.test(text), false, text)
      const refused = yield* Plain.control("POST", `/sessions/${customerId}/verify`, {
        kind: "never",
        pattern: { name: "", dateOfBirth: "05-07-1966", headers: { "secret-trace:": 1 }, nameLast: "Canary" }
      })
      strictEqual(refused.status, 400)
      assertInclude(refused.text, "pattern.dateOfBirth")
      const search = yield* Plain.control("GET", `/sessions/${customerId}/journal?name=Zo%C3%AB%20Canary`)
      strictEqual(search.status, 400)
      const journal = yield* Plain.control("GET", `/sessions/${customerId}/journal`)
      strictEqual(canaries.test(journal.text), false)
    }).pipe(Effect.provide(InProcess.layer)))

  it.effect("with a deadline waits for the request of this person", () =>
    Effect.gen(function*() {
      yield* send({ ...canary, name: "Ada Other" })
      const waiting = yield* Effect.fork(
        verify({ kind: "atLeast", n: 1, pattern: { name: "Zoë Canary" }, within: "1 minute" })
      )
      yield* Effect.yieldNow()
      yield* send(canary)
      yield* TestClock.adjust("1 minute")
      yield* waiting.await.pipe(Effect.map(Exit.isSuccess), Effect.map((ended) => strictEqual(ended, true)))
    }).pipe(Effect.provide(InProcess.layer)))
})

describe("The verification of unmatched requests", () => {
  it.effect("finds a token request with a wrong customer id, and a check with a foreign token", () =>
    Effect.gen(function*() {
      const { verifyUnmatched } = yield* Control.Control
      yield* verifyUnmatched({ kind: "exactly", n: 0, pattern: {} })
      yield* Plain.tokenRequest("acme-typo", "canary-key")
      yield* Plain.check("a-foreign-token", "Zoë Canary")
      yield* verifyUnmatched({ kind: "exactly", n: 1, pattern: { customerId: "acme-typo", operation: "token" } })
      yield* verifyUnmatched({ kind: "exactly", n: 2, pattern: { customerId: null } })
      yield* verifyUnmatched({
        kind: "inOrder",
        patterns: [{ operation: "token" }, { name: "Zoë Canary", dateOfBirth: "1940-02-01", status: 401 }]
      })
      const { status, text } = yield* Plain.control("POST", "/unmatched/verify", {
        kind: "never",
        pattern: { name: "Zoë Canary" }
      })
      strictEqual(status, 409)
      strictEqual(canaries.test(text), false, text)
    }).pipe(Effect.provide(InProcess.layer)))

  it.effect("refuses what is not an expectation, with its field", () =>
    Effect.gen(function*() {
      const { status, text } = yield* Plain.control("POST", "/unmatched/verify", {
        kind: "exactly",
        n: -1,
        pattern: {}
      })
      deepStrictEqual([status, text.includes("\"path\":\"n\"")], [400, true])
    }).pipe(Effect.provide(InProcess.layer)))
})

describe("What a request sent", () => {
  it.effect("is not in what an observer of the exchanges receives, nor in the error of a failed test", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const layer = InProcess.layerWith({
        unexpected: "fail",
        onExchange: (entry) => Effect.sync(() => void seen.push(entry))
      })
      const exit = yield* Effect.exit(
        Effect.scoped(
          Effect.flatMap(Layer.build(layer), (context) => Effect.provide(send({ ...canary, dob: "1" }), context))
        )
      )
      strictEqual(seen.length, 2)
      strictEqual(
        canaries.test(JSON.stringify(seen) + Cause.pretty(Exit.isFailure(exit) ? exit.cause : Cause.empty)),
        false
      )
      strictEqual(Exit.isFailure(exit), true)
    }))
})
