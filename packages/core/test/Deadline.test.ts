import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Duration, Effect, Fiber, TestClock } from "effect"
import * as Deadline from "../src/internal/wire/deadline.ts"
import * as Yielding from "./support/yielding.ts"

const within = Deadline.within(Duration.minutes(1), Effect.fail("late"))

describe("A deadline", () => {
  it.live("leaves no fiber or timer when its caller is interrupted at any moment", () =>
    Effect.gen(function*() {
      let begun = 0
      let running = 0
      const work = Effect.acquireUseRelease(
        Effect.sync(() => {
          begun++
          running++
        }),
        () => Effect.never,
        () =>
          Effect.sync(() => {
            running--
          })
      )
      const left = yield* Effect.forEach(Arr.range(0, 30), (ticks) =>
        Effect.gen(function*() {
          const caller = yield* Effect.fork(within(work))
          yield* Effect.repeatN(Effect.yieldNow(), ticks)
          yield* Fiber.interrupt(caller)
          yield* Effect.sleep("5 millis")
          return running
        }))
      deepStrictEqual(left.filter((running) => running !== 0), [])
      strictEqual(begun > 0, true)
    }))

  it.live("does not start its effect if the caller is interrupted before, unless the caller is uninterruptible", () =>
    Effect.gen(function*() {
      let isInterrupted = false
      const begun = { before: 0, after: 0 }
      const work = within(Effect.zipRight(Effect.sync(() => begun[isInterrupted ? "after" : "before"]++), Effect.never))
      for (const moment of Yielding.moments) {
        isInterrupted = false
        const caller = yield* Yielding.forkUntil(moment, work)
        isInterrupted = true
        yield* Fiber.interrupt(caller)
      }
      strictEqual(begun.before > 0, true)
      strictEqual(begun.after, 0)
      let isDone = false
      const done = Effect.uninterruptible(
        Effect.zipRight(Effect.yieldNow(), within(Effect.sync(() => (isDone = true))))
      )
      const caller = yield* Effect.fork(done)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(caller)
      strictEqual(isDone, true)
    }))

  it.effect("ends the wait of the caller for an uninterruptible effect", () =>
    Effect.gen(function*() {
      const caller = yield* Effect.fork(Effect.flip(within(Effect.uninterruptible(Effect.never))))
      yield* TestClock.adjust("59 seconds")
      strictEqual(caller.unsafePoll(), null)
      yield* TestClock.adjust("1 second")
      strictEqual(yield* Fiber.join(caller), "late")
    }))

  it.live("works the same with the live clock, which sets a timer", () =>
    Effect.gen(function*() {
      const soon = Deadline.within(Duration.millis(30), Effect.fail("late"))
      strictEqual(yield* Effect.flip(soon(Effect.uninterruptible(Effect.never))), "late")
      strictEqual(yield* within(Effect.delay(Effect.succeed("in time"), "1 millis")), "in time")
    }))
})
