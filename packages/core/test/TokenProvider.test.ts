import { TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Cause, Duration, Effect, Exit, Fiber, Layer, Redacted, Scope, TestClock } from "effect"
import * as Service from "./support/service.ts"

const provide = (service: ReturnType<typeof Service.make>) =>
  Effect.provide(Layer.provide(TokenProvider.layer(Service.options), service.layer))

const get = Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)
const getText = Effect.map(get, ({ value }) => Redacted.value(value))

const slow = (duration: Duration.DurationInput): Service.Handler => (_, count) =>
  Effect.delay(Effect.sync(() => Service.tokenResponse(count)), duration)

describe("TokenProvider", () => {
  it.effect("1000 fibers with an empty cache: 1 request, 1000 equal tokens", () => {
    const service = Service.make({ token: slow("1 second") })
    return Effect.gen(function*() {
      const fibers = yield* Effect.forkAll(Arr.makeBy(1000, () => getText))
      yield* TestClock.adjust("1 second")
      const tokens = yield* Fiber.join(fibers)
      deepStrictEqual(new Set(tokens), new Set(["token-1"]))
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("sends nothing before the first get, and nothing in the url or body but the grant", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      strictEqual(service.tokenRequests.length, 0)
      yield* get
      const [request] = service.tokenRequests
      strictEqual(request?.url, "https://auth.example.com/oauth/service")
      strictEqual(request?.body, "grant_type=client_credentials")
    }).pipe(provide(service))
  })

  it.effect("the leader is interrupted: 10 waiters succeed with 1 request", () => {
    const service = Service.make({ token: slow("2 seconds") })
    return Effect.gen(function*() {
      const leader = yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      const waiters = yield* Effect.forkAll(Arr.makeBy(10, () => getText))
      yield* Fiber.interrupt(leader)
      yield* TestClock.adjust("1 second")
      strictEqual((yield* Fiber.join(waiters)).length, 10)
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("the only caller is interrupted: the answer still lands, and the next call uses it", () => {
    const service = Service.make({ token: slow("2 seconds") })
    return Effect.gen(function*() {
      const only = yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(only)
      yield* TestClock.adjust("1 second")
      strictEqual(yield* getText, "token-1")
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("one waiter times out, the others succeed", () => {
    const service = Service.make({ token: slow("3 seconds") })
    return Effect.gen(function*() {
      const hasty = yield* Effect.fork(Effect.timeoutOption(getText, "1 second"))
      const patient = yield* Effect.fork(getText)
      yield* TestClock.adjust("1 second")
      strictEqual((yield* Fiber.join(hasty))._tag, "None")
      yield* TestClock.adjust("2 seconds")
      strictEqual(yield* Fiber.join(patient), "token-1")
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect("the scope closes during the flight: the request is aborted, waiters get TokenProviderClosed", () =>
    Effect.gen(function*() {
      let aborted = false
      const service = Service.make({
        token: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => aborted = true))
      })
      const scope = yield* Scope.make()
      const provider = yield* TokenProvider.make(Service.options).pipe(
        Effect.provide(service.layer),
        Scope.extend(scope)
      )
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
    }))

  it.effect("a failure reaches all who wait and is not kept", () => {
    const service = Service.make({
      token: (_, count) =>
        Effect.succeed(count === 1 ? new Response(null, { status: 503 }) : Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const errors = yield* Effect.replicateEffect(Effect.flip(get), 3, { concurrency: "unbounded" })
      deepStrictEqual(errors.map(({ _tag }) => _tag), Arr.replicate("TokenEndpointUnavailable" as const, 3))
      strictEqual(service.tokenRequests.length, 1)
      strictEqual(yield* getText, "token-2")
    }).pipe(provide(service))
  })

  it.effect("a defect reaches who waits, and the next call works", () => {
    const service = Service.make({
      token: (_, count) => count === 1 ? Effect.die("defect") : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const cause = yield* Effect.flip(Effect.sandbox(get))
      deepStrictEqual([...Cause.defects(cause)], ["defect"])
      strictEqual(yield* getText, "token-2")
    }).pipe(provide(service))
  })

  it.effect("the lifetime counts from the request: after an answer of 5 s it is over 3595 s later", () => {
    const service = Service.make({ token: slow("5 seconds") })
    return Effect.gen(function*() {
      const first = yield* Effect.fork(get)
      yield* TestClock.adjust("5 seconds")
      const token = yield* Fiber.join(first)
      deepStrictEqual([token.requestedAt, token.expiresAt], [0, 3_600_000])
    }).pipe(provide(service))
  })

  it.effect("a token is given out until 30 s before its expiry, and from then on not", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(3_570_000 - 1)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.setTime(3_570_000)
      strictEqual(yield* getText, "token-2")
    }).pipe(provide(service))
  })

  it.effect("a token of 20 s is given out for 10 s", () => {
    const service = Service.make({
      token: (_, count) => Effect.succeed(Service.tokenResponse(count, { expires_in: 20 }))
    })
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(9_999)
      strictEqual(yield* getText, "token-1")
      yield* TestClock.setTime(10_000)
      strictEqual(yield* getText, "token-2")
    }).pipe(provide(service))
  })

  it.effect("the refusal of an old token does not evict a newer one", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const old = yield* provider.get
      yield* provider.invalidate(old)
      strictEqual(yield* getText, "token-2")
      yield* provider.invalidate(old)
      strictEqual(yield* getText, "token-2")
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("no answer within 10 s is TokenTimeout, and the request is aborted", () => {
    let aborted = false
    const service = Service.make({
      token: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => aborted = true))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("10 seconds")
      const error = yield* Fiber.join(waiter)
      assert(error._tag === "TokenTimeout")
      strictEqual(Duration.toSeconds(error.deadline), 10)
      strictEqual(aborted, true)
    }).pipe(provide(service))
  })

  it.effect("an HttpClient that cannot be interrupted does not hold up the next flight", () => {
    const service = Service.make({
      token: (_, count) =>
        count === 1 ? Effect.uninterruptible(Effect.never) : Effect.succeed(Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("10 seconds")
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenTimeout")
      strictEqual(yield* getText, "token-2")
    }).pipe(provide(service))
  })

  it.effect("a token that was over before it came is no token", () => {
    const service = Service.make({
      token: (_, count) => Effect.delay(Effect.sync(() => Service.tokenResponse(count, { expires_in: 1 })), "2 seconds")
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("2 seconds")
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenResponseInvalid")
    }).pipe(provide(service))
  })

  it.effect("a body that never ends is TokenTimeout as well", () => {
    const service = Service.make({
      token: () => Effect.succeed(new Response(new ReadableStream({ pull: () => new Promise(() => {}) })))
    })
    return Effect.gen(function*() {
      const waiter = yield* Effect.fork(Effect.flip(get))
      yield* TestClock.adjust("10 seconds")
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenTimeout")
    }).pipe(provide(service))
  })

  const html = () => new Response("<html>canary", { headers: { "content-type": "Text/HTML; charset=utf-8" } })
  it.effect.each<[string, () => Response, Record<string, unknown>]>([
    ["401 invalid_client", () => Service.json({ error: "invalid_client" }, { status: 401 }), {
      _tag: "TokenRejected",
      status: 401,
      code: "invalid_client"
    }],
    ["400 without a body", () => new Response(null, { status: 400 }), { _tag: "TokenRejected", status: 400 }],
    ["401 with a body nested deeper than the stack", () => new Response("[".repeat(100_000), { status: 401 }), {
      _tag: "TokenRejected",
      status: 401
    }],
    ["403 of a gateway", () => new Response("<html>", { status: 403 }), { _tag: "TokenRejected", status: 403 }],
    ["200 with an error", () => Service.json({ error: "invalid_client" }), {
      _tag: "TokenRejected",
      status: 200,
      code: "invalid_client"
    }],
    ["200 with an error in free text beside a token", () => Service.tokenResponse(1, { error: "canary is wrong" }), {
      _tag: "TokenRejected",
      status: 200
    }],
    ["an error code that is free text", () => Service.json({ error: "canary is wrong" }, { status: 401 }), {
      _tag: "TokenRejected",
      status: 401
    }],
    ["an error code that is the key", () => Service.json({ error: "s3cret-key" }, { status: 401 }), {
      _tag: "TokenRejected",
      status: 401
    }],
    ["429 with Retry-After", () => new Response(null, { status: 429, headers: { "retry-after": "7" } }), {
      _tag: "TokenEndpointUnavailable",
      reason: "status",
      status: 429,
      retryAfter: Duration.seconds(7)
    }],
    ["408", () => new Response(null, { status: 408 }), {
      _tag: "TokenEndpointUnavailable",
      reason: "status",
      status: 408
    }],
    ["500", () => new Response("<html>", { status: 500 }), {
      _tag: "TokenEndpointUnavailable",
      reason: "status",
      status: 500
    }],
    ["200 HTML", html, { _tag: "TokenResponseInvalid", status: 200, contentType: "text/html", length: 12 }],
    ["200 empty", () => new Response(null), { _tag: "TokenResponseInvalid", status: 200, length: 0 }],
    ["invalid UTF-8", () => new Response(Uint8Array.of(0x7b, 0xff, 0x7d)), { _tag: "TokenResponseInvalid", length: 3 }],
    ["a redirect", () => new Response(null, { status: 307, headers: { location: "https://evil.example" } }), {
      _tag: "TokenResponseInvalid",
      status: 307
    }],
    ["2 MiB", () => new Response("x".repeat(2 ** 21)), { _tag: "TokenResponseInvalid", status: 200 }]
  ])("%s is a typed failure", ([, response, expected]) => {
    const service = Service.make({ token: () => Effect.sync(response) })
    return Effect.gen(function*() {
      const error = yield* Effect.flip(get)
      assert.deepInclude(error, expected)
      strictEqual("code" in error ? error.code : undefined, expected["code"])
      strictEqual(/canary|s3cret/.test(`${error.message}${JSON.stringify(error)}`), false)
    }).pipe(provide(service))
  })
})
