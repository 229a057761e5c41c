import { TokenError, TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Cause, Duration, Effect, Exit, Fiber, Redacted, Scope, TestClock } from "effect"
import * as Service from "./support/service.ts"
import { get, getText, make, provide, refresh, respondAfter, slow, status } from "./support/tokens.ts"

describe("Single-flight acquisition", () => {
  it.effect("1000 fibers with an empty cache send 1 request and receive equal tokens", () => {
    const service = Service.make({ token: slow("1 second") })
    return Effect.gen(function*() {
      const fibers = yield* Effect.forkAll(Arr.makeBy(1000, () => getText))
      yield* TestClock.adjust("1 second")
      const tokens = yield* Fiber.join(fibers)
      strictEqual(tokens.length, 1000)
      deepStrictEqual(new Set(tokens), new Set(["token-1"]))
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("if the first caller is interrupted during the request, 10 others receive its token", () => {
    const service = Service.make({ token: slow("2 seconds") })
    return Effect.gen(function*() {
      const leader = yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      const waiters = yield* Effect.forkAll(Arr.makeBy(10, () => getText))
      yield* Fiber.interrupt(leader)
      yield* TestClock.adjust("1 second")
      deepStrictEqual(yield* Fiber.join(waiters), Arr.replicate("token-1", 10))
      strictEqual(yield* getText, "token-1")
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect(
    "if the only caller is interrupted during the request, the request completes and the next call uses its token",
    () => {
      const service = Service.make({ token: slow("2 seconds") })
      return Effect.gen(function*() {
        const only = yield* Effect.fork(get)
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(only)
        yield* TestClock.adjust("1 second")
        strictEqual(yield* getText, "token-1")
        strictEqual(service.tokenRequests.length, 1)
      }).pipe(provide(service))
    }
  )

  it.effect(
    "the timeout of one caller does not affect the others",
    () => {
      const service = Service.make({ token: slow("3 seconds") })
      return Effect.gen(function*() {
        const deadline = Duration.seconds(1)
        const hasty = yield* Effect.fork(Effect.flip(Effect.timeoutFail(getText, {
          duration: deadline,
          onTimeout: () => new TokenError.TokenTimeout({ deadline })
        })))
        const patient = yield* Effect.fork(getText)
        yield* TestClock.adjust("1 second")
        strictEqual((yield* Fiber.join(hasty))._tag, "TokenTimeout")
        yield* TestClock.adjust("2 seconds")
        strictEqual(yield* Fiber.join(patient), "token-1")
        strictEqual(service.tokenRequests.length, 1)
      }).pipe(provide(service))
    }
  )

  it.effect(
    "closing the scope aborts the request, fails all callers with TokenProviderClosed, and leaves no fiber",
    () =>
      Effect.gen(function*() {
        const before = Array.from(yield* Fiber.roots)
        let aborted = false
        const service = Service.make({
          token: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => aborted = true))
        })
        const scope = yield* Scope.make()
        const provider = yield* make(service).pipe(Scope.extend(scope))
        const waiters = yield* Effect.forkAll(Arr.makeBy(3, () => Effect.flip(provider.get)))
        yield* TestClock.adjust("1 second")
        yield* Scope.close(scope, Exit.void)
        deepStrictEqual(
          (yield* Fiber.join(waiters)).map(({ _tag }) => _tag),
          Arr.replicate("TokenProviderClosed" as const, 3)
        )
        strictEqual(aborted, true)
        strictEqual((yield* Effect.flip(provider.get))._tag, "TokenProviderClosed")
        strictEqual(service.tokenRequests.length, 1)
        deepStrictEqual(Array.from(yield* Fiber.roots).filter((fiber) => !before.includes(fiber)), [])
      })
  )

  it.effect(
    "after three 503s all callers receive the same error, and the next call after the backoff starts a new acquisition",
    () => {
      const service = Service.make({
        token: (_, count) => Effect.succeed(count <= 3 ? status(503) : Service.tokenResponse(count))
      })
      return Effect.gen(function*() {
        const waiters = yield* Effect.forkAll(Arr.makeBy(5, () => Effect.flip(get)))
        yield* TestClock.adjust("1 second")
        const [first, ...others] = yield* Fiber.join(waiters)
        assert.deepInclude(first, { _tag: "TokenEndpointUnavailable", reason: "status", status: 503, attempts: 3 })
        strictEqual(others.every((other) => other === first), true)
        strictEqual(yield* Effect.flip(get), first)
        strictEqual(service.tokenRequests.length, 3)
        yield* TestClock.adjust("1 second")
        strictEqual(yield* getText, "token-4")
      }).pipe(provide(service))
    }
  )

  it.effect("a defect reaches all callers, and the next call works", () => {
    const service = Service.make({
      token: (_, count) => count === 1 ? Effect.die("defect") : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const causes = yield* Effect.replicateEffect(Effect.flip(Effect.sandbox(get)), 3, { concurrency: "unbounded" })
      deepStrictEqual(causes.map((cause) => [...Cause.defects(cause)]), Arr.replicate(["defect"], 3))
      strictEqual(service.tokenRequests.length, 1)
      strictEqual(yield* getText, "token-2")
    }).pipe(provide(service))
  })

  it.effect("a call in the same tick in which the acquisition completes uses its token", () => {
    const service = Service.make({ token: slow("1 second") })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(get)
      const sameTick = yield* Effect.fork(Effect.zipRight(Effect.sleep("1 second"), getText))
      const afterWaiter = yield* Effect.fork(Effect.zipRight(Fiber.join(waiter), getText))
      yield* TestClock.adjust("1 second")
      deepStrictEqual([yield* Fiber.join(sameTick), yield* Fiber.join(afterWaiter)], ["token-1", "token-1"])
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("providers with another customer id or address do not share a token", () =>
    Effect.gen(function*() {
      const service = Service.make({
        token: ({ headers, url }) =>
          Effect.succeed(Service.json({
            access_token: `${new URL(url).host}/${
              Buffer.from(headers["authorization"]?.slice(6) ?? "", "base64").toString().split(":")[0]
            }`,
            expires_in: 3600
          }))
      })
      const providers = yield* Effect.forEach([
        {},
        { customerId: "other-bank" },
        { authUrl: "https://auth.example.org" }
      ], (options) => make(service, options))
      const texts = yield* Effect.forEach(
        [...providers, ...providers],
        ({ get }) => Effect.map(get, ({ value }) => Redacted.value(value))
      )
      const expected = ["auth.example.com/acme-bank", "auth.example.com/other-bank", "auth.example.org/acme-bank"]
      deepStrictEqual(texts, [...expected, ...expected])
      strictEqual(service.tokenRequests.length, 3)
    }).pipe(Effect.scoped))
})

describe("A token that the API rejects", () => {
  it.effect(
    "invalidate during an acquisition: its callers receive its token, new callers start another one, and the old result does not overwrite the new",
    () => {
      const service = Service.make({
        token: (_, count) => respondAfter(count === 1 ? 0 : count === 2 ? "5 seconds" : "2 seconds", count)
      })
      return Effect.gen(function*() {
        const provider = yield* TokenProvider.TokenProvider
        const first = yield* provider.get
        const oldWaiter = yield* Effect.fork(refresh)
        yield* TestClock.adjust("1 second")
        yield* provider.invalidate(first)
        const newCallers = yield* Effect.forkAll(Arr.makeBy(10, () => getText))
        yield* TestClock.adjust("2 seconds")
        deepStrictEqual(yield* Fiber.join(newCallers), Arr.replicate("token-3", 10))
        yield* TestClock.adjust("2 seconds")
        strictEqual(Redacted.value((yield* Fiber.join(oldWaiter)).value), "token-2")
        strictEqual(yield* getText, "token-3")
        strictEqual(service.tokenRequests.length, 3)
      }).pipe(provide(service))
    }
  )

  it.effect("an error of an abandoned acquisition applies to the next one", () => {
    const service = Service.make({
      token: (_, count) =>
        count === 1
          ? Effect.succeed(Service.tokenResponse(count))
          : Effect.delay(Effect.sync(() => status(429, { "retry-after": "26" })), "9 seconds")
    })
    const { authUrl, customerId, customerKey } = Service.options
    let reads = 0
    const credentials = Effect.suspend(() =>
      Effect.delay(Effect.succeed({ customerId, customerKey }), ++reads === 3 ? "10 seconds" : 0)
    )
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.make({ authUrl, credentials })
      const first = yield* provider.get
      yield* Effect.fork(provider.refresh)
      yield* TestClock.adjust("5 seconds")
      yield* provider.invalidate(first)
      // It still reads its credentials when the response arrives. Its remaining 20 s are too short for the cooldown.
      const next = yield* Effect.fork(Effect.flip(provider.get))
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* Fiber.join(next), {
        _tag: "TokenEndpointUnavailable",
        attempts: 0,
        retryAfter: Duration.seconds(20)
      })
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(Effect.scoped, Effect.provide(service.layer))
  })

  it.effect("rejecting an old token does not evict a newer one, and ten rejections of one token cost one acquisition", () => {
    const service = Service.make({ token: slow("1 second") })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const first = yield* Effect.fork(provider.get)
      yield* TestClock.adjust("1 second")
      const old = yield* Fiber.join(first)
      const callers = yield* Effect.forkAll(
        Arr.makeBy(
          10,
          (i) =>
            Effect.sleep(`${i * 100} millis`).pipe(Effect.zipRight(provider.invalidate(old)), Effect.zipRight(getText))
        )
      )
      yield* TestClock.adjust("2 seconds")
      deepStrictEqual(yield* Fiber.join(callers), Arr.replicate("token-2", 10))
      yield* provider.invalidate(old)
      strictEqual(yield* getText, "token-2")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("a rejected token that is issued again keeps its expiry", () => {
    const service = Service.make({ token: () => Effect.succeed(Service.tokenResponse(1)) })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const first = yield* provider.get
      yield* TestClock.adjust("10 minutes")
      yield* provider.invalidate(first)
      strictEqual((yield* provider.get).expiresAt, first.expiresAt)
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })
})

describe("refresh", () => {
  it.effect("acquires a new token even if the cached one is valid, and shares an acquisition in progress", () => {
    const service = Service.make({ token: slow("1 second") })
    return Effect.gen(function*() {
      yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      const both = yield* Effect.fork(Effect.all([refresh, refresh], { concurrency: "unbounded" }))
      yield* TestClock.adjust("500 millis")
      strictEqual(yield* getText, "token-1")
      yield* TestClock.adjust("500 millis")
      deepStrictEqual((yield* Fiber.join(both)).map(({ value }) => Redacted.value(value)), ["token-2", "token-2"])
      strictEqual(yield* getText, "token-2")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("that fails keeps the valid token", () => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(count === 1 ? Service.tokenResponse(1) : status(403))
    })
    return Effect.gen(function*() {
      yield* get
      strictEqual((yield* Effect.flip(refresh))._tag, "TokenRejected")
      strictEqual(yield* getText, "token-1")
    }).pipe(provide(service))
  })
})
