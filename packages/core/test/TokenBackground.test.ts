import { TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect, Exit, Fiber, Layer, Logger, Scope, TestClock } from "effect"
import * as Service from "./support/service.ts"
import { counted, get, getText, measured, refresh, status } from "./support/tokens.ts"

describe("Background refresh", () => {
  it.effect("starts no acquisition that must not send a request", () => {
    const service = Service.make({ token: () => Effect.succeed(status(503, { "retry-after": "3600" })) })
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => void logged.push(message))
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return TestClock.adjust("59 minutes").pipe(
      Effect.tap(() => deepStrictEqual([service.tokenRequests.length, logged.length], [1, 1])),
      Effect.provide(layer),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })

  it.effect("refreshes once in 55 minutes, and leaves no timer when the scope is closed", () => {
    const service = Service.make()
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      yield* Effect.gen(function*() {
        yield* TestClock.adjust(0)
        strictEqual(service.tokenRequests.length, 1)
        yield* TestClock.adjust("55 minutes")
        strictEqual(service.tokenRequests.length, 2)
        strictEqual(yield* getText, "token-2")
      }).pipe(Effect.provide(layer))
      yield* TestClock.adjust("10 hours")
      strictEqual(service.tokenRequests.length, 2)
    })
  })

  it.effect.each<[string, number, TokenProvider.Options["tokenPolicy"] & object]>([
    ["40 s, whose usable-until is before its refresh-after", 40, {}],
    ["4 s", 4, {}],
    ["1 hour, with refresh-after near its end", 3600, { refreshAfter: 1 }]
  ])("renews a token of %s before a caller has to wait", ([, seconds, tokenPolicy]) => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(Service.tokenResponse(count, { expires_in: seconds }))
    })
    const layer = Layer.provide(TokenProvider.layerBackground({ ...Service.options, tokenPolicy }), service.layer)
    return Effect.gen(function*() {
      yield* TestClock.adjust(0)
      for (let i = 0; i < 40; i++) {
        yield* get
        yield* TestClock.adjust(seconds * 100)
      }
      strictEqual(yield* counted("idv_token_gets", { outcome: "wait" }), 0)
      const requests = service.tokenRequests.length
      assert(requests >= 4 && requests <= 20, `${requests} POSTs in 4 lifetimes`)
    }).pipe(Effect.provide(layer), measured(`ahead ${seconds} ${tokenPolicy.refreshAfter}`))
  })

  it.effect("replaces a rejected token without a caller", () => {
    const service = Service.make()
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const token = yield* provider.get
      yield* TestClock.adjust("1 minute")
      yield* provider.invalidate(token)
      yield* TestClock.adjust(0)
      strictEqual(service.tokenRequests.length, 2)
      strictEqual(yield* counted("idv_token_acquisitions", { reason: "unauthorized" }), 1)
    }).pipe(Effect.provide(layer), measured("ahead unauthorized"))
  })

  it.effect("does not wait for an abandoned renewal, which was sent before the rejection", () => {
    const service = Service.make({
      token: (_, count) => count === 2 ? Effect.never : Effect.succeed(Service.tokenResponse(count))
    })
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const token = yield* provider.get
      yield* TestClock.adjust("2500 seconds")
      strictEqual(service.tokenRequests.length, 2)
      yield* provider.invalidate(token)
      yield* TestClock.adjust(0)
      strictEqual(service.tokenRequests.length, 3)
      strictEqual(yield* getText, "token-3")
    }).pipe(Effect.provide(layer), Effect.withRandomFixed([0.5]))
  })

  it.effect.each<[string, (count: number) => number, number]>([
    ["another token", (count) => count, 300 - 30],
    ["the same token", () => 1, 300]
  ])("reschedules when refresh returns %s with less time", ([, number, seconds]) => {
    const service = Service.make({
      token: (_, count) =>
        Effect.succeed(Service.tokenResponse(number(count), { expires_in: count === 1 ? 3600 : 300 }))
    })
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      yield* TestClock.adjust("1 minute")
      yield* refresh
      strictEqual(service.tokenRequests.length, 2)
      yield* TestClock.adjust(`${seconds} seconds`)
      strictEqual(service.tokenRequests.length, 3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("can be closed even if it was built in an uninterruptible region", () => {
    const service = Service.make()
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Effect.uninterruptible(Layer.buildWithScope(layer, scope))
      yield* TestClock.adjust("1 minute")
      // Without waiting for it, a fiber that hangs fails the test instead of blocking it.
      const closing = yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(0)
      assert((yield* Fiber.poll(closing))._tag === "Some", "the scope does not close")
      yield* TestClock.adjust("10 hours")
      strictEqual(service.tokenRequests.length, 1)
    })
  })

  it.effect("a refresh-after of 0 does not renew without a pause", () => {
    const service = Service.make()
    const tokenPolicy = { refreshAfter: 0 }
    const layer = Layer.provide(TokenProvider.layerBackground({ ...Service.options, tokenPolicy }), service.layer)
    return Effect.gen(function*() {
      yield* TestClock.adjust("59 minutes")
      assert(service.tokenRequests.length <= 11, `${service.tokenRequests.length} POSTs in an hour`)
    }).pipe(Effect.provide(layer))
  })

  it.effect.each<[string, number]>([
    ["past usable-until", 600],
    ["past the point where it is renewed", 450]
  ])("pauses after a token with such a short lifetime that it arrives %s", ([, millis]) => {
    const service = Service.make({
      token: (_, count) =>
        Effect.delay(Effect.sync(() => Service.tokenResponse(count, { expires_in: 1 })), `${millis} millis`)
    })
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      yield* TestClock.adjust(millis)
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust(999)
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust("1 minute")
      const requests = service.tokenRequests.length
      assert(requests >= 30 && requests <= 60, `${requests} POSTs in a minute`)
    }).pipe(Effect.provide(layer))
  })

  it.effect("backs off no longer than the cached token is usable", () => {
    const usableUntil = 3_570_000
    const service = Service.make({
      token: (_, count) =>
        Effect.map(
          Clock.currentTimeMillis,
          (now) => count === 1 || now === usableUntil ? Service.tokenResponse(count) : status(503)
        )
    })
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      yield* TestClock.adjust(usableUntil - 1)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.adjust(1)
      yield* get
      strictEqual(yield* counted("idv_token_gets", { outcome: "wait" }), 0)
    }).pipe(Effect.provide(layer), Effect.withRandomFixed([0.5]), measured("background backoff"))
  })

  it.effect("backs off while the endpoint is down, and no caller waits once it is back", () => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(count <= 5 ? status(503) : Service.tokenResponse(count))
    })
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      yield* TestClock.adjust("15 seconds")
      strictEqual(service.tokenRequests.length, 5)
      yield* TestClock.adjust("16 seconds")
      strictEqual(yield* getText, "token-6")
      strictEqual(yield* counted("idv_token_gets", { outcome: "hit" }), 1)
    }).pipe(Effect.provide(layer), measured("background"))
  })
})
