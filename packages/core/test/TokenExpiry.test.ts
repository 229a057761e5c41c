import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Clock, Effect, Fiber, Logger, Option, Redacted, Scheduler, TestClock } from "effect"
import * as Clocks from "./support/clocks.ts"
import * as Service from "./support/service.ts"
import { counted, get, getText, measured, provide, refresh, respondAfter, slow, status } from "./support/tokens.ts"

const hour = 3_600_000
const usableUntil = hour - 30_000

/** 200 calls in the 60 s after the token is stale: each returns the old token, and few cost a request. */
const renewsByBackoff = (service: ReturnType<typeof Service.make>) =>
  Effect.gen(function*() {
    yield* get
    yield* TestClock.setTime(0.75 * hour)
    for (let i = 0; i < 200; i++) {
      strictEqual(yield* getText, "token-1")
      yield* TestClock.adjust("300 millis")
    }
    const renewals = service.tokenRequests.length - 1
    assert(renewals >= 4 && renewals <= 6, `${renewals} POSTs in 60 s`)
  })

describe("Expiry", () => {
  it.effect(
    "the lifetime counts from the request, also if the response takes 120 s",
    () => {
      const service = Service.make({ token: slow("120 seconds") })
      const tokenPolicy = { attemptDeadline: "150 seconds", acquisitionDeadline: "150 seconds" } as const
      return Effect.gen(function*() {
        const first = yield* Effect.fork(get)
        yield* TestClock.adjust("120 seconds")
        const token = yield* Fiber.join(first)
        deepStrictEqual([token.requestedAt, token.expiresAt], [0, 120_000 + 3_480_000])
      }).pipe(provide(service, { tokenPolicy }))
    }
  )

  it.effect("after a timeout, the lifetime counts from the second request", () => {
    const service = Service.make({
      token: (_, count) => count === 1 ? Effect.never : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(get)
      yield* TestClock.adjust("11 seconds")
      const { expiresAt, requestedAt } = yield* Fiber.join(waiter)
      strictEqual(requestedAt, 10_200)
      strictEqual(expiresAt, 10_200 + hour)
    }).pipe(provide(service), Effect.withRandomFixed([1]))
  })

  it.live("a token has the same age for a fiber with another clock on machine time", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* get
      yield* Effect.withClock(get, Clock.make())
      yield* get
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("a token is returned until the expiry margin, and then callers wait for a new one", () => {
    const service = Service.make({
      token: (_, count) => count === 2 ? Effect.never : respondAfter(count === 1 ? 0 : "5 seconds", count)
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(usableUntil - 1)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.setTime(usableUntil)
      const blocked = yield* Effect.fork(getText)
      yield* TestClock.adjust("4 seconds")
      strictEqual(Option.isNone(yield* Fiber.poll(blocked)), true)
      yield* TestClock.adjust("20 seconds")
      strictEqual(yield* Fiber.join(blocked), "token-3")
    }).pipe(provide(service))
  })

  it.effect(
    "a stale token is returned at once, and refreshed by exactly one background request",
    () => {
      const service = Service.make({ token: (_, count) => respondAfter(count === 1 ? 0 : "5 seconds", count) })
      return Effect.gen(function*() {
        yield* get
        yield* TestClock.setTime(0.65 * hour - 1)
        strictEqual(yield* getText, "token-1")
        strictEqual(service.tokenRequests.length, 1)
        yield* TestClock.setTime(0.75 * hour)
        deepStrictEqual([yield* getText, yield* getText], ["token-1", "token-1"])
        yield* TestClock.adjust("1 second")
        strictEqual(yield* getText, "token-1")
        strictEqual(service.tokenRequests.length, 2)
        yield* TestClock.adjust("4 seconds")
        strictEqual(yield* getText, "token-2")
        strictEqual(service.tokenRequests.length, 2)
      }).pipe(provide(service))
    }
  )

  it.effect(
    "a caller with a valid token makes the same steps during a renewal and after a failed one as with a fresh token",
    () => {
      const service = Service.make({
        token: (_, count) =>
          Effect.delay(Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503)), "100 millis")
      })
      const stepsOfGet = Effect.suspend(() => {
        let steps = 0
        const scheduler = Scheduler.make(
          Scheduler.defaultScheduler.scheduleTask.bind(Scheduler.defaultScheduler),
          (fiber) => {
            steps++
            return Scheduler.defaultScheduler.shouldYield(fiber)
          }
        )
        return Effect.map(Effect.withScheduler(get, scheduler), ({ value }) => [Redacted.value(value), steps] as const)
      })
      return Effect.gen(function*() {
        yield* Effect.fork(get)
        yield* TestClock.adjust("100 millis")
        const fresh = yield* stepsOfGet
        yield* TestClock.setTime(0.75 * hour)
        yield* get
        yield* TestClock.adjust("50 millis")
        const duringRenewal = yield* stepsOfGet
        yield* TestClock.adjust("850 millis")
        strictEqual(yield* counted("idv_token_failures", { error: "TokenEndpointUnavailable" }), 1)
        deepStrictEqual([duringRenewal, yield* stepsOfGet], [fresh, fresh])
      }).pipe(provide(service), measured("steps"))
    }
  )

  it.effect(
    "if a background refresh fails, callers still succeed and its attempts back off",
    () => {
      const service = Service.make({
        token: (_, count) => Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503))
      })
      return Effect.gen(function*() {
        yield* renewsByBackoff(service)
      }).pipe(provide(service))
    }
  )

  it.effect("a background refresh waits for Retry-After even if the backoff is shorter, and callers still succeed", () => {
    const service = Service.make({
      token: (_, count) =>
        Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503, { "retry-after": "20" }))
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(0.75 * hour)
      for (let i = 0; i < 19; i++) {
        strictEqual(yield* getText, "token-1")
        yield* TestClock.adjust("1 second")
      }
      strictEqual(service.tokenRequests.length, 2)
      yield* TestClock.adjust("1 second")
      yield* get
      yield* TestClock.adjust(0)
      strictEqual(service.tokenRequests.length, 3)
    }).pipe(provide(service))
  })

  it.effect.each<[string, Record<string, string>, string, number]>([
    ["503", {}, "(requests: 1)", 6],
    ["503, Retry-After: 3600", { "retry-after": "3600" }, "(requests: 1; try again in 1h)", 1]
  ])(
    "a background refresh that fails with %s logs a warning, because no caller receives the error",
    ([, headers, end, count]) => {
      const service = Service.make({
        token: (_, count) => Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503, headers))
      })
      const logged: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => void logged.push([logLevel.label, message]))
      return Effect.gen(function*() {
        yield* get
        yield* TestClock.setTime(0.75 * hour)
        for (let i = 0; i < 60; i++) {
          yield* get
          yield* TestClock.adjust("1 second")
        }
        const warning = ["WARN", [
          "The access token was not renewed in the background",
          `The token endpoint at auth.example.com:443 is not available: it responded with status 503 ${end}`
        ]]
        deepStrictEqual(logged, Arr.replicate(warning, count))
      }).pipe(provide(service), Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    }
  )

  it.effect("if background refreshes fail until the expiry margin, callers receive the error and not the old token", () => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503))
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(usableUntil - 1)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.setTime(usableUntil)
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiter), { _tag: "TokenEndpointUnavailable", status: 503 })
    }).pipe(provide(service))
  })

  it.effect("a lifetime shorter than the expiry margin halves the margin, and not every call sends a request", () => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(Service.tokenResponse(count, { expires_in: 20 }))
    })
    return Effect.gen(function*() {
      deepStrictEqual(yield* Effect.replicateEffect(getText, 5), Arr.replicate("token-1", 5))
      yield* TestClock.setTime(9_999)
      strictEqual(yield* getText, "token-1")
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.setTime(10_000)
      strictEqual(yield* getText, "token-2")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("a token that is issued again keeps its expiry, with a warning", () => {
    const service = Service.make({ token: (_, count) => Effect.succeed(Service.tokenResponse(Math.max(1, count - 3))) })
    return Effect.gen(function*() {
      const first = yield* get
      const again = yield* refresh
      deepStrictEqual([again.requestedAt, again.expiresAt], [first.requestedAt, first.expiresAt])
      strictEqual(yield* counted("idv_token_warnings", { warning: "same_token" }), 1)
      // The service has no other token, so this one is used beyond its margin, but not beyond its expiry.
      yield* TestClock.setTime(hour - 1)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.setTime(hour)
      assert.deepInclude(yield* Effect.flip(get), { _tag: "TokenResponseInvalid", status: 200 })
      yield* TestClock.adjust("5 seconds")
      strictEqual(yield* getText, "token-2")
    }).pipe(provide(service), measured("19"))
  })

  it.effect("while the service issues the same token, not every call sends a request", () => {
    const service = Service.make({ token: () => Effect.succeed(Service.tokenResponse(1)) })
    return Effect.gen(function*() {
      yield* renewsByBackoff(service)
    }).pipe(provide(service))
  })

  it.effect("a token expires in monotonic time if the wall clock is set back, and at once if it is set forward", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const { adjust, clock, moveWall } = yield* Clocks.make
      yield* Effect.gen(function*() {
        yield* get
        yield* moveWall(-2 * hour)
        yield* adjust(usableUntil - 1)
        strictEqual(yield* getText, "token-1")
        yield* adjust(1)
        assert.notStrictEqual(yield* getText, "token-1")
        const before = service.tokenRequests.length
        yield* moveWall(2 * hour)
        strictEqual(yield* getText, `token-${before + 1}`)
      }).pipe(provide(service), Effect.withClock(clock))
    })
  })

  it.effect("after the process was suspended, the token is replaced before use", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const { clock, moveWall } = yield* Clocks.make
      yield* Effect.gen(function*() {
        yield* get
        yield* moveWall(2 * hour)
        strictEqual(yield* getText, "token-2")
      }).pipe(provide(service), Effect.withClock(clock))
    })
  })
})
