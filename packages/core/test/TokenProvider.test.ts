import { TokenError, TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { assertEquals, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Cause,
  Data,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Option,
  Redacted,
  Scope,
  Stream,
  SubscriptionRef,
  TestClock
} from "effect"
import * as Clocks from "./support/clocks.ts"
import * as Service from "./support/service.ts"
import { answerAfter, counted, get, getText, make, measured, provide, refresh, slow, status } from "./support/tokens.ts"

const hour = 3_600_000
const hardPoint = hour - 30_000

/** 200 calls in the 60 s after the soft point: each has the old token, and few cost a request. */
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

describe("Cold and flight", () => {
  it.effect("1. 1000 fibers, empty cache -> exactly 1 POST, 1000 equal tokens", () => {
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

  it.effect("2. leader interrupted mid-POST, 10 waiters -> 1 POST, 10 successes, token cached", () => {
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
    "3. sole caller interrupted mid-POST -> POST completes in layer scope, next call uses it (1 POST in total)",
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
    "4. one waiter has timeout 1 s, POST takes 3 s -> that waiter TokenTimeout at 1 s, others succeed at 3 s",
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
    "5. layer scope closed mid-flight -> POST aborted, all waiters fail with a typed shutdown error, no unhandled rejection, no fiber left",
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
    "6. flight fails 503 x3 -> all waiters the same TokenEndpointUnavailable, 3 POSTs not 3xN, next call starts a new flight",
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
        strictEqual(service.tokenRequests.length, 3)
        strictEqual(yield* getText, "token-4")
      }).pipe(provide(service))
    }
  )

  it.effect("7. defect in decoder -> waiters get the defect once; slot cleared; next call works", () => {
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

  it.effect("8. call made in the same tick the flight completes -> uses the result, no second POST", () => {
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

  it.effect("9. two different client ids or auth_urls in one process -> 2 slots, no cross use", () =>
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

describe("Expiry", () => {
  it.effect(
    "10. POST takes 120 s (deadline set longer) -> token expires 3480 s after response, i.e. 3600 after request",
    () => {
      const service = Service.make({ token: slow("120 seconds") })
      const tokenPolicy = { attemptDeadline: "150 seconds", flightDeadline: "150 seconds" } as const
      return Effect.gen(function*() {
        const first = yield* Effect.fork(get)
        yield* TestClock.adjust("120 seconds")
        const token = yield* Fiber.join(first)
        deepStrictEqual([token.requestedAt, token.expiresAt], [0, 120_000 + 3_480_000])
      }).pipe(provide(service, { tokenPolicy }))
    }
  )

  it.effect("11. attempt 1 times out at t=0..10, attempt 2 sent t=11 -> expiry counts from 11", () => {
    const service = Service.make({
      token: (_, count) => count === 1 ? Effect.never : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(get)
      yield* TestClock.adjust("11 seconds")
      const { expiresAt, requestedAt } = yield* Fiber.join(waiter)
      strictEqual(requestedAt, 11_000)
      strictEqual(expiresAt, 11_000 + hour)
    }).pipe(provide(service, { tokenPolicy: { retryDelay: "1 second" } }), Effect.withRandomFixed([1]))
  })

  it.effect("12. t = expiry - hardMargin - 1 ms -> cached; t = expiry - hardMargin -> blocked on new POST", () => {
    const service = Service.make({
      token: (_, count) => count === 2 ? Effect.never : answerAfter(count === 1 ? 0 : "5 seconds", count)
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(hardPoint - 1)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.setTime(hardPoint)
      const blocked = yield* Effect.fork(getText)
      yield* TestClock.adjust("4 seconds")
      strictEqual(Option.isNone(yield* Fiber.poll(blocked)), true)
      yield* TestClock.adjust("20 seconds")
      strictEqual(yield* Fiber.join(blocked), "token-3")
    }).pipe(provide(service))
  })

  it.effect(
    "13. t in soft window -> old token at once, exactly 1 background POST; second call in window does not start another",
    () => {
      const service = Service.make({ token: (_, count) => answerAfter(count === 1 ? 0 : "5 seconds", count) })
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
    "14. soft refresh fails, t < hard -> callers keep succeeding; attempts follow back-off (200 calls -> <= 6 POSTs in 60 s)",
    () => {
      const service = Service.make({
        token: (_, count) => Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503))
      })
      return Effect.gen(function*() {
        yield* renewsByBackoff(service)
      }).pipe(provide(service))
    }
  )

  it.effect("14. soft refresh is told to wait 20 s -> it does, though the back-off is shorter, and callers do not notice", () => {
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
    "14. soft refresh fails with %s -> a warning for each flight, since no caller is told",
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
          `The token endpoint is not available: it answered with status 503 ${end}`
        ]]
        deepStrictEqual(logged, Arr.replicate(warning, count))
      }).pipe(provide(service), Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    }
  )

  it.effect("layerBackground starts no flight that may not ask", () => {
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

  it.effect("15. soft refresh fails until hard -> then callers get the typed error, not the old token", () => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503))
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(hardPoint - 1)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.setTime(hardPoint)
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiter), { _tag: "TokenEndpointUnavailable", status: 503 })
    }).pipe(provide(service))
  })

  it.effect("18. lifetime 20 s < hard margin 30 s -> margin clamped (10 s), no refetch per call, no livelock", () => {
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

  it.effect("19. new token string equals current -> expiry not extended; warning", () => {
    const service = Service.make({ token: (_, count) => Effect.succeed(Service.tokenResponse(Math.max(1, count - 3))) })
    return Effect.gen(function*() {
      const first = yield* get
      const again = yield* refresh
      deepStrictEqual([again.requestedAt, again.expiresAt], [first.requestedAt, first.expiresAt])
      strictEqual(yield* counted("idv_token_warnings", { warning: "same_token" }), 1)
      // The service has no other, so this one is used past its margin, and never past its end.
      yield* TestClock.setTime(hour - 1)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.setTime(hour)
      assert.deepInclude(yield* Effect.flip(get), { _tag: "TokenResponseInvalid", status: 200 })
      strictEqual(yield* getText, "token-2")
    }).pipe(provide(service), measured("19"))
  })

  it.effect("19. a service that has no new token yet is not asked with every call", () => {
    const service = Service.make({ token: () => Effect.succeed(Service.tokenResponse(1)) })
    return Effect.gen(function*() {
      yield* renewsByBackoff(service)
    }).pipe(provide(service))
  })

  it.effect("20. wall clock set back 2 h -> token still expires after 3600 s monotonic; set forward 2 h -> refetched", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const { adjust, clock, moveWall } = yield* Clocks.make
      yield* Effect.gen(function*() {
        yield* get
        yield* moveWall(-2 * hour)
        yield* adjust(hardPoint - 1)
        strictEqual(yield* getText, "token-1")
        yield* adjust(1)
        assert.notStrictEqual(yield* getText, "token-1")
        const before = service.tokenRequests.length
        yield* moveWall(2 * hour)
        strictEqual(yield* getText, `token-${before + 1}`)
      }).pipe(provide(service), Effect.withClock(clock))
    })
  })

  it.effect("21. process suspended 2 h (monotonic stands still, wall moves) -> refetched before use", () => {
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

  it.effect("22. TestClock adjust 55 min with layerBackground -> exactly 1 refresh; scope closed -> 0 timers", () => {
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
    ["40 s, whose margin is before the soft point", 40, {}],
    ["4 s", 4, {}],
    ["1 hour, with a soft point at its end", 3600, { softPoint: 1, jitter: 0 }]
  ])("layerBackground renews a token of %s before anybody has to wait", ([, seconds, tokenPolicy]) => {
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
    }).pipe(Effect.provide(layer), measured(`ahead ${seconds} ${tokenPolicy.softPoint}`))
  })

  it.effect("layerBackground replaces a token that was refused, with nobody asking", () => {
    const service = Service.make()
    const layer = Layer.provide(TokenProvider.layerBackground(Service.options), service.layer)
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const token = yield* provider.get
      yield* TestClock.adjust("1 minute")
      yield* provider.invalidate(token)
      yield* TestClock.adjust(0)
      strictEqual(service.tokenRequests.length, 2)
      strictEqual(yield* counted("idv_token_flights", { reason: "unauthorized" }), 1)
    }).pipe(Effect.provide(layer), measured("ahead unauthorized"))
  })

  it.effect("a soft point at the beginning does not renew without a pause", () => {
    const service = Service.make()
    const tokenPolicy = { softPoint: 0, jitter: 1 }
    const layer = Layer.provide(TokenProvider.layerBackground({ ...Service.options, tokenPolicy }), service.layer)
    return Effect.gen(function*() {
      yield* TestClock.adjust("59 minutes")
      assert(service.tokenRequests.length <= 11, `${service.tokenRequests.length} POSTs in an hour`)
    }).pipe(Effect.provide(layer))
  })

  it.effect("layerBackground backs off while the endpoint is down, and nobody who asks waits once it is back", () => {
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

describe("API 401 / 403", () => {
  it.effect(
    "49. explicit invalidate during flight -> waiters of old flight get its token, new callers start flight 2, old result does not overwrite",
    () => {
      const service = Service.make({
        token: (_, count) => answerAfter(count === 1 ? 0 : count === 2 ? "5 seconds" : "2 seconds", count)
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

  it.effect("the refusal of an old token does not evict a newer one, and ten refusals of one cost one flight", () => {
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

  it.effect("a token that was refused and is given again keeps its expiry", () => {
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
  it.effect("gives a new token though there is a valid one, and shares a flight under way", () => {
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

  it.effect("that fails leaves the valid token", () => {
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

describe("status", () => {
  it.effect("follows the token, without the token", () => {
    const service = Service.make({
      token: (_, count) => count === 2 ? Effect.succeed(status(403)) : answerAfter("1 second", count)
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
    ["that gives an empty key", Effect.succeed({ customerId, customerKey: Redacted.make("") })],
    ["that gives an id that is ambiguous", Effect.succeed({ customerId: "canary:", customerKey })]
  ])("%s: nothing is sent, and the next call tries again", ([, broken]) => {
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

  it.effect("are read once for each acquisition, and never while there is a token", () => {
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

  it.effect("that hang are a TokenTimeout after the deadline of a flight", () => {
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
  it.effect("gives its token, without an HttpClient", () =>
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
