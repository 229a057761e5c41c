import { Credentials, TokenProvider } from "@effect-idv/core"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { ConfigError } from "effect"
import { Duration, Effect, Fiber, Layer, Logger, Option, Redacted, TestClock } from "effect"
import * as Service from "./support/service.ts"
import { counted, get, getText, make, measured, provide, status } from "./support/tokens.ts"

const refused = (options: Partial<TokenProvider.Options>) => Effect.scoped(Effect.flip(make(Service.make(), options)))

/** The names of the options that a `ConfigError` is about. */
const named = (error: ConfigError.ConfigError): ReadonlyArray<string> =>
  error._op === "And" || error._op === "Or"
    ? [...named(error.left), ...named(error.right)]
    : [error.path.join(".")]

const basic = (headers: Readonly<Record<string, string>> | undefined) =>
  Buffer.from(headers?.["authorization"]?.replace(/^Basic /, "") ?? "", "base64").toString()

describe("Request", () => {
  it.effect(
    "23. exact wire: POST, path /oauth/service, Content-Type application/x-www-form-urlencoded, body exactly grant_type=client_credentials, Accept application/json, Basic base64(id:key), no key in body or URL",
    () => {
      const service = Service.make()
      return Effect.gen(function*() {
        strictEqual(service.tokenRequests.length, 0)
        yield* get
        deepStrictEqual(service.tokenRequests, [{
          url: "https://auth.example.com/oauth/service",
          method: "POST",
          headers: {
            accept: "application/json",
            authorization: `Basic ${Buffer.from("acme-bank:s3cret-key").toString("base64")}`,
            "content-type": "application/x-www-form-urlencoded",
            "content-length": "29"
          },
          body: "grant_type=client_credentials"
        }])
      }).pipe(provide(service))
    }
  )

  it.effect.each<[string, string]>([
    ["https://auth.example.com/", "https://auth.example.com/oauth/service"],
    ["https://auth.example.com//", "https://auth.example.com/oauth/service"],
    ["https://auth.example.com/v2", "https://auth.example.com/v2/oauth/service"],
    ["https://auth.example.com/v2/", "https://auth.example.com/v2/oauth/service"],
    ["https://auth.example.com/v2?tenant=1#here", "https://auth.example.com/v2/oauth/service"],
    ["https://auth.example.com:8443", "https://auth.example.com:8443/oauth/service"]
  ])(
    "24. auth_url with trailing slash, path prefix, query, port, user-info -> one slash, prefix kept, query kept out, user-info refused: %s",
    ([authUrl, expected]) => {
      const service = Service.make()
      return Effect.gen(function*() {
        yield* get
        strictEqual(service.tokenRequests[0]?.url, expected)
      }).pipe(provide(service, { authUrl }))
    }
  )

  it.effect("24. auth_url with user-info is refused, and the error shows none of it", () =>
    Effect.gen(function*() {
      const error = yield* refused({ authUrl: "https://canary:secret@auth.example.com" })
      deepStrictEqual(named(error), ["authUrl"])
      strictEqual(/canary|secret/.test(`${error}${JSON.stringify(error)}`), false)
    }))

  it.effect.each([":", "+", "/=", "%", "a b", "schlüssel", "🔑", ":+/=%& ü🔑x"])(
    "25. key with : + / = % & space, umlaut, emoji -> plain: base64(utf8): %s",
    (key) => {
      const service = Service.make()
      return Effect.gen(function*() {
        yield* get
        strictEqual(basic(service.tokenRequests[0]?.headers), `acme-bank:${key}`)
      }).pipe(provide(service, { customerKey: Redacted.make(key) }))
    }
  )

  it.effect.each<[string, string]>([
    [" %&+£€", "+%25%26%2B%C2%A3%E2%82%AC"],
    [":+/=%& ü🔑x", "%3A%2B%2F%3D%25%26+%C3%BC%F0%9F%94%91x"],
    ["plain-Key_1.2*", "plain-Key_1.2*"]
  ])("25. key with %j -> rfc6749: form-encoded first, to %s", ([key, encoded]) => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* get
      strictEqual(basic(service.tokenRequests[0]?.headers), `acme-bank:${encoded}`)
    }).pipe(provide(service, { customerKey: Redacted.make(key), basicEncoding: "rfc6749" }))
  })

  it.effect(
    "26. client id containing \":\" -> plain mode refused at construction (ambiguous), rfc6749 mode allowed",
    () => {
      const service = Service.make()
      const customerId = "acme:bank"
      return Effect.gen(function*() {
        deepStrictEqual(named(yield* refused({ customerId })), ["customerId"])
        yield* get
        strictEqual(basic(service.tokenRequests[0]?.headers), "acme%3Abank:s3cret-key")
      }).pipe(provide(service, { customerId, basicEncoding: "rfc6749" }))
    }
  )

  it.effect.each<[Partial<TokenProvider.Options>, ReadonlyArray<string>]>([
    [{ customerKey: Redacted.make("") }, ["customerKey"]],
    [{ customerKey: Redacted.make("canary\n") }, ["customerKey"]],
    [{ customerKey: Redacted.make("can\r\nary") }, ["customerKey"]],
    [{ customerKey: Redacted.make(" canary") }, ["customerKey"]],
    [{ customerKey: Redacted.make("canary\u00a0") }, ["customerKey"]],
    [{ customerKey: Redacted.make("canary\ud800") }, ["customerKey"]],
    [{ customerKey: Redacted.make("canary\n"), basicEncoding: "rfc6749" }, ["customerKey"]],
    [{ customerId: "", customerKey: Redacted.make("") }, ["customerId", "customerKey"]],
    [{ customerId: "canary " }, ["customerId"]]
  ])(
    "27. key ends with newline or is empty -> ConfigError at construction, value not printed: %j",
    ([options, expected]) =>
      Effect.gen(function*() {
        const error = yield* refused(options)
        deepStrictEqual(named(error), expected)
        strictEqual(/canary|ary/.test(`${error}${JSON.stringify(error)}`), false)
      })
  )

  it.effect("27. everything that is wrong is named at once", () =>
    Effect.gen(function*() {
      const error = yield* refused({
        authUrl: "http://auth.example.com",
        customerId: "a:b",
        customerKey: Redacted.make(""),
        tokenFields: JSON.parse("[\"acces_token\"]"),
        tokenPolicy: { attempts: 0 }
      })
      deepStrictEqual(named(error), ["authUrl", "customerId", "customerKey", "tokenFields", "tokenPolicy.attempts"])
    }))

  it.effect.each(["{}", "{\"customerId\":1,\"customerKey\":\"canary\"}"])(
    "27. credentials of another shape, as from a vault, are refused and named: %s",
    (json) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Credentials.make(JSON.parse(json)))
        deepStrictEqual(named(error), ["customerId", "customerKey"])
      })
  )

  it.effect("28. http:// auth_url -> refused unless allowInsecure or loopback", () =>
    Effect.gen(function*() {
      const service = Service.make()
      deepStrictEqual(named(yield* refused({ authUrl: "http://auth.example.com" })), ["authUrl"])
      deepStrictEqual(named(yield* refused({ authUrl: "http://localhost.example.com" })), ["authUrl"])
      for (const host of ["127.0.0.1:1", "localhost:1", "[::1]:1"]) yield* make(service, { authUrl: `http://${host}` })
      yield* make(service, { authUrl: "http://auth.example.com", allowInsecure: true })
    }).pipe(Effect.scoped))

  it.effect.each([301, 302, 303, 307, 308])(
    "29. 302/307/308 from token endpoint -> TokenResponseInvalid, Authorization not sent to the target: %d",
    (code) => {
      const service = Service.make({
        token: () => Effect.succeed(status(code, { location: "https://evil.example/oauth/service" }))
      })
      return Effect.gen(function*() {
        assert.deepInclude(yield* Effect.flip(get), { _tag: "TokenResponseInvalid", status: code })
        deepStrictEqual(service.tokenRequests.map(({ url }) => url), ["https://auth.example.com/oauth/service"])
      }).pipe(provide(service))
    }
  )
})

