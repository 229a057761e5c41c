/** Foreign requests do not change a session, and a reset ends everything that belongs to it. */
import { Control, MockServer } from "@effect-idv/mock-server"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Plain from "./support/plain.ts"

const inProcess = Effect.provide(MockServer.layerHttpClient)

const customers = Effect.flatMap(
  Control.Control,
  ({ sessions }) => Effect.map(sessions, (sessions) => sessions.map(({ customerId }) => customerId))
)

describe("A wrong key", () => {
  it.effect.each<[string, string]>([
    ["test-nobody", "test-nobody"],
    // Each part is form-encoded before Base64, as in RFC 6749.
    ["test-no%2Bbody", "test-no+body"]
  ])(
    "for %s begins no session of a test customer, and the right key does",
    ([sent, customerId]) =>
      Effect.gen(function*() {
        for (const key of ["wrong", "", "test-key ", "Test-Key", "test-keytest-key"]) {
          strictEqual((yield* Plain.tokenRequest(sent, key)).status, 401, key)
        }
        deepStrictEqual(yield* customers, ["demo-customer"])
        yield* Plain.tokenRequest(sent)
        deepStrictEqual(yield* customers, ["demo-customer", customerId])
      }).pipe(inProcess)
  )
})

describe("A token of a session that the server no longer has", () => {
  it.effect("is unknown, and the journal says why", () =>
    Effect.gen(function*() {
      const { session, unmatchedRequests } = yield* Control.Control
      const token = yield* Plain.token("test-forgotten")
      yield* session("test-forgotten").remove
      strictEqual((yield* Plain.check(token)).status, 401)
      const { entries } = yield* unmatchedRequests()
      strictEqual(
        entries.at(-1)?.why,
        "The token is unknown: the customer in it has no session. Its session was removed, or 1000 other test customers " +
          "have used the server since"
      )
    }).pipe(inProcess))
})

describe("A token that was never issued", () => {
  it.effect("does not count for a fault of the session that it names", () =>
    Effect.gen(function*() {
      const customerId = "test-forged"
      const token = yield* Plain.token(customerId)
      const { fault, faults } = (yield* Control.Control).session(customerId)
      yield* fault({ on: "aml", when: { kind: "first", n: 1 }, what: { kind: "status", status: 503 } })
      yield* fault({ on: "both", when: { kind: "nth", n: 2 }, what: { kind: "status", status: 500 } })
      const forged = token.replace(/.$/, (digit) => digit === "0" ? "1" : "0")
      for (let count = 0; count < 3; count++) strictEqual(yield* Plain.checkStatus(forged), 401)
      deepStrictEqual((yield* faults).map(({ fired, seen }) => [seen, fired]), [[0, 0], [0, 0]])
      deepStrictEqual(
        [yield* Plain.checkStatus(token), yield* Plain.checkStatus(token), yield* Plain.checkStatus(token)],
        [503, 500, 200]
      )
    }).pipe(inProcess))

  it.effect("differs from one that has expired, at which a fault fires", () =>
    Effect.gen(function*() {
      const customerId = "test-expired"
      const token = yield* Plain.token(customerId)
      const { advance, fault } = (yield* Control.Control).session(customerId)
      yield* advance("61 minutes")
      strictEqual(yield* Plain.checkStatus(token), 401)
      yield* fault({ on: "aml", when: { kind: "nth", n: 1 }, what: { kind: "status", status: 503 } })
      strictEqual(yield* Plain.checkStatus(token), 503)
    }).pipe(inProcess))
})

describe("A reset", () => {
  it.effect("ends the AML profiles of the session, and those of no other", () =>
    Effect.gen(function*() {
      const profileOf = (customerId: string) =>
        Effect.gen(function*() {
          const { text } = yield* Plain.check(yield* Plain.token(customerId), "Zoë Testpep")
          const path: string = new URL(JSON.parse(text).credentials.attributes.aml_profile).pathname
          strictEqual((yield* Plain.request("GET", path)).status, 200)
          return path
        })
      const [own, other] = [yield* profileOf("test-one"), yield* profileOf("test-other")]
      const { reset } = (yield* Control.Control).session("test-one")
      yield* reset
      const { status, text } = yield* Plain.request("GET", own)
      strictEqual(status, 404)
      assert.notInclude(text, "Testpep")
      strictEqual((yield* Plain.request("GET", other)).status, 200)
      // A search after the reset has the address of the person again.
      strictEqual(yield* profileOf("test-one"), own)
    }).pipe(inProcess))
})
