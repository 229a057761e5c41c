import { TokenProvider } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect, Fiber, TestClock } from "effect"
import * as Service from "./support/service.ts"
import { provide, status, textOf } from "./support/tokens.ts"

/** Responds with a 429 to the listed requests, each after a time in milliseconds, and with a token to the others. */
const serviceWith = (responses: Record<number, readonly [millis: number, retryAfter: string]>) => {
  const at: Array<number> = []
  const service = Service.make({
    token: (_, count) =>
      Effect.gen(function*() {
        at.push(yield* Clock.currentTimeMillis)
        const response = responses[count]
        if (response === undefined) return Service.tokenResponse(count)
        yield* Effect.sleep(response[0])
        return status(429, { "retry-after": response[1] })
      })
  })
  return { ...service, at }
}

describe("A second cooldown from an abandoned acquisition while another one waits", () => {
  it.effect("before its first request: it waits for the second cooldown too", () => {
    const service = serviceWith({ 2: [9000, "20"], 3: [0, "10"] })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const token = yield* provider.get
      yield* Effect.fork(provider.refresh)
      yield* TestClock.adjust("1 second")
      yield* provider.invalidate(token)
      yield* Effect.flip(provider.get)
      yield* TestClock.adjust("1 second")
      const waiter = yield* Effect.fork(provider.get)
      yield* TestClock.adjust("30 seconds")
      strictEqual(textOf(yield* Fiber.join(waiter)), "token-4")
      deepStrictEqual(service.at, [0, 0, 1000, 29_000])
    }).pipe(provide(service, { tokenPolicy: { attempts: 1 } }))
  })

  it.effect("before a retry: it waits for the second cooldown too", () => {
    const service = serviceWith({ 2: [3000, "20"], 3: [0, "5"] })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const token = yield* provider.get
      const forced = yield* Effect.fork(provider.refresh)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(forced)
      yield* provider.invalidate(token)
      const waiter = yield* Effect.fork(provider.get)
      yield* TestClock.adjust("30 seconds")
      strictEqual(textOf(yield* Fiber.join(waiter)), "token-4")
      deepStrictEqual(service.at, [0, 0, 1000, 23_000])
    }).pipe(
      provide(service, { tokenPolicy: { attemptDeadline: "30 seconds", attempts: 2 } }),
      Effect.withRandomFixed([0.5])
    )
  })
})
