import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect, Fiber, Schema, TestClock } from "effect"
import * as RequestLimit from "../src/internal/worker/requestLimit.ts"
import * as Run from "../src/Run.ts"

const policy = Schema.decodeSync(Run.Policy)({ maxChecks: 25, rate: 2000 })

describe("The limit of requests", () => {
  it.effect("pauses the run once other workers had time for what they reserved, also if the machine is late", () =>
    Effect.gen(function*() {
      const clock = yield* Effect.clock
      const reasons: Array<string> = []
      const limit = RequestLimit.make({ reserve: () => Effect.succeed(0) }, {
        id: "2026-11",
        now: () => clock.unsafeCurrentTimeMillis(),
        turnsAhead: () => 20,
        state: {
          policy: () => policy,
          stopAll: (reason) => Effect.sync(() => void reasons.push(reason))
        }
      })
      const takeAfter = (millis: number) =>
        Effect.gen(function*() {
          const taking = yield* Effect.fork(limit.take(1))
          yield* TestClock.adjust(millis)
          strictEqual(yield* Fiber.join(taking), 0)
        })
      yield* Effect.repeatN(takeAfter(10_000), 9)
      deepStrictEqual(reasons, [])
      const from = yield* Clock.currentTimeMillis
      while (reasons.length === 0) yield* takeAfter(50)
      deepStrictEqual(reasons, ["the limit of 25 checks is reached (--max-checks); set a higher one"])
      strictEqual((yield* Clock.currentTimeMillis) - from, 1550)
    }))
})
