import type { TokenError } from "@effect-idv/core"
import { TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { Duration } from "effect"
import { Array as Arr, Effect, Fiber, Redacted, TestClock } from "effect"
import * as Ada from "./support/ada.ts"
import * as Service from "./support/service.ts"
import { counted, get, getText, measured, provide, refresh, status } from "./support/tokens.ts"

const html: Service.Handler = () =>
  Effect.sync(() => new Response("<html>", { headers: { "content-type": "text/html" } }))

const nonsense: ReadonlyArray<readonly [string, Service.Handler, TokenError.TokenError["_tag"], number]> = [
  ["200 with HTML", html, "TokenResponseInvalid", 1],
  ["200 with an empty body", () => Effect.sync(() => status(200)), "TokenResponseInvalid", 1],
  ["a redirect", () => Effect.sync(() => status(302, { location: "/" })), "TokenResponseInvalid", 1],
  ["503", () => Effect.sync(() => status(503)), "TokenEndpointUnavailable", 3],
  [
    "503 and Retry-After: 0",
    () => Effect.sync(() => status(503, { "retry-after": "0" })),
    "TokenEndpointUnavailable",
    3
  ],
  ["an untrusted certificate", Service.failing({ code: "CERT_HAS_EXPIRED" }), "TokenEndpointUnavailable", 1],
  ["no connection", Service.failing({ code: "ECONNREFUSED", syscall: "connect" }), "TokenEndpointUnavailable", 3]
]

/** The error of `get`, after the retries of its acquisition. */
const fails = Effect.gen(function*() {
  const fiber = yield* Effect.fork(Effect.flip(get))
  yield* TestClock.adjust("600 millis")
  return yield* Fiber.join(fiber)
})

describe("After a failed acquisition", { concurrent: true }, () => {
  it.effect.each(nonsense)(
    "with %s: 3,000 consecutive callers cost one acquisition",
    ([, token, tag, requests]) => {
      const service = Service.make({ token })
      return Effect.gen(function*() {
        const first = yield* fails
        strictEqual(first._tag, tag)
        for (let i = 0; i < 2999; i++) strictEqual(yield* Effect.flip(get), first)
        strictEqual(yield* Effect.flip(refresh), first)
        strictEqual(service.tokenRequests.length, requests)
      }).pipe(provide(service))
    }
  )

  it.effect("the backoff is 1 s, doubled up to 5 s, and 1 s again after a success", () => {
    const broken = new Set(Arr.range(1, 6).concat(8))
    const service = Service.make({
      token: (received, count, request) =>
        broken.has(count) ? html(received, count, request) : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      yield* Effect.flip(get)
      for (const [i, seconds] of [1, 2, 4, 5, 5].entries()) {
        yield* TestClock.adjust(seconds * 1000 - 1)
        yield* Effect.flip(get)
        strictEqual(service.tokenRequests.length, i + 1)
        yield* TestClock.adjust(1)
        yield* Effect.flip(get)
        strictEqual(service.tokenRequests.length, i + 2)
      }
      yield* TestClock.adjust("5 seconds")
      strictEqual(yield* getText, "token-7")
      yield* TestClock.adjust("1 hour")
      yield* Effect.flip(get)
      yield* TestClock.adjust("999 millis")
      yield* Effect.flip(get)
      strictEqual(service.tokenRequests.length, 8)
      yield* TestClock.adjust("1 millis")
      strictEqual(yield* getText, "token-9")
    }).pipe(provide(service))
  })

  it.effect("concurrent callers receive its failure at once, and each is counted", () => {
    const service = Service.make({ token: html })
    return Effect.gen(function*() {
      yield* Effect.flip(get)
      const errors = yield* Effect.replicateEffect(Effect.flip(get), 100, { concurrency: "unbounded" })
      deepStrictEqual(new Set(errors.map(({ _tag }) => _tag)), new Set(["TokenResponseInvalid"]))
      strictEqual(service.tokenRequests.length, 1)
      strictEqual(yield* counted("idv_token_gets", { outcome: "failed" }), 101)
      strictEqual(yield* counted("idv_token_acquisitions"), 1)
    }).pipe(provide(service), measured("backoff"))
  })

  it.effect("a caller each second costs at most one request in 5 s", () => {
    const service = Service.make({ token: html })
    return Effect.gen(function*() {
      for (let second = 0; second < 600; second++) {
        yield* Effect.flip(get)
        yield* TestClock.adjust("1 second")
      }
      assert(service.tokenRequests.length <= 123, `${service.tokenRequests.length} token requests`)
    }).pipe(provide(service))
  })

  it.effect("a check fails at once and sends nothing", () => {
    const service = Service.make({ token: html })
    return Effect.gen(function*() {
      const errors = yield* Effect.replicateEffect(Effect.flip(Ada.check), 20)
      deepStrictEqual(new Set(errors.map(({ _tag }) => _tag)), new Set(["TokenResponseInvalid"]))
      deepStrictEqual([service.tokenRequests.length, service.amlRequests.length], [1, 0])
    }).pipe(Ada.provide(service))
  })
})

describe("There is no backoff", () => {
  it.effect("for callers with a valid token, if a background refresh fails", () => {
    const service = Service.make({
      token: (received, count, request) =>
        count === 1 ? Effect.succeed(Service.tokenResponse(count)) : html(received, count, request)
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(0.75 * 3_600_000)
      for (let i = 0; i < 800; i++) {
        strictEqual(yield* getText, "token-1")
        yield* TestClock.adjust("1 second")
      }
    }).pipe(provide(service))
  })

  it.effect("of more than 5 s without a token, after a long one in the background", () => {
    let isBroken = true
    const service = Service.make({
      token: (received, count, request) =>
        count > 1 && isBroken ? html(received, count, request) : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const token = yield* provider.get
      yield* TestClock.setTime(0.75 * 3_600_000)
      for (let i = 0; i < 130; i++) {
        yield* get
        yield* TestClock.adjust("1 second")
      }
      const before = service.tokenRequests.length
      isBroken = false
      yield* provider.invalidate(token)
      strictEqual(yield* getText, `token-${before + 1}`)
    }).pipe(provide(service))
  })

  it.effect("after an acquisition that was abandoned because its token was rejected", () => {
    const service = Service.make({
      token: (received, count, request) =>
        count === 2
          ? Effect.delay(html(received, count, request), "1 second")
          : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const token = yield* provider.get
      const forced = yield* Effect.fork(Effect.flip(provider.refresh))
      yield* TestClock.adjust("500 millis")
      yield* provider.invalidate(token)
      yield* TestClock.adjust("500 millis")
      strictEqual((yield* Fiber.join(forced))._tag, "TokenResponseInvalid")
      strictEqual(yield* getText, "token-3")
    }).pipe(provide(service))
  })

  it.effect("because of an interrupted caller", () => {
    const service = Service.make({
      token: (_, count) => Effect.delay(Effect.sync(() => Service.tokenResponse(count)), "1 second")
    })
    return Effect.gen(function*() {
      const only = yield* Effect.fork(get)
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interrupt(only)
      const next = yield* Effect.fork(getText)
      yield* TestClock.adjust("500 millis")
      strictEqual(yield* Fiber.join(next), "token-1")
    }).pipe(provide(service))
  })

  it.effect("after rejected credentials, once there are others", () => {
    let key = "wrong"
    const service = Service.make({
      token: (_, count) => Effect.sync(() => key === "right" ? Service.tokenResponse(count) : status(401))
    })
    const { authUrl, customerId } = Service.options
    const credentials = Effect.sync(() => ({ customerId, customerKey: Redacted.make(key) }))
    return Effect.gen(function*() {
      const { get } = yield* TokenProvider.make({ authUrl, credentials })
      for (let i = 0; i < 10; i++) strictEqual((yield* Effect.flip(get))._tag, "TokenRejected")
      key = "right"
      yield* get
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(Effect.scoped, Effect.provide(service.layer))
  })

  it.effect("instead of a longer cooldown", () => {
    const service = Service.make({
      token: (_, count) =>
        Effect.sync(() => count === 1 ? status(503, { "retry-after": "3" }) : Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      strictEqual((yield* Effect.flip(get))._tag, "TokenEndpointUnavailable")
      const waiter = yield* Effect.fork(getText)
      yield* TestClock.adjust("2999 millis")
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust("1 millis")
      strictEqual(yield* Fiber.join(waiter), "token-2")
    }).pipe(provide(service, { tokenPolicy: { attempts: 1 } }))
  })

  it.effect("after a deadline longer than the backoff, and only its rest after a shorter one", () => {
    const service = Service.make({ token: () => Effect.never })
    const times = (acquisitionDeadline: Duration.DurationInput, requests: number) =>
      Effect.gen(function*() {
        const before = service.tokenRequests.length
        const first = yield* Effect.fork(Effect.flip(get))
        yield* TestClock.adjust(acquisitionDeadline)
        strictEqual((yield* Fiber.join(first))._tag, "TokenTimeout")
        const second = yield* Effect.fork(Effect.flip(get))
        yield* TestClock.adjust(acquisitionDeadline)
        strictEqual((yield* Fiber.join(second))._tag, "TokenTimeout")
        strictEqual(service.tokenRequests.length - before, requests)
      }).pipe(provide(service, { tokenPolicy: { acquisitionDeadline, attempts: 1 } }))
    return Effect.zipRight(times("1 second", 2), times("400 millis", 1))
  })
})
