import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, TestClock } from "effect"
import { Message } from "./onboard.ts"
import * as TestEnvironment from "./testEnvironment.ts"

const onboard = (lastName: string) =>
  Effect.map(
    TestEnvironment.onboardAndReadCase(TestEnvironment.applicant(lastName)),
    ({ message }) => message
  )

/** Verifies how many requests the service has received so far. */
const expectRequests = Effect.fn(function*(expected: { readonly tokens: number; readonly checks: number }) {
  const { verify } = yield* TestEnvironment.session
  yield* verify({ kind: "exactly", n: expected.tokens, pattern: { operation: "token" } })
  yield* verify({ kind: "exactly", n: expected.checks, pattern: { operation: "aml" } })
})

describe("The access token", () => {
  it.effect("is shared by a hundred concurrent applicants", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      const messages = yield* Effect.all(Arr.makeBy(100, (n) => onboard(n % 2 === 0 ? "Testclear" : "Testpep")), {
        concurrency: "unbounded"
      })
      deepStrictEqual(messages, Arr.makeBy(100, (n) => n % 2 === 0 ? Message.Welcome() : Message.Pending()))
      yield* expectRequests({ tokens: 1, checks: 100 })
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))

  it.effect("is replaced after an hour, before a check uses the expired one", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      yield* onboard("Testclear")
      yield* TestClock.adjust("61 minutes")
      deepStrictEqual(yield* onboard("Testclear"), Message.Welcome())
      yield* expectRequests({ tokens: 2, checks: 2 })
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))

  it.effect("is renewed, and the check replayed, if it has expired only by the service's clock", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      yield* onboard("Testclear")
      const { advance, verify } = yield* TestEnvironment.session
      yield* advance("61 minutes")
      deepStrictEqual(yield* onboard("Testclear"), Message.Welcome())
      yield* expectRequests({ tokens: 2, checks: 3 })
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "aml", status: 401 } })
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))

  it.effect("is renewed once for ten concurrent checks after it was revoked", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      yield* onboard("Testclear")
      const { revokeTokens, verify } = yield* TestEnvironment.session
      yield* revokeTokens()
      const messages = yield* Effect.all(Arr.replicate(onboard("Testclear"), 10), { concurrency: "unbounded" })
      deepStrictEqual(messages, Arr.replicate(Message.Welcome(), 10))
      yield* verify({ kind: "exactly", n: 2, pattern: { operation: "token" } })
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))
})
