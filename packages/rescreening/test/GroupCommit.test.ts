import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array, Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import * as GroupCommit from "../src/internal/groupCommit.ts"

/** Doubles numbers, and records the groups. `written` delays the end of each group. */
const doubling = (written: Effect.Effect<void, string> = Effect.void) => {
  const groups: Array<ReadonlyArray<number>> = []
  const double = GroupCommit.make((group: ReadonlyArray<number>) => {
    groups.push(group)
    return Effect.as(written, (number: number) => number * 2)
  })
  return { double, groups }
}

const started = <A, E>(effect: Effect.Effect<A, E>) => Effect.tap(Effect.fork(effect), () => Effect.yieldNow())

/** The fiber yields once, before this step, for longer than a group takes. */
const yieldsOnce = <A, E>(effect: Effect.Effect<A, E>, step: number) => {
  let steps = 0
  return Effect.withScheduler(effect, {
    shouldYield: () => steps++ === step ? 0 : false,
    scheduleTask: (task) => setTimeout(task, 20)
  })
}

describe("GroupCommit", () => {
  it.effect("performs the requests of concurrent fibers together, and returns to each its own result", () =>
    Effect.gen(function*() {
      const { double, groups } = doubling()
      const results = yield* Effect.fork(Effect.forEach([1, 2, 3], double, { concurrency: "unbounded" }))
      yield* TestClock.adjust("5 millis")
      deepStrictEqual(yield* Fiber.join(results), [2, 4, 6])
      deepStrictEqual(groups, [[1, 2, 3]])
    }))

  it.effect("returns no result before the group is written, and groups what arrives meanwhile", () =>
    Effect.gen(function*() {
      const written = yield* Deferred.make<void>()
      const { double, groups } = doubling(Deferred.await(written))
      const first = yield* started(double(1))
      yield* TestClock.adjust("5 millis")
      const others = yield* Effect.forEach([2, 3], (number) => started(double(number)))
      yield* TestClock.adjust("1 hour")
      deepStrictEqual([groups, yield* Fiber.poll(first)], [[[1]], yield* Effect.succeedNone])
      yield* Deferred.succeed(written, undefined)
      strictEqual(yield* Fiber.join(first), 2)
      yield* TestClock.adjust("5 millis")
      deepStrictEqual(yield* Fiber.join(Fiber.all(others)), [4, 6])
      deepStrictEqual(groups, [[1], [2, 3]])
    }))

  it.effect("fails all requests of a group that fails, and performs the next group", () =>
    Effect.gen(function*() {
      let isDown = true
      const { double } = doubling(Effect.suspend(() => isDown ? Effect.fail("down") : Effect.void))
      const both = yield* Effect.fork(Effect.forEach([1, 2], (number) => Effect.exit(double(number)), {
        concurrency: "unbounded"
      }))
      yield* TestClock.adjust("5 millis")
      deepStrictEqual(yield* Fiber.join(both), [Exit.fail("down"), Exit.fail("down")])
      isDown = false
      const next = yield* started(double(3))
      yield* TestClock.adjust("5 millis")
      strictEqual(yield* Fiber.join(next), 6)
    }))

  it.effect("completes a group whose first fiber is interrupted", () =>
    Effect.gen(function*() {
      const { double } = doubling()
      const first = yield* started(double(1))
      const second = yield* started(double(2))
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("5 millis")
      strictEqual(yield* Fiber.join(second), 4)
    }))

  it.live.each(Array.range(0, 15))(
    "performs a request whose fiber yields at step %d while the last group ends",
    (step) =>
      Effect.gen(function*() {
        const { double } = doubling()
        const first = yield* started(double(1))
        const second = yield* started(yieldsOnce(double(2), step))
        deepStrictEqual(yield* Effect.timeout(Fiber.join(Fiber.zip(first, second)), "5 seconds"), [2, 4])
      })
  )

  it.live.each(Array.range(0, 15))(
    "performs the next request after a fiber was interrupted at step %d",
    (step) =>
      Effect.gen(function*() {
        const { double } = doubling()
        const first = yield* started(yieldsOnce(double(1), step))
        yield* Fiber.interrupt(first)
        const second = yield* started(double(2))
        strictEqual(yield* Effect.timeout(Fiber.join(second), "5 seconds"), 4)
      })
  )

  it.effect("fails a group whose statement cannot be made, and performs the next group", () =>
    Effect.gen(function*() {
      let isBroken = true
      const double = GroupCommit.make<number, number, never>(() => {
        if (isBroken) throw new Error("broken")
        return Effect.succeed((number: number) => number * 2)
      })
      const first = yield* started(Effect.exit(double(1)))
      yield* TestClock.adjust("5 millis")
      strictEqual(Exit.isFailure(yield* Fiber.join(first)), true)
      isBroken = false
      const second = yield* started(double(2))
      yield* TestClock.adjust("5 millis")
      strictEqual(yield* Fiber.join(second), 4)
    }))
})
