import { TokenProvider } from "@effect-idv/core"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Fiber, FiberId, Layer, Logger, Option, Redacted, TestClock } from "effect"
import * as Clocks from "./support/clocks.ts"
import * as Service from "./support/service.ts"
import { counted, get, getText, measured, provide, status } from "./support/tokens.ts"

const basic = (headers: Readonly<Record<string, string>> | undefined) =>
  Buffer.from(headers?.["authorization"]?.replace(/^Basic /, "") ?? "", "base64").toString()

describe("Errors and retries", () => {
  it.effect.each([400, 401, 403])(
    "a %d is TokenRejected without a retry, and 100 further calls in 30 s send nothing and fail with the same error",
    (code) => {
      const service = Service.make({
        token: () => Effect.succeed(Service.json({ error: "invalid_client" }, { status: code }))
      })
      return Effect.gen(function*() {
        const first = yield* Effect.flip(get)
        assert.deepInclude(first, { _tag: "TokenRejected", status: code, code: "invalid_client" })
        for (let i = 0; i < 100; i++) {
          strictEqual(yield* Effect.flip(get), first)
          yield* TestClock.adjust("299 millis")
        }
        strictEqual(service.tokenRequests.length, 1)
        yield* TestClock.adjust("100 millis")
        yield* Effect.flip(get)
        strictEqual(service.tokenRequests.length, 2)
      }).pipe(provide(service))
    }
  )

  it.effect.each<[unknown, string | undefined]>([
    ["invalid_client", "invalid_client"],
    ["AUTH-0042.b", "AUTH-0042.b"],
    ["the key s3cret-key is wrong", undefined],
    ["s3cret-key", undefined],
    ["S3CRET-KEY", undefined],
    ["no_s3cret-k", undefined],
    [Buffer.from("s3cret-key").toString("hex"), undefined],
    [Buffer.from("acme-bank:s3cret-key").toString("base64").slice(2, 20), undefined],
    ["no_acme-bank_here", undefined],
    [Buffer.from("acme-bank:s3cret-key").toString("base64").replace(/=+$/, ""), undefined],
    ["x".repeat(65), undefined],
    [42, undefined],
    [{ code: "invalid_client" }, undefined]
  ])("the code of a rejection is reported if it matches a safe-character pattern: %j", ([error, code]) => {
    const service = Service.make({ token: () => Effect.succeed(Service.json({ error }, { status: 401 })) })
    return Effect.gen(function*() {
      const rejected = yield* Effect.flip(get)
      assert(rejected._tag === "TokenRejected")
      strictEqual(rejected.code, code)
    }).pipe(provide(service))
  })

  it.effect("a failure that a caller receives is not logged, unless it concerns everyone", () => {
    const service = Service.make({ token: () => Effect.succeed(status(503)) })
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => void logged.push(message))
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      deepStrictEqual(logged, [])
    }).pipe(provide(service), Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })

  it.effect("with a wrong key, 10,000 calls in a minute send at most 2 token requests", () => {
    const service = Service.make({ token: () => Effect.succeed(status(401)) })
    return Effect.gen(function*() {
      for (let second = 0; second < 59; second++) {
        yield* Effect.replicateEffect(Effect.flip(get), 170, { concurrency: "unbounded", discard: true })
        yield* TestClock.adjust("1 second")
      }
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("a rotated key is sent at once after another key was rejected", () => {
    let key = "wrong"
    const service = Service.make({
      token: ({ headers }, count) =>
        Effect.succeed(basic(headers).endsWith(":right") ? Service.tokenResponse(count) : status(401))
    })
    const { authUrl, customerId } = Service.options
    const credentials = Effect.sync(() => ({ customerId, customerKey: Redacted.make(key) }))
    return Effect.gen(function*() {
      const { get } = yield* TokenProvider.make({ authUrl, credentials })
      yield* Effect.flip(get)
      strictEqual((yield* Effect.flip(get))._tag, "TokenRejected")
      strictEqual(service.tokenRequests.length, 1)
      key = "right"
      strictEqual(Redacted.value((yield* get).value), "token-2")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(Effect.scoped, Effect.provide(service.layer))
  })

  it.effect.each<[string, string, number]>([
    ["seconds", "2", 2],
    ["HTTP-date", new Date(7000).toUTCString(), 7]
  ])("a 429 with Retry-After: 2 is retried once after 2 s, as %s", ([, retryAfter, seconds]) => {
    const service = Service.make({
      token: (_, count) =>
        Effect.succeed(count === 1 ? status(429, { "retry-after": retryAfter }) : Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(getText)
      yield* TestClock.adjust(seconds * 1000 - 1)
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust(1)
      strictEqual(yield* Fiber.join(waiter), "token-2")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("a Retry-After of a day is capped at one hour", () => {
    const service = Service.make({ token: () => Effect.succeed(status(429, { "retry-after": "86400" })) })
    return Effect.gen(function*() {
      assert.deepInclude(yield* Effect.flip(get), { retryAfter: Duration.hours(1) })
      yield* TestClock.adjust("30 minutes")
      assert.deepInclude(yield* Effect.flip(get), { retryAfter: Duration.minutes(30) })
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust("30 minutes")
      yield* Effect.flip(get)
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service, { tokenPolicy: { lifetime: "1 minute" } }))
  })

  it.effect("a Retry-After of an hour fails at once with that wait, and nothing is sent before", () => {
    const service = Service.make({
      token: (_, count) =>
        Effect.succeed(count === 1 ? status(429, { "retry-after": "3600" }) : Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const expected = { _tag: "TokenEndpointUnavailable", reason: "status", status: 429 } as const
      assert.deepInclude(yield* Effect.flip(get), { ...expected, attempts: 1, retryAfter: Duration.seconds(3600) })
      yield* TestClock.adjust("10 minutes")
      assert.deepInclude(yield* Effect.flip(get), { ...expected, attempts: 0, retryAfter: Duration.seconds(3000) })
      yield* TestClock.adjust("49 minutes")
      strictEqual(service.tokenRequests.length, 1)
      // From here on the cooldown fits into the deadline of an acquisition, which waits for it.
      yield* TestClock.adjust("31 seconds")
      const waiter = yield* Effect.fork(getText)
      yield* TestClock.adjust("28 seconds")
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust("1 second")
      strictEqual(yield* Fiber.join(waiter), "token-2")
    }).pipe(provide(service))
  })

  it.effect("a Retry-After of an hour applies to other failures and other keys too", () => {
    const service = Service.make({ token: () => Effect.succeed(status(429, { "retry-after": "3600" })) })
    const { authUrl, customerId, customerKey } = Service.options
    let isVaultOpen = true
    let key = customerKey
    const credentials = Effect.suspend(() =>
      isVaultOpen ? Effect.succeed({ customerId, customerKey: key }) : Effect.fail("closed")
    )
    return Effect.gen(function*() {
      const { get } = yield* TokenProvider.make({ authUrl, credentials })
      yield* Effect.flip(get)
      key = Redacted.make("another")
      assert.deepInclude(yield* Effect.flip(get), { reason: "status", retryAfter: Duration.seconds(3600) })
      yield* TestClock.adjust("3590 seconds")
      isVaultOpen = false
      assert.deepInclude(yield* Effect.flip(get), { reason: "credentials" })
      isVaultOpen = true
      yield* Effect.fork(get)
      yield* TestClock.adjust("9999 millis")
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust("1 millis")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(Effect.scoped, Effect.provide(service.layer))
  })

  it.effect("a Retry-After longer than the deadline is reported even if the credentials are slow or hang", () => {
    const service = Service.make({ token: () => Effect.succeed(status(429, { "retry-after": "45" })) })
    const { authUrl, customerId, customerKey } = Service.options
    let delay = Duration.seconds(10)
    const credentials = Effect.suspend(() => Effect.delay(Effect.succeed({ customerId, customerKey }), delay))
    return Effect.gen(function*() {
      const { get } = yield* TokenProvider.make({ authUrl, credentials })
      const first = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* Fiber.join(first), { attempts: 1, retryAfter: Duration.seconds(45) })
      // After reading the credentials, 25 s of the cooldown would be left: more than the 20 s left of this acquisition.
      yield* TestClock.adjust("10 seconds")
      const second = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust(0)
      assert.deepInclude(yield* Fiber.join(second), { attempts: 0, retryAfter: Duration.seconds(35) })
      delay = Duration.infinity
      const third = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust(0)
      assert.deepInclude(yield* Fiber.join(third), { attempts: 0, retryAfter: Duration.seconds(35) })
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(Effect.scoped, Effect.provide(service.layer))
  })

  it.effect.each<[string, string]>([
    ["a date in the past is zero", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["negative is zero", "-5"],
    ["invalid is ignored", "soon"]
  ])("a Retry-After that is %s", ([, retryAfter]) => {
    const service = Service.make({
      token: (_, count) =>
        Effect.succeed(count === 1 ? status(503, { "retry-after": retryAfter }) : Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(getText)
      yield* TestClock.adjust("200 millis")
      strictEqual(yield* Fiber.join(waiter), "token-2")
    }).pipe(provide(service))
  })

  const systemError = (fields: object) => new TypeError("fetch failed", { cause: Object.assign(new Error(), fields) })
  it.effect.each<[string, Service.Handler, number]>([
    ...[408, 429, 500, 502, 503, 504].map((code): [string, Service.Handler, number] => [
      String(code),
      () => Effect.succeed(status(code)),
      3
    ]),
    ["ECONNREFUSED", Service.failing(systemError({ code: "ECONNREFUSED", syscall: "connect" })), 3],
    ["DNS", Service.failing(systemError({ code: "ENOTFOUND" })), 3],
    ["TLS error", Service.failing(systemError({ code: "ERR_SSL_WRONG_VERSION_NUMBER" })), 3],
    [
      "reset mid-body",
      () => Effect.sync(() => new Response(new ReadableStream({ pull: (body) => body.error(new Error("reset")) }))),
      3
    ],
    ["certificate error", Service.failing(systemError({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" })), 1],
    ["expired certificate", Service.failing(systemError({ code: "CERT_HAS_EXPIRED" })), 1]
  ])(
    "retries failures of the connection and 5xx, but not certificate errors: %s",
    ([, token, attempts]) => {
      const service = Service.make({ token })
      return Effect.gen(function*() {
        const waiter = yield* Effect.fork(Effect.flip(get))
        yield* TestClock.adjust("600 millis")
        const error = yield* Fiber.join(waiter)
        assert.deepInclude(error, { _tag: "TokenEndpointUnavailable", attempts })
        strictEqual(error.isRetryable, attempts === 3)
        strictEqual(service.tokenRequests.length, attempts)
      }).pipe(provide(service))
    }
  )

  it.effect("a request without a response is a TokenTimeout at the deadline, is aborted, and the next call sends another", () => {
    let aborted = 0
    const service = Service.make({
      token: (_, count) =>
        count <= 3
          ? Effect.onInterrupt(Effect.never, () => Effect.sync(() => aborted++))
          : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("10 seconds")
      strictEqual(aborted, 1)
      yield* TestClock.adjust("19999 millis")
      strictEqual(Option.isNone(yield* Fiber.poll(waiter)), true)
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Fiber.join(waiter), { _tag: "TokenTimeout", deadline: Duration.seconds(30) })
      strictEqual(aborted, 3)
      strictEqual(yield* getText, "token-4")
    }).pipe(provide(service))
  })

  it.effect("a body that never ends is a TokenTimeout too", () => {
    const service = Service.make({
      token: () => Effect.sync(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("30 seconds")
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenTimeout")
    }).pipe(provide(service))
  })

  it.effect("an uninterruptible HttpClient does not delay the acquisition or the next one", () => {
    const service = Service.make({
      token: (_, count) =>
        count <= 3 ? Effect.uninterruptible(Effect.never) : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("30 seconds")
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenTimeout")
      strictEqual(yield* getText, "token-4")
    }).pipe(provide(service))
  })

  it.effect("an acquisition retries a failure only while a caller waits", () => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503))
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(0.75 * 3_600_000)
      yield* get
      yield* TestClock.adjust("999 millis")
      strictEqual(service.tokenRequests.length, 2)
      strictEqual(yield* counted("idv_token_acquisitions", { reason: "refresh_after" }), 1)
    }).pipe(provide(service), measured("background attempts"))
  })

  it.effect("an attempt that fails after the last caller has gone is not retried", () => {
    const service = Service.make({ token: () => Effect.delay(Effect.sync(() => status(503)), "2 seconds") })
    return Effect.gen(function*() {
      const only = yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(only)
      yield* TestClock.adjust("20 seconds")
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("a caller that is interrupted as it starts to wait does not count as waiting", () => {
    const service = Service.make({ token: () => Effect.delay(Effect.sync(() => status(503)), "2 seconds") })
    return Effect.gen(function*() {
      const { clock } = yield* Clocks.make
      let caller: Fiber.RuntimeFiber<unknown, unknown> | undefined
      // The caller reads the clock after the point at which an interruption stops it at once.
      const unsafeCurrentTimeMillis = () => {
        caller?.unsafeInterruptAsFork(FiberId.none)
        caller = undefined
        return clock.unsafeCurrentTimeMillis()
      }
      caller = yield* Effect.fork(Effect.withClock(get, { ...clock, unsafeCurrentTimeMillis }))
      yield* TestClock.adjust("20 seconds")
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("a client that fails for some statuses hides nothing: a wrong key is cached as rejected", () => {
    const service = Service.make({ token: () => Effect.succeed(status(401)) })
    const strict = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk))
    return Effect.gen(function*() {
      for (let i = 0; i < 20; i++) assert.deepInclude(yield* Effect.flip(get), { _tag: "TokenRejected", status: 401 })
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(
      Effect.provide(TokenProvider.layer(Service.options).pipe(Layer.provide(strict), Layer.provide(service.layer)))
    )
  })

  it.effect("a client that interrupts itself counts as a lost connection", () => {
    const service = Service.make({ token: () => Effect.interrupt })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiter), { _tag: "TokenEndpointUnavailable", reason: "broken", attempts: 3 })
    }).pipe(provide(service))
  })

  it.effect("the delays before the retries are a random part of 200 and 400 ms", () => {
    const service = Service.make({ token: () => Effect.succeed(status(503)) })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(get)
      yield* TestClock.adjust("99 millis")
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust("1 millis")
      strictEqual(service.tokenRequests.length, 2)
      yield* TestClock.adjust("199 millis")
      strictEqual(service.tokenRequests.length, 2)
      yield* TestClock.adjust("1 millis")
      strictEqual(service.tokenRequests.length, 3)
      yield* Effect.flip(Fiber.join(waiter))
    }).pipe(provide(service), Effect.withRandomFixed([0.5]))
  })
})
