import { TokenProvider } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Option, TestClock } from "effect"
import * as Service from "./support/service.ts"
import { get, provide, status } from "./support/tokens.ts"

/** `ready`, the tag of the failure, or `acquiring`. */
const probe = Effect.flatMap(TokenProvider.TokenProvider, ({ readiness }) => readiness).pipe(
  Effect.map(({ failure, isReady }) =>
    isReady ? "ready" : Option.match(failure, { onNone: () => "acquiring", onSome: ({ _tag }) => _tag })
  )
)

const everyTenSeconds = (count: number) =>
  Effect.all(Array.from({ length: count }, () => Effect.zipLeft(probe, TestClock.adjust("10 seconds"))))

describe("Readiness", () => {
  it.effect("sends one token request in the lifetime of a token, however many probes there are", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      strictEqual(yield* probe, "acquiring")
      yield* TestClock.adjust(0)
      deepStrictEqual(new Set(yield* everyTenSeconds(356)), new Set(["ready"]))
      strictEqual(service.tokenRequests.length, 1)
      // Past usable-until.
      yield* TestClock.adjust("10 seconds")
      strictEqual(yield* probe, "acquiring")
      yield* TestClock.adjust(0)
      deepStrictEqual([yield* probe, service.tokenRequests.length], ["ready", 2])
    }).pipe(provide(service))
  })

  it.effect("starts one acquisition for 1,000 probes at once", () => {
    const service = Service.make({
      token: (_, count) => Effect.delay(Effect.sync(() => Service.tokenResponse(count)), "2 seconds")
    })
    return Effect.gen(function*() {
      yield* Effect.replicateEffect(probe, 1000, { concurrency: "unbounded" })
      yield* TestClock.adjust("2 seconds")
      deepStrictEqual([yield* probe, service.tokenRequests.length], ["ready", 1])
    }).pipe(provide(service))
  })

  it.effect("returns the failure, sends at most one request a minute after the first five, and is ready after the outage", () => {
    let isDown = true
    const service = Service.make({
      token: (_, count) => Effect.sync(() => isDown ? status(503) : Service.tokenResponse(count))
    })
    return Effect.gen(function*() {
      strictEqual(yield* probe, "acquiring")
      yield* TestClock.adjust(0)
      deepStrictEqual(new Set(yield* everyTenSeconds(360)), new Set(["TokenEndpointUnavailable"]))
      const requests = service.tokenRequests.length
      // The first five waits are shorter than a minute.
      strictEqual(requests <= 65, true, `${requests} requests in an hour`)
      isDown = false
      yield* everyTenSeconds(7)
      deepStrictEqual([yield* probe, service.tokenRequests.length], ["ready", requests + 1])
    }).pipe(provide(service))
  })

  it.effect("sends rejected credentials at most 15 times in ten minutes", () => {
    const service = Service.make({ token: () => Effect.succeed(status(401)) })
    return Effect.gen(function*() {
      yield* everyTenSeconds(61)
      strictEqual(yield* probe, "TokenRejected")
      strictEqual(service.tokenRequests.length <= 15, true, `${service.tokenRequests.length} requests in ten minutes`)
    }).pipe(provide(service))
  })

  it.effect("is not ready after the API rejected the token, and acquires another", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const token = yield* get
      const { invalidate } = yield* TokenProvider.TokenProvider
      yield* invalidate(token)
      strictEqual(yield* probe, "acquiring")
      yield* TestClock.adjust(0)
      deepStrictEqual([yield* probe, service.tokenRequests.length], ["ready", 2])
    }).pipe(provide(service))
  })
})
