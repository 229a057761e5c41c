import { AmlClient, Idv, Person, TokenProvider } from "@effect-idv/core"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, Fiber, FiberRef, Layer, Option, Redacted, TestClock } from "effect"
import * as Bearer from "../src/internal/check/bearer.ts"
import { Progress } from "../src/internal/check/progress.ts"
import * as Exchange from "../src/internal/wire/exchange.ts"
import { check, provide } from "./support/ada.ts"
import * as Service from "./support/service.ts"
import { respondAfter, status } from "./support/tokens.ts"

const challenge = { "www-authenticate": "Bearer error=\"invalid_token\"" }

const accepting = (isAccepted: (token: string) => boolean): Service.Handler => ({ headers }) =>
  Effect.sync(() =>
    isAccepted(headers["authorization"] ?? "")
      ? Service.json(Service.credential())
      : status(401, challenge)
  )

const tokensSent = (service: ReturnType<typeof Service.make>) =>
  service.amlRequests.map(({ headers }) => headers["authorization"]?.replace("Bearer ", ""))

/** Sends any request with the token of this service. */
const authorized = (service: ReturnType<typeof Service.make>) =>
  Effect.gen(function*() {
    const exchange = yield* Exchange.make("https://api.example.com/api/aml", "checks")
    const tokens = yield* TokenProvider.make(Service.options)
    const authorize = Bearer.make(exchange, tokens)
    const clock = yield* Effect.clock
    return (request: HttpClientRequest.HttpClientRequest) => authorize(request, new Progress(clock))
  }).pipe(Effect.provide(service.layer))

