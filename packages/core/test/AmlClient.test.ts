import type { AmlError, Person, TokenError } from "@effect-idv/core"
import { AmlClient, TokenProvider } from "@effect-idv/core"
import { HttpClientError } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Cause,
  Config,
  Duration,
  Effect,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Redacted,
  TestClock
} from "effect"
import { after, atStart, check, person as ada, problem, provide, result, today } from "./support/ada.ts"
import * as Service from "./support/service.ts"

describe("AmlClient", () => {
  it.effect("returns the result of the service", () => {
    const service = Service.make({
      aml: (_, count) =>
        Effect.succeed(Service.json(Service.credential({}, { match_found: count === 1 ? "No" : "Potential match" })))
    })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual(yield* result, "No")
      strictEqual(yield* result, "Potential match")
      strictEqual(service.amlRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("sends the token and the three fields, and nothing without a token", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* atStart
      yield* check
      const [request] = service.amlRequests
      strictEqual(request?.url, "https://api.example.com/api/aml")
      strictEqual(request?.headers["authorization"], "Bearer token-1")
      strictEqual(request?.body, "{\"entity_type\":\"person\",\"name\":\"Ada Testclear\",\"dob\":\"14-03-1957\"}")
    }).pipe(provide(service))
  })

  it.effect("sends nothing to the API without a token", () => {
    const service = Service.make({ token: () => Effect.succeed(problem(401)) })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual((yield* Effect.flip(check))._tag, "TokenRejected")
      strictEqual(service.amlRequests.length, 0)
    }).pipe(provide(service))
  })

  it.effect("1000 concurrent checks send 1 token request, still 1 after 38 minutes, and 2 after 60 minutes", () => {
    const service = Service.make({
      token: (_, count) => Effect.delay(Effect.sync(() => Service.tokenResponse(count)), "5 seconds")
    })
    return Effect.gen(function*() {
      yield* atStart
      const fibers = yield* Effect.forkAll(Arr.makeBy(1000, () => result))
      // On a busy machine the token request may start after the first adjustment.
      const outcomes = yield* Effect.raceFirst(Fiber.join(fibers), Effect.forever(TestClock.adjust("5 seconds")))
      deepStrictEqual(new Set(outcomes), new Set(["No"]))
      strictEqual(service.tokenRequests.length, 1)
      strictEqual(service.amlRequests.length, 1000)

      yield* after("38 minutes")
      strictEqual(yield* result, "No")
      strictEqual(service.tokenRequests.length, 1)

      yield* after("60 minutes")
      const late = yield* Effect.fork(result)
      yield* TestClock.adjust("5 seconds")
      strictEqual(yield* Fiber.join(late), "No")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  describe("401", () => {
    it.effect("renews the token and sends the request once more", () => {
      const service = Service.make({
        aml: ({ headers }) =>
          Effect.succeed(
            headers["authorization"] === "Bearer token-1"
              ? problem(401, { "www-authenticate": "Bearer error=\"invalid_token\"" })
              : Service.json(Service.credential())
          )
      })
      return Effect.gen(function*() {
        yield* atStart
        strictEqual(yield* result, "No")
        strictEqual(service.tokenRequests.length, 2)
        deepStrictEqual(service.amlRequests[0]?.body, service.amlRequests[1]?.body)
      }).pipe(provide(service))
    })
  })

  describe("an error response with an endless body: the status decides", () => {
    const endless = (init: ResponseInit) =>
      new Response(new ReadableStream({ pull: () => new Promise(() => {}) }), init)

    it.effect("a 503 is reported with its Retry-After", () => {
      const service = Service.make({
        aml: () => Effect.sync(() => endless({ status: 503, headers: { "retry-after": "60" } }))
      })
      return Effect.gen(function*() {
        yield* atStart
        const fiber = yield* Effect.fork(Effect.flip(check))
        yield* TestClock.adjust("2 seconds")
        assert.deepInclude(yield* Fiber.join(fiber), {
          _tag: "AmlUnavailable",
          status: 503,
          retryAfter: Duration.seconds(60)
        })
      }).pipe(provide(service))
    })

    it.effect("a 401 renews the token", () => {
      const service = Service.make({
        aml: (_, count) =>
          Effect.sync(() => count === 1 ? endless({ status: 401 }) : Service.json(Service.credential()))
      })
      return Effect.gen(function*() {
        yield* atStart
        const fiber = yield* Effect.fork(result)
        yield* TestClock.adjust("2 seconds")
        strictEqual(yield* Fiber.join(fiber), "No")
        strictEqual(service.tokenRequests.length, 2)
      }).pipe(provide(service))
    })
  })

  describe("the deadline", () => {
    const never = () => Effect.never
    const endless = () => Effect.sync(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })))
    it.effect.each<[string, Parameters<typeof Service.make>[0], AmlError.Sent]>([
      ["while waiting for the token", { token: never }, "no"],
      ["while waiting for the response", { aml: never }, "unknown"],
      ["in the middle of the response", { aml: endless }, "answered"]
    ])("expires for %s", ([, handlers, sent]) => {
      const service = Service.make(handlers)
      return Effect.gen(function*() {
        yield* atStart
        const fiber = yield* Effect.fork(Effect.flip(check))
        yield* TestClock.adjust("5 seconds")
        const error = yield* Fiber.join(fiber)
        assert.deepInclude(error, { _tag: "AmlTimeout", sent, deadline: Duration.seconds(5) })
      }).pipe(provide(service, { deadline: "5 seconds" }))
    })

    it.effect.each<[string, <A, E, R>(check: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>, Service.Handler]>([
      ["a caller that cannot be interrupted", Effect.uninterruptible, never],
      ["an HttpClient that cannot be interrupted", (check) => check, () => Effect.uninterruptible(Effect.never)]
    ])("applies to %s", ([, wrap, aml]) => {
      const service = Service.make({ aml })
      return Effect.gen(function*() {
        yield* atStart
        const fiber = yield* Effect.fork(wrap(Effect.flip(check)))
        yield* TestClock.adjust("30 seconds")
        strictEqual((yield* Fiber.join(fiber))._tag, "AmlTimeout")
      }).pipe(provide(service))
    })

    it.effect("covers the token, both requests and the response together, and is 30 s by default", () => {
      const service = Service.make({
        token: (_, count) => Effect.delay(Effect.sync(() => Service.tokenResponse(count)), "9 seconds"),
        aml: () => Effect.delay(Effect.sync(() => problem(401)), "9 seconds")
      })
      return Effect.gen(function*() {
        yield* atStart
        const fiber = yield* Effect.fork(Effect.flip(check))
        yield* TestClock.adjust("29999 millis")
        strictEqual((yield* Fiber.poll(fiber))._tag, "None")
        yield* TestClock.adjust("1 millis")
        assert.deepInclude(yield* Fiber.join(fiber), { _tag: "AmlTimeout", deadline: Duration.seconds(30) })
        strictEqual(service.amlRequests.length, 2)
      }).pipe(provide(service))
    })
  })

  it.effect("429 and 503 report how long to wait", () => {
    const service = Service.make({
      aml: (_, count) =>
        Effect.succeed(
          problem(count === 1 ? 429 : 503, {
            "retry-after": count === 1 ? "3" : new Date(today + 60_000).toUTCString()
          })
        )
    })
    return Effect.gen(function*() {
      yield* atStart
      const errors = yield* Effect.all([Effect.flip(check), Effect.flip(check)])
      deepStrictEqual(
        errors.map((error) => "retryAfter" in error ? error.retryAfter : undefined),
        [Duration.seconds(3), Duration.seconds(60)]
      )
    }).pipe(provide(service, { retry: "never" }))
  })

  it.effect("an invalid Retry-After is ignored, and one in the past causes no wait", () => {
    const headers = [
      "soon",
      "1.5",
      "",
      "Fri, 99 Foo 2026 00:00:00 GMT",
      "Tue, 31 Feb 2026 00:00:00 GMT",
      "-5",
      "Thu, 01 Jan 1970 00:00:00 GMT"
    ]
    const service = Service.make({
      aml: (_, count) => Effect.succeed(problem(429, { "retry-after": headers[count - 1] ?? "" }))
    })
    return Effect.gen(function*() {
      yield* atStart
      const errors = yield* Effect.replicateEffect(Effect.flip(check), headers.length)
      deepStrictEqual(
        errors.map((error) => "retryAfter" in error ? error.retryAfter : undefined),
        [undefined, undefined, undefined, undefined, undefined, Duration.zero, Duration.zero]
      )
    }).pipe(provide(service, { retry: "never" }))
  })

  it.effect.each<[string, object, TokenError.Reason, AmlError.Sent]>([
    ["ECONNREFUSED", { code: "ECONNREFUSED", syscall: "connect" }, "unreachable", "no"],
    ["a connect timeout of Undici", { code: "UND_ERR_CONNECT_TIMEOUT" }, "unreachable", "no"],
    ["no route while connecting", { code: "EHOSTUNREACH", syscall: "connect" }, "unreachable", "no"],
    ["no route while reading", { code: "EHOSTUNREACH", syscall: "read" }, "broken", "unknown"],
    ["an unknown host", { code: "ENOTFOUND" }, "dns", "no"],
    ["a name server that does not respond", { code: "EAI_AGAIN" }, "dns", "no"],
    ["an expired certificate", { code: "CERT_HAS_EXPIRED" }, "certificate", "no"],
    ["an unknown certificate", { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "certificate", "no"],
    ["a certificate of another host", { code: "ERR_TLS_CERT_ALTNAME_INVALID" }, "certificate", "no"],
    ["a record that is not TLS", { code: "ERR_SSL_WRONG_VERSION_NUMBER" }, "tls", "unknown"],
    ["an alert about the client certificate", { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" }, "tls", "unknown"],
    ["an error of TLS after the handshake", { code: "ERR_SSL_BAD_RECORD_TYPE" }, "tls", "unknown"],
    ["a reset", { code: "ECONNRESET", syscall: "read" }, "broken", "unknown"],
    ["an error of fetch around one of Node", { cause: { cause: { code: "ECONNREFUSED" } } }, "unreachable", "no"],
    ["no reason at all", {}, "broken", "unknown"]
  ])("%s: the error has the reason, and whether the check was sent", ([, cause, reason, sent]) => {
    const service = Service.make({
      aml: (_received, _count, request) => new HttpClientError.RequestError({ request, reason: "Transport", cause })
    })
    return Effect.gen(function*() {
      yield* atStart
      const error = yield* Effect.flip(check)
      assert.deepInclude(error, { _tag: "AmlUnavailable", reason, sent })
      strictEqual(error.isRetryable, reason !== "certificate")
    }).pipe(provide(service, { retry: "never" }))
  })

  it.live("with a wrong key, 2,000 concurrent checks send at most 2 token requests and no check", () => {
    const service = Service.make({ token: () => Effect.succeed(problem(401)) })
    return Effect.gen(function*() {
      const checks = Effect.replicateEffect(Effect.flip(check), 2000, { concurrency: 100 })
      const errors = yield* checks
      deepStrictEqual(new Set(errors.map(({ _tag }) => _tag)), new Set(["TokenRejected"]))
      assert(service.tokenRequests.length <= 2, `${service.tokenRequests.length} token requests`)
      strictEqual(service.amlRequests.length, 0)
    }).pipe(provide(service))
  })

  it.effect("the replay of a 401 can fail with another error", () => {
    const service = Service.make({ aml: (_, count) => Effect.succeed(problem(count === 1 ? 401 : 500)) })
    return Effect.gen(function*() {
      yield* atStart
      assert.deepInclude(yield* Effect.flip(check), { _tag: "AmlUnavailable", status: 500, sent: "answered" })
    }).pipe(provide(service))
  })

  it.effect("layerConfig loads its options from Config", () => {
    const service = Service.make()
    const layer = AmlClient.layerConfig({ baseUrl: Config.succeed("https://config.example") }).pipe(
      Layer.provide(TokenProvider.layerConfig({
        authUrl: Config.succeed("https://config.example/auth"),
        customerId: Config.succeed("id"),
        customerKey: Config.succeed(Redacted.make("key"))
      })),
      Layer.provide(service.layer)
    )
    return Effect.gen(function*() {
      yield* atStart
      strictEqual(yield* result, "No")
      strictEqual(service.tokenRequests[0]?.url, "https://config.example/auth/oauth/service")
      strictEqual(service.amlRequests[0]?.url, "https://config.example/api/aml")
    }).pipe(Effect.provide(layer))
  })

  it.effect("an interrupted caller aborts its request at once", () => {
    let aborted = false
    const service = Service.make({
      aml: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => aborted = true))
    })
    return Effect.gen(function*() {
      yield* atStart
      const fiber = yield* Effect.fork(check)
      yield* TestClock.adjust("1 second")
      strictEqual(service.amlRequests.length, 1)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(0)
      strictEqual(aborted, true)
    }).pipe(provide(service))
  })

  it.effect("a failure is not logged as unhandled, because the caller receives it", () => {
    const service = Service.make({ aml: () => Effect.succeed(problem(500)) })
    const messages: Array<unknown> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (LogLevel.greaterThan(logLevel, LogLevel.Debug)) messages.push(message)
    })
    return Effect.gen(function*() {
      yield* atStart
      yield* Effect.ignore(check)
      deepStrictEqual(messages, [])
    }).pipe(
      provide(service),
      Effect.provide(Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All)))
    )
  })

  it.effect.each<[string, (person: Person.Person) => object]>([
    ["something that looks like a date", (person) => ({ ...person, dateOfBirth: { year: 1957, month: 2, day: 31 } })],
    ["a copy of a date", (person) => ({ ...person, dateOfBirth: { ...person.dateOfBirth } })],
    ["a bare name", (person) => ({ ...person, name: "canary" })]
  ])("%s is not a Person: a defect that does not show it", ([, forge]) => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* atStart
      const aml = yield* AmlClient.AmlClient
      const person = yield* ada
      const cause = yield* Effect.flip(Effect.sandbox(aml.check(Object.assign({}, person, forge(person)))))
      strictEqual(Cause.isDie(cause), true)
      strictEqual(Cause.pretty(cause).split("\n")[0], "TypeError: check takes a Person from Person.make")
      strictEqual(service.amlRequests.length, 0)
    }).pipe(provide(service))
  })

  it.effect("works with another token provider, such as TokenProvider.layerTest", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* atStart
      strictEqual(yield* result, "No")
      strictEqual(service.amlRequests[0]?.headers["authorization"], "Bearer stub")
      strictEqual(service.tokenRequests.length, 0)
    }).pipe(
      Effect.provide(AmlClient.layer(Service.options)),
      Effect.provide(Layer.merge(service.layer, TokenProvider.layerTest("stub")))
    )
  })
})
