/** How the faults of a request act together, and what the journal has of an exchange. */
import { Control, type Fault, type Journal, MockServer } from "@effect-idv/mock-server"
import { HttpClient } from "@effect/platform"
import { assert, describe, it, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Logger, Redacted, TestClock } from "effect"
import { check, decisionOf, issuedToken, reset, send, tokenRequest } from "./support/decisions.ts"

const demo = Effect.map(Control.Control, ({ session }) => session("demo-customer"))

const arm = (fault: typeof Fault.Fault.Encoded) => Effect.flatMap(demo, (session) => session.fault(fault))

const latency = (delay: number): typeof Fault.Fault.Encoded => ({
  on: "aml",
  what: { kind: "latency", distribution: { kind: "fixed", delay } }
})

const lastEntry = Effect.gen(function*() {
  const { entries } = yield* (yield* demo).journal()
  return entries.at(-1) ?? assert.fail("the journal is empty")
})

layer(MockServer.layerHttpClient)("Faults of one request", (it) => {
  it.effect("delay it by the sum of the latencies, and change it by the first other fault", () =>
    Effect.gen(function*() {
      yield* reset
      yield* TestClock.adjust("1 minute")
      const token = yield* issuedToken
      yield* arm(latency(1000))
      yield* arm({ on: "aml", what: { kind: "status", status: 503 } })
      yield* arm({ on: "aml", what: { kind: "status", status: 500 } })
      yield* arm(latency(2000))
      const fiber = yield* Effect.fork(send(check(token)))
      yield* TestClock.adjust(2999)
      strictEqual(yield* Fiber.poll(fiber).pipe(Effect.map(({ _tag }) => _tag)), "None")
      yield* TestClock.adjust(1)
      strictEqual((yield* Fiber.join(fiber)).status, 503)
      const entry = yield* lastEntry
      deepStrictEqual([entry.millis, entry.response.delivery], [3000, "whole"])
      deepStrictEqual(entry.faults.map(({ kind }) => kind), ["latency", "status", "latency"])
    }))

  it.effect("are drawn from the session, and a response that is not HTTP is recorded as scripted", () =>
    Effect.gen(function*() {
      yield* reset
      const token = yield* issuedToken
      yield* arm({ on: "aml", what: { kind: "randomBytes", length: 20 } })
      strictEqual((yield* Effect.either(send(check(token))))._tag, "Left")
      strictEqual((yield* lastEntry).response.delivery, "scripted")
    }))

  it.effect("do not fire at the page of a profile", () =>
    Effect.gen(function*() {
      yield* reset
      const { url } = yield* MockServer.MockServer
      const { text } = yield* send(check(yield* issuedToken))
      const page: string = JSON.parse(text).credentials.attributes.aml_profile
      yield* arm({ on: "both", what: { kind: "status", status: 503 } })
      strictEqual((yield* send({ method: "GET", target: page.slice(url.length) })).status, 200)
      deepStrictEqual((yield* (yield* demo).faults).map(({ seen }) => seen), [0])
    }))

  it.effect.each(["tokenExpiry", "tokenRevocation"] as const)(
    "%s ends the token that a response issues",
    (kind) =>
      Effect.gen(function*() {
        yield* reset
        yield* arm({ on: "token", when: { kind: "nth", n: 1 }, what: { kind } })
        const { status, text } = yield* send(tokenRequest())
        strictEqual(status, 200)
        const state = kind === "tokenExpiry" ? "expired" : "revoked"
        deepStrictEqual((yield* decisionOf(check(JSON.parse(text).access_token))).slice(0, 2), [
          401,
          `aml.token-${state}`
        ])
        strictEqual((yield* send(check(yield* issuedToken))).status, 200)
      })
  )
})

describe("A defect of the mock server", () => {
  const entries: Array<Journal.Entry> = []
  it.effect("has a response and an entry that blame the server, and its location in the log without the message", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => logged.push(String(message)))
    return Effect.gen(function*() {
      const { url } = yield* MockServer.MockServer
      const response = yield* HttpClient.get(`${url}/nowhere`)
      strictEqual(response.status, 500)
      const body: unknown = yield* response.json
      assert.deepInclude(body, { detail: "The mock server itself failed. The request is not the cause" })
      const entry = entries.at(-1) ?? assert.fail("there is no entry")
      assert.deepInclude(entry, {
        customerId: null,
        operation: "other",
        rule: "server.defect",
        why: "The mock server itself failed: its log has the location",
        claims: [],
        faults: [],
        unexpected: false,
        millis: 0
      })
      deepStrictEqual([entry.request.method, entry.request.target], ["GET", "/***"])
      deepStrictEqual([entry.response.status, entry.response.delivery], [500, "whole"])
      deepStrictEqual(JSON.parse(entry.response.body), body)
      const [line = "", ...others] = logged
      deepStrictEqual(others, [])
      assert(/^The mock server failed: TypeError {5}at .*\n {4}at /.test(line), line)
      strictEqual(line.includes("canary"), false)
    }).pipe(
      Effect.provide(MockServer.layerHttpClientWith({
        onExchange: (entry) =>
          entry.rule === "server.defect"
            ? Effect.sync(() => void entries.push(entry))
            : Effect.die(new TypeError("canary\ncanary"))
      })),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })

  it.effect("that is not an error is logged as such", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => logged.push(String(message)))
    return Effect.gen(function*() {
      const { url } = yield* MockServer.MockServer
      strictEqual((yield* HttpClient.get(`${url}/nowhere`)).status, 500)
      deepStrictEqual(logged, ["The mock server failed: a defect that is not an error"])
    }).pipe(
      Effect.provide(MockServer.layerHttpClientWith({
        onExchange: ({ rule }) => rule === "server.defect" ? Effect.void : Effect.die(Redacted.make("canary"))
      })),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })
})
