import { describe, it } from "@effect/vitest"
import { assertTrue, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect, Exit, Fiber, TestClock } from "effect"
import { readFile } from "node:fs/promises"
import * as WaitBudget from "../src/internal/tokenStore/waitBudget.ts"

const late = Effect.fail("late")

/** Keeps the process from reading what arrives, as if it had no CPU time. */
const block = (millis: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

describe("A budget for waiting", () => {
  it.effect("is shared by effects that run one after the other", () =>
    Effect.gen(function*() {
      const budget = { leftMillis: 200 }
      const within = WaitBudget.within(budget, late)
      const both = yield* Effect.fork(
        Effect.exit(Effect.zipRight(within(Effect.sleep("150 millis")), within(Effect.never)))
      )
      yield* TestClock.adjust("150 millis")
      strictEqual(budget.leftMillis, 50)
      yield* TestClock.adjust("49 millis")
      strictEqual(both.unsafePoll(), null)
      yield* TestClock.adjust("1 millis")
      strictEqual(Exit.isFailure(yield* Fiber.join(both)), true)
      strictEqual(budget.leftMillis, 0)
    }))

  it.live("ends the wait for an effect that does not end", () =>
    Effect.gen(function*() {
      const started = yield* Clock.currentTimeMillis
      strictEqual(
        yield* Effect.flip(WaitBudget.within({ leftMillis: 100 }, late)(Effect.uninterruptible(Effect.never))),
        "late"
      )
      const took = (yield* Clock.currentTimeMillis) - started
      assertTrue(took >= 90, `${took} ms`)
    }))

  it.live("lets a process that got no CPU time read what arrived meanwhile", () =>
    Effect.gen(function*() {
      const budget = { leftMillis: 200 }
      const reading = yield* Effect.fork(
        WaitBudget.within(budget, late)(Effect.promise(() => readFile(import.meta.filename)))
      )
      yield* Effect.yieldNow()
      block(500)
      assertTrue((yield* Fiber.join(reading)).length > 0)
      assertTrue(budget.leftMillis > 0)
    }))
})