describe("Errors and retries", () => {
  it.effect.each([400, 401, 403])(
    "36. 400/401/403 from token endpoint -> TokenRejected, 1 POST, no retry; 100 further calls in 30 s -> 0 POSTs, same typed error, immediate: %d",
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
    ["no_acme-bank_here", undefined],
    [Buffer.from("acme-bank:s3cret-key").toString("base64").replace(/=+$/, ""), undefined],
    ["x".repeat(65), undefined],
    [42, undefined],
    [{ code: "invalid_client" }, undefined]
  ])("36. the code of a rejection is repeated if it is one harmless word: %j", ([error, code]) => {
    const service = Service.make({ token: () => Effect.succeed(Service.json({ error }, { status: 401 })) })
    return Effect.gen(function*() {
      const rejected = yield* Effect.flip(get)
      assert(rejected._tag === "TokenRejected")
      strictEqual(rejected.code, code)
    }).pipe(provide(service))
  })

  it.effect("36. a failure that a caller is told of is not logged as well", () => {
    const service = Service.make({ token: () => Effect.succeed(status(401)) })
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => void logged.push(message))
    return Effect.gen(function*() {
      yield* Effect.flip(get)
      deepStrictEqual(logged, [])
    }).pipe(provide(service), Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })

  it.effect("36. a wrong key under 10,000 checks in a minute: at most 2 token requests", () => {
    const service = Service.make({ token: () => Effect.succeed(status(401)) })
    return Effect.gen(function*() {
      for (let second = 0; second < 59; second++) {
        yield* Effect.replicateEffect(Effect.flip(get), 170, { concurrency: "unbounded", discard: true })
        yield* TestClock.adjust("1 second")
      }
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("37. key rotated through provider after 36 -> negative cache dropped, next call POSTs", () => {
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
  ])("38. 429 Retry-After: 2 -> one retry after >= 2 s; as %s", ([, retryAfter, seconds]) => {
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

  it.effect("38. Retry-After of a day -> an hour is the most that is believed", () => {
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

  it.effect("38. Retry-After: 3600 -> fail now with retryAfter=3600, no POST before", () => {
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
      // From here on it fits into the deadline of a flight, and is waited for.
      yield* TestClock.adjust("31 seconds")
      const waiter = yield* Effect.fork(getText)
      yield* TestClock.adjust("28 seconds")
      strictEqual(service.tokenRequests.length, 1)
      yield* TestClock.adjust("1 second")
      strictEqual(yield* Fiber.join(waiter), "token-2")
    }).pipe(provide(service))
  })

  it.effect("38. Retry-After: 3600 -> no POST before, whatever else fails meanwhile, and whatever key comes", () => {
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
      isVaultOpen = false
      assert.deepInclude(yield* Effect.flip(get), { reason: "credentials" })
      isVaultOpen = true
      key = Redacted.make("another")
      assert.deepInclude(yield* Effect.flip(get), { reason: "status", retryAfter: Duration.seconds(3600) })
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(Effect.scoped, Effect.provide(service.layer))
  })

  it.effect.each<[string, string]>([
    ["a date in the past: 0", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["negative: 0", "-5"],
    ["garbage: ignored", "soon"]
  ])("38. HTTP-date, negative, garbage -> parsed / 0 / ignored: %s", ([, retryAfter]) => {
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
    "39. ECONNREFUSED, DNS, TLS error, reset mid-body, 500/502/503/504/408 -> retried; certificate error -> not retried: %s",
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

  it.effect("40. POST never answers -> TokenTimeout at deadline, connection aborted, slot free", () => {
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

  it.effect("40. a body that never ends is TokenTimeout as well", () => {
    const service = Service.make({
      token: () => Effect.sync(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("30 seconds")
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenTimeout")
    }).pipe(provide(service))
  })

  it.effect("40. an HttpClient that cannot be interrupted does not hold up the flight, nor the next one", () => {
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

  it.effect("in the background a failure is not retried in the flight, for the next flight is the retry; in the foreground it is", () => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(count === 1 ? Service.tokenResponse(count) : status(503))
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(0.75 * 3_600_000)
      yield* get
      yield* TestClock.adjust("999 millis")
      strictEqual(service.tokenRequests.length, 2)
      strictEqual(yield* counted("idv_token_flights", { reason: "soft" }), 1)
    }).pipe(provide(service), measured("background attempts"))
  })

  it.effect("an attempt that fails when nobody waits any more is not retried", () => {
    const service = Service.make({ token: () => Effect.delay(Effect.sync(() => status(503)), "2 seconds") })
    return Effect.gen(function*() {
      const only = yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(only)
      yield* TestClock.adjust("20 seconds")
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("a client that takes a status for a failure hides nothing: a wrong key is remembered", () => {
    const service = Service.make({ token: () => Effect.succeed(status(401)) })
    const strict = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk))
    return Effect.gen(function*() {
      for (let i = 0; i < 20; i++) assert.deepInclude(yield* Effect.flip(get), { _tag: "TokenRejected", status: 401 })
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(
      Effect.provide(TokenProvider.layer(Service.options).pipe(Layer.provide(strict), Layer.provide(service.layer)))
    )
  })

  it.effect("a client that interrupts itself is one that lost the connection", () => {
    const service = Service.make({ token: () => Effect.interrupt })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiter), { _tag: "TokenEndpointUnavailable", reason: "broken", attempts: 3 })
    }).pipe(provide(service))
  })

  it.effect("full jitter: the waits before the retries are a random part of 200 and 400 ms", () => {
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
