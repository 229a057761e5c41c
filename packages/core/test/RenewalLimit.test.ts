import { AmlClient, Person, TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Fiber, Random, TestClock } from "effect"
import { check, provide } from "./support/ada.ts"
import * as Service from "./support/service.ts"
import { getText, provide as provideTokens, status, textOf } from "./support/tokens.ts"

const checkEve = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* Effect.flip(aml.check(yield* Person.make({ name: "Eve Testclear", dateOfBirth: "1957-03-14" })))
})

const good = () => Service.json(Service.credential())

const challenge = { "www-authenticate": "Bearer error=\"invalid_token\"" }

/** An API that rejects some requests with 401. */
const refusing = (
  isRefused: (request: { readonly count: number; readonly token: string; readonly body: string }) => boolean,
  token?: Service.Handler
) =>
  Service.make({
    ...(token && { token }),
    aml: ({ body, headers }, count) =>
      Effect.sync(() =>
        isRefused({ count, body, token: headers["authorization"]?.replace("Bearer ", "") ?? "" })
          ? status(401, challenge)
          : good()
      )
  })

const everyOther = ({ count }: { readonly count: number }) => count % 2 === 1

/** The number of checks that succeed in 30 s, at this number of checks per second. */
const succeedIn30Seconds = (perSecond: number) =>
  Effect.gen(function*() {
    let succeeded = 0
    for (let second = 0; second < 30; second++) {
      for (let i = 0; i < perSecond; i++) succeeded += Either.isRight(yield* Effect.either(check)) ? 1 : 0
      yield* TestClock.adjust("1 second")
    }
    return succeeded
  })

describe("An API with two replicas, one of which rejects valid tokens", () => {
  it.effect("in turn: all 300 checks in 30 s succeed, with at most 4 token requests", () => {
    const service = refusing(everyOther)
    return Effect.gen(function*() {
      strictEqual(yield* succeedIn30Seconds(10), 300)
      assert(service.tokenRequests.length <= 4, `${service.tokenRequests.length} token requests`)
    }).pipe(provide(service))
  })

  it.effect("in turn, while the token endpoint issues the same token: all checks succeed", () => {
    const service = refusing(everyOther, () => Effect.succeed(Service.tokenResponse(1)))
    return Effect.gen(function*() {
      strictEqual(yield* succeedIn30Seconds(2), 60)
      assert(service.tokenRequests.length <= 4, `${service.tokenRequests.length} token requests`)
    }).pipe(provide(service))
  })

  it.effect.each(["flapping", "random"])(
    "at random (seed %j): at most 4 token requests in 30 s, and only a check rejected twice fails",
    (seed) => {
      const random = Random.make(seed)
      let isSecond = false
      let refusedTwice = 0
      const service = Service.make({
        aml: () =>
          Effect.map(random.nextBoolean, (isRefused) => {
            if (isRefused && isSecond) refusedTwice++
            // Checks run one after another, so the next request after a rejection is the second one of the check.
            isSecond = isRefused && !isSecond
            return isRefused ? status(401, challenge) : good()
          })
      })
      return Effect.gen(function*() {
        strictEqual(yield* succeedIn30Seconds(3), 90 - refusedTwice)
        assert(service.tokenRequests.length <= 4, `${service.tokenRequests.length} token requests`)
      }).pipe(provide(service))
    }
  )

  it.effect("20 concurrent checks, repeatedly: at most 4 token requests in 30 s", () => {
    const service = refusing(everyOther)
    return Effect.gen(function*() {
      for (let second = 0; second < 10; second++) {
        yield* Effect.replicateEffect(Effect.either(check), 20, { concurrency: "unbounded", discard: true })
        yield* TestClock.adjust("2900 millis")
      }
      assert(service.tokenRequests.length <= 4, `${service.tokenRequests.length} token requests`)
    }).pipe(provide(service))
  })
})