describe("401 and 403 from the API", () => {
  it.effect(
    "ten 401s for one token cause one acquisition and ten replays with the new token",
    () => {
      const service = Service.make({
        aml: (received, count) =>
          Effect.delay(
            accepting((token) => token === "Bearer token-2")(received, count, HttpClientRequest.get("")),
            count <= 10 ? `${count * 100} millis` : 0
          ),
        token: (_, count) => respondAfter(count === 1 ? 0 : "300 millis", count)
      })
      return Effect.gen(function*() {
        const checks = yield* Effect.forkAll(Arr.makeBy(10, () => check))
        yield* TestClock.adjust("2 seconds")
        strictEqual((yield* Fiber.join(checks)).length, 10)
        strictEqual(service.tokenRequests.length, 2)
        deepStrictEqual(tokensSent(service), [...Arr.replicate("token-1", 10), ...Arr.replicate("token-2", 10)])
      }).pipe(provide(service))
    }
  )

  it.effect("the effect for the credentials keeps its own HTTP settings", () => {
    const found: Array<unknown> = []
    const service = Service.make({ aml: accepting((token) => token === "Bearer token-2") })
    const credentials = Effect.gen(function*() {
      const isUntraced = yield* FiberRef.get(HttpClient.currentTracerDisabledWhen)
      found.push(isUntraced(HttpClientRequest.get("")), yield* Effect.serviceOption(FetchHttpClient.RequestInit))
      return { customerId: "id", customerKey: Redacted.make("key") }
    })
    const { authUrl, baseUrl, searchedOnTolerance } = Service.options
    return Effect.gen(function*() {
      yield* check
      strictEqual(service.tokenRequests.length, 2)
      deepStrictEqual(found, [false, Option.none(), false, Option.none()])
    }).pipe(
      Effect.provide(Layer.provide(Idv.layer({ authUrl, baseUrl, searchedOnTolerance, credentials }), service.layer))
    )
  })

  it.effect("a late 401 for an old token replays with the current one, which is not evicted", () => {
    const service = Service.make({
      aml: (received, count) =>
        Effect.delay(
          accepting((token) => token === "Bearer token-2")(received, count, HttpClientRequest.get("")),
          count === 1 ? "5 seconds" : 0
        )
    })
    return Effect.gen(function*() {
      const late = yield* Effect.fork(check)
      yield* TestClock.adjust("1 second")
      yield* check
      strictEqual(service.tokenRequests.length, 2)
      yield* TestClock.adjust("4 seconds")
      yield* Fiber.join(late)
      yield* check
      strictEqual(service.tokenRequests.length, 2)
      deepStrictEqual(tokensSent(service), ["token-1", "token-1", "token-2", "token-2", "token-2"])
    }).pipe(provide(service))
  })

  it.effect(
    "if the replay is a 401 too, the check fails, and 20 such checks cause at most 2 token requests in 30 s",
    () => {
      const service = Service.make({ aml: accepting(() => false) })
      return Effect.gen(function*() {
        assert.deepInclude(yield* Effect.flip(check), { _tag: "AmlUnauthorized", status: 401, renewal: "replayed" })
        deepStrictEqual(tokensSent(service), ["token-1", "token-2"])
        for (let i = 0; i < 19; i++) {
          yield* TestClock.adjust("1500 millis")
          assert.deepInclude(yield* Effect.flip(check), { _tag: "AmlUnauthorized", renewal: "paused" })
        }
        strictEqual(service.tokenRequests.length, 2)
        strictEqual(service.amlRequests.length, 2 + 2 * 19)
        // After 30 s a new token is acquired.
        yield* TestClock.adjust("1500 millis")
        assert.deepInclude(yield* Effect.flip(check), { renewal: "replayed" })
        strictEqual(service.tokenRequests.length, 3)
      }).pipe(provide(service))
    }
  )

  it.effect.each([429, 500, 503, 403])(
    "rejected twice with %d in between: at most 2 token requests in 30 s",
    (code) => {
      const service = Service.make({
        aml: (_, count) => Effect.succeed(count % 2 === 0 ? status(code) : status(401, challenge))
      })
      return Effect.gen(function*() {
        for (let i = 0; i < 20; i++) {
          yield* Effect.flip(check)
          yield* TestClock.adjust("1 second")
        }
        strictEqual(service.tokenRequests.length, 2)
      }).pipe(provide(service))
    }
  )

  it.effect("if one person is always rejected and another never: at most 2 token requests in 30 s", () => {
    const service = Service.make({
      aml: ({ body }) =>
        Effect.succeed(
          body.includes("Eve") ? status(401, challenge) : Service.json(Service.credential())
        )
    })
    return Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      const eve = yield* Person.make({ name: "Eve Testclear", dateOfBirth: "1957-03-14" })
      for (let i = 0; i < 20; i++) {
        yield* Effect.flip(aml.check(eve))
        yield* check
        yield* TestClock.adjust("1 second")
      }
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("20 concurrent checks that are all rejected twice: 2 token requests", () => {
    const service = Service.make({ aml: accepting(() => false) })
    return Effect.gen(function*() {
      yield* Effect.replicateEffect(Effect.flip(check), 20, { concurrency: "unbounded" })
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("if the replay is a 401 too, the first response is kept with its body", () => {
    const service = Service.make({
      aml: (_, count) => Effect.succeed(new Response(`refusal ${count}`, { status: 401 }))
    })
    return Effect.gen(function*() {
      const send = yield* authorized(service)
      const { response } = yield* send(HttpClientRequest.get("https://api.example.com/"))
      strictEqual(new TextDecoder().decode(response.body), "refusal 1")
      strictEqual(service.amlRequests.length, 2)
    }).pipe(Effect.scoped)
  })

  it.effect.each<[string, Record<string, string>]>([
    ["without a challenge", {}],
    ["with one for Bearer", challenge],
    ["with one for Bearer after another", { "www-authenticate": "Basic realm=\"api\", bearer" }]
  ])("401 %s renews the token and sends the request once more", ([, headers]) => {
    const service = Service.make({
      aml: (_, count) =>
        Effect.succeed(
          count === 1 ? status(401, headers) : Service.json(Service.credential())
        )
    })
    return Effect.gen(function*() {
      yield* check
      deepStrictEqual(tokensSent(service), ["token-1", "token-2"])
      deepStrictEqual(service.amlRequests[0]?.body, service.amlRequests[1]?.body)
    }).pipe(provide(service))
  })

  it.effect("an accepted new token is renewed at once when it is rejected later", () => {
    let current = "Bearer token-2"
    const service = Service.make({ aml: accepting((token) => token === current) })
    return Effect.gen(function*() {
      yield* check
      current = "Bearer token-3"
      yield* check
      strictEqual(service.tokenRequests.length, 3)
    }).pipe(provide(service))
  })

  it.effect.each<[string, number]>([
    ["replaced", 3600],
    ["followed", 8]
  ])(
    "a late 401 for an old token does not pause the renewal of the accepted token that %s it",
    ([, seconds]) => {
      const later = [200, 500, 401]
      const service = Service.make({
        aml: ({ headers }, count) => {
          const token = headers["authorization"]
          const code = token === "Bearer token-1" ? 401 : token === "Bearer token-2" ? later.shift() : 200
          const response = code === 200
            ? Service.json(Service.credential())
            : status(code ?? 500)
          return Effect.delay(Effect.succeed(response), count === 1 ? "5 seconds" : 0)
        },
        token: (_, count) => Effect.succeed(Service.tokenResponse(count, { expires_in: seconds }))
      })
      return Effect.gen(function*() {
        const late = yield* Effect.fork(Effect.flip(check))
        yield* TestClock.adjust("4 seconds")
        yield* check
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(late)
        yield* check
        deepStrictEqual(tokensSent(service).slice(-4), ["token-2", "token-2", "token-2", "token-3"])
      }).pipe(provide(service))
    }
  )

  it.effect("if the token endpoint issues the same token, the request is sent once more with it", () => {
    const service = Service.make({
      aml: accepting(() => false),
      token: () => Effect.succeed(Service.tokenResponse(1))
    })
    return Effect.gen(function*() {
      assert.deepInclude(yield* Effect.flip(check), { _tag: "AmlUnauthorized", renewal: "same_token" })
      assert.deepInclude(yield* Effect.flip(check), { _tag: "AmlUnauthorized", renewal: "paused" })
      strictEqual(service.amlRequests.length, 4)
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect.each<[string, number, Record<string, string>, string]>([
    ["403", 403, {}, "AmlForbidden"],
    ["403 with a challenge", 403, challenge, "AmlForbidden"],
    ["Basic", 401, { "www-authenticate": "Basic realm=\"bearer\"" }, "AmlUnauthorized"],
    ["Digest", 401, { "www-authenticate": "Digest nonce=\"bearer\"" }, "AmlUnauthorized"],
    ["quoted", 401, { "www-authenticate": "Basic realm=\"api, bearer of \\\", bearer keys\"" }, "AmlUnauthorized"]
  ])(
    "a 403, or a 401 with another challenge than Bearer, is not replayed: %s",
    ([, code, headers, tag]) => {
      const service = Service.make({ aml: () => Effect.succeed(status(code, headers)) })
      return Effect.gen(function*() {
        const error = yield* Effect.flip(check)
        strictEqual(error._tag, tag)
        if (error._tag === "AmlUnauthorized") strictEqual(error.renewal, "none")
        deepStrictEqual([service.amlRequests.length, service.tokenRequests.length], [1, 1])
      }).pipe(provide(service))
    }
  )

  it.effect("a replay has the same body and Idempotency-Key", () => {
    const service = Service.make({ aml: accepting((token) => token === "Bearer token-2") })
    return Effect.gen(function*() {
      const send = yield* authorized(service)
      const { renewal, response } = yield* send(
        HttpClientRequest.post("https://api.example.com/upload").pipe(
          HttpClientRequest.setHeader("idempotency-key", "7d9f6c52"),
          HttpClientRequest.bodyText("buffered")
        )
      )
      deepStrictEqual([response.status, renewal], [200, "none"])
      deepStrictEqual(
        service.amlRequests.map(({ body, headers }) => [body, headers["idempotency-key"]]),
        [["buffered", "7d9f6c52"], ["buffered", "7d9f6c52"]]
      )
    }).pipe(Effect.scoped)
  })

  it.effect("if the acquisition fails, no request is sent to the API", () => {
    const service = Service.make({ token: () => Effect.succeed(status(401)) })
    return Effect.gen(function*() {
      strictEqual((yield* Effect.flip(check))._tag, "TokenRejected")
      strictEqual(service.amlRequests.length, 0)
    }).pipe(provide(service))
  })

  it.effect("a redirect to another origin is not followed", () => {
    const service = Service.make({
      aml: () => Effect.succeed(status(307, { location: "https://evil.example/" }))
    })
    return Effect.gen(function*() {
      strictEqual((yield* Effect.flip(check))._tag, "AmlResponseInvalid")
      deepStrictEqual(service.amlRequests.map(({ url }) => url), ["https://api.example.com/api/aml"])
    }).pipe(provide(service))
  })
})
