import { TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { assertEquals, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Data, Effect, Fiber, Option, Redacted, Stream, SubscriptionRef, TestClock } from "effect"
import * as Service from "./support/service.ts"
import { provide, respondAfter, status } from "./support/tokens.ts"

const hour = 3_600_000

describe("status", () => {
  it.effect("follows the token, and does not contain it", () => {
    const service = Service.make({
      token: (_, count) => count === 2 ? Effect.succeed(status(403)) : respondAfter("1 second", count)
    })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const changes = yield* Effect.fork(Stream.runCollect(Stream.take(provider.status.changes, 3)))
      yield* Effect.yieldNow()
      const first = yield* Effect.fork(provider.get)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(first)
      const token = Option.some(Data.struct({ requestedAt: 0, renewedFrom: 0.7 * hour, expiresAt: hour }))
      const none = { token: Option.none(), isAcquiring: false, failure: Option.none() }
      const expected = [none, { ...none, isAcquiring: true }, { ...none, token }]
      const seen = [...yield* Fiber.join(changes)]
      strictEqual(seen.length, 3)
      for (const [i, fields] of expected.entries()) assertEquals(seen[i], new TokenProvider.Status(fields))

      const error = yield* Effect.flip(provider.refresh)
      assertEquals(
        yield* SubscriptionRef.get(provider.status),
        new TokenProvider.Status({ token, isAcquiring: false, failure: Option.some(error) })
      )
      yield* provider.invalidate(yield* provider.get)
      strictEqual(Option.isNone((yield* SubscriptionRef.get(provider.status)).token), true)
    }).pipe(provide(service), Effect.withRandomFixed([0.5]))
  })
})

describe("Credentials from an effect", () => {
  const { authUrl, customerId, customerKey } = Service.options
  const rotating = (
    service: ReturnType<typeof Service.make>,
    credentials: TokenProvider.RotatingOptions["credentials"]
  ) => Effect.provide(TokenProvider.make({ authUrl, credentials }), service.layer)

  it.effect.each<[string, TokenProvider.RotatingOptions["credentials"]]>([
    ["that fails", Effect.fail(new Error("canary"))],
    ["that interrupts itself", Effect.interrupt],
    ["that throws", Effect.promise(() => Promise.reject(new Error("canary")))],
    [
      "whose result throws",
      Effect.sync(() => ({
        customerId,
        get customerKey(): Redacted.Redacted {
          throw new Error("canary")
        }
      }))
    ],
    ["that returns null", Effect.sync(() => JSON.parse("null"))],
    ["that returns an empty key", Effect.succeed({ customerId, customerKey: Redacted.make("") })],
    ["that returns an ambiguous id", Effect.succeed({ customerId: "canary:", customerKey })]
  ])("%s: nothing is sent, and the next call retries", ([, broken]) => {
    const service = Service.make()
    let isBroken = true
    return Effect.gen(function*() {
      const { get } = yield* rotating(
        service,
        Effect.suspend(() => isBroken ? broken : Effect.succeed({ customerId, customerKey }))
      )
      const error = yield* Effect.flip(get)
      assert.deepInclude(error, { _tag: "TokenEndpointUnavailable", reason: "credentials", attempts: 0 })
      strictEqual(error.message, "The credentials for the token endpoint are not available")
      strictEqual(service.tokenRequests.length, 0)
      isBroken = false
      strictEqual(Redacted.value((yield* get).value), "token-1")
    }).pipe(Effect.scoped)
  })

  it.effect("that are two rejected keys in turn are each sent once", () => {
    const service = Service.make({
      token: () => Effect.succeed(Service.json({ error: "invalid_client" }, { status: 401 }))
    })
    let reads = 0
    return Effect.gen(function*() {
      const { get } = yield* rotating(
        service,
        Effect.sync(() => ({ customerId, customerKey: Redacted.make(`canary-${reads++ % 2}`) }))
      )
      for (let i = 0; i < 20; i++) strictEqual((yield* Effect.flip(get))._tag, "TokenRejected")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(Effect.scoped)
  })

  it.effect("are read once for each acquisition, and not while a token is cached", () => {
    const service = Service.make()
    let reads = 0
    return Effect.gen(function*() {
      const { get } = yield* rotating(service, Effect.sync(() => ({ customerId, customerKey, reads: reads++ })))
      yield* Effect.replicateEffect(get, 100, { concurrency: "unbounded" })
      strictEqual(reads, 1)
    }).pipe(Effect.scoped)
  })

  it.effect("that are slow leave the rest of the deadline to the request", () => {
    const service = Service.make({ token: () => Effect.never })
    return Effect.gen(function*() {
      const { get } = yield* rotating(
        service,
        Effect.delay(Effect.succeed({ customerId, customerKey }), "29 seconds")
      )
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("30 seconds")
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenTimeout")
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(Effect.scoped)
  })

  it.effect("that hang are a TokenTimeout after the deadline of the acquisition", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const { get } = yield* rotating(service, Effect.never)
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("30 seconds")
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenTimeout")
    }).pipe(Effect.scoped)
  })
})

describe("layerTest", () => {
  it.effect("returns its token without an HttpClient", () =>
    Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const token = yield* provider.get
      deepStrictEqual([Redacted.value(token.value), token.requestedAt, token.expiresAt], ["fixed", 0, hour])
      yield* provider.invalidate(token)
      deepStrictEqual(yield* provider.refresh, token)
      yield* TestClock.adjust("2 hours")
      strictEqual((yield* provider.get).expiresAt, 3 * hour)
      strictEqual(Option.isSome((yield* SubscriptionRef.get(provider.status)).token), true)
    }).pipe(Effect.provide(TokenProvider.layerTest("fixed"))))
})