describe("Renewals because of a 401", () => {
  it.effect("are at most 2 in any 30 s", () => {
    let isRefused = false
    const refusedOnce = () => {
      const before = isRefused
      isRefused = false
      return before
    }
    const service = refusing(refusedOnce)
    const checkRefusedOnce = Effect.suspend(() => {
      isRefused = true
      return check
    })
    const at = (millis: number, tokens: number) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(millis)
        yield* checkRefusedOnce
        strictEqual(service.tokenRequests.length, tokens, `at ${millis} ms`)
      })
    return Effect.gen(function*() {
      yield* at(0, 2)
      yield* at(20_000, 3)
      yield* at(29_999, 3)
      yield* at(30_000, 4)
      yield* at(49_999, 4)
      yield* at(50_000, 5)
      yield* at(59_999, 5)
      yield* at(60_000, 6)
    }).pipe(provide(service))
  })

  it.effect("beyond the limit: the request is sent once more with the same token, and the error says why", () => {
    let accepted = "token-3"
    const service = refusing(({ count, token }) => count % 2 === 1 || token !== accepted)
    return Effect.gen(function*() {
      accepted = "token-2"
      yield* check
      accepted = "token-3"
      yield* check
      accepted = "token-4"
      const sent = service.amlRequests.length
      assert.deepInclude(yield* Effect.flip(check), { _tag: "AmlUnauthorized", status: 401, renewal: "paused" })
      deepStrictEqual(
        service.amlRequests.slice(sent).map(({ headers }) => headers["authorization"]),
        ["Bearer token-3", "Bearer token-3"]
      )
      yield* TestClock.adjust("30 seconds")
      yield* check
      strictEqual(service.tokenRequests.length, 4)
    }).pipe(provide(service))
  })

  it.effect("count for all clients of a provider, and for other callers of invalidate", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      for (const expected of ["token-2", "token-3", "token-3", "token-3"]) {
        yield* provider.invalidate(yield* provider.get)
        strictEqual(yield* getText, expected)
      }
      strictEqual(textOf(yield* provider.refresh), "token-4")
      yield* TestClock.adjust("30 seconds")
      yield* provider.invalidate(yield* provider.get)
      strictEqual(yield* getText, "token-5")
    }).pipe(provideTokens(service))
  })

  it.effect("do not count if the rejected token was already replaced", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const old = yield* provider.get
      for (let i = 0; i < 5; i++) yield* provider.invalidate(old)
      const second = yield* provider.get
      for (let i = 0; i < 5; i++) yield* provider.invalidate(old)
      yield* provider.invalidate(second)
      strictEqual(yield* getText, "token-3")
    }).pipe(provideTokens(service))
  })
})

describe("A new token that was rejected too", () => {
  const refusingEve = () => refusing(({ body, token }) => token === "token-1" || body.includes("Eve"))

  it.effect("is not replaced for 30 s, to the millisecond", () => {
    const service = refusingEve()
    return Effect.gen(function*() {
      strictEqual((yield* checkEve)._tag, "AmlUnauthorized")
      yield* TestClock.adjust("29999 millis")
      assert.deepInclude(yield* checkEve, { renewal: "paused" })
      strictEqual(service.tokenRequests.length, 2)
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* checkEve, { renewal: "replayed" })
      strictEqual(service.tokenRequests.length, 3)
    }).pipe(provide(service))
  })

  it.effect("is not replaced sooner if other checks are accepted with it", () => {
    const service = refusingEve()
    return Effect.gen(function*() {
      yield* checkEve
      yield* check
      assert.deepInclude(yield* checkEve, { renewal: "paused" })
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })

  it.effect("is not replaced sooner after a late rejection of the previous token", () => {
    const service = Service.make({
      aml: ({ body, headers }, count) =>
        Effect.delay(
          Effect.sync(() =>
            headers["authorization"] === "Bearer token-1" || body.includes("Eve") ? status(401, challenge) : good()
          ),
          count === 1 ? "5 seconds" : 0
        )
    })
    return Effect.gen(function*() {
      const late = yield* Effect.fork(check)
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* checkEve, { renewal: "replayed" })
      yield* TestClock.adjust("4 seconds")
      // The API accepts the new token for this check, and has rejected it for Eve.
      yield* Fiber.join(late)
      assert.deepInclude(yield* checkEve, { renewal: "paused" })
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(provide(service))
  })
})
