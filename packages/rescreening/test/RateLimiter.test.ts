import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect, Fiber, TestClock } from "effect"
import * as RateLimiter from "../src/internal/rateLimiter.ts"

/** The turns of the ledger, by the test's clock. */
const slots = Effect.map(Effect.clock, (clock) => {
  let nextAt = 0
  return {
    slots: (_: string, { count, interval }: { readonly count: number; readonly interval: number }) =>
      Effect.sync(() => {
        const now = clock.unsafeCurrentTimeMillis()
        const first = Math.max(nextAt, now)
        nextAt = first + count * interval
        return first - now
      })
  }
})

/** When the requests leave, if the time from the turn to the request is `delay(index)`. */
const leaving = (count: number, delay: (index: number) => number) =>
  Effect.gen(function*() {
    const turns = yield* RateLimiter.make(yield* slots, "service", 50)
    const times: Array<number> = []
    const work = Effect.forEach(
      Array.from({ length: count }, (_, index) => index),
      (index) =>
        Effect.gen(function*() {
          const turn = yield* turns.next
          yield* Effect.sleep(delay(index))
          turns.leaves(turn)
          times.push(yield* Clock.currentTimeMillis)
        }),
      { concurrency: 8, discard: true }
    )
    const fiber = yield* Effect.fork(work)
    while ((yield* Fiber.poll(fiber))._tag === "None") yield* TestClock.adjust("5 seconds")
    return times.toSorted((a, b) => a - b)
  })

const fullestSecond = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length))

describe("The rate limiter of a worker", () => {
  it.effect("spaces the requests evenly, and a constant delay costs no turn", () =>
    Effect.gen(function*() {
      const times = yield* leaving(25, () => 40)
      const [first = 0] = times
      const last = times.at(-1) ?? 0
      assertTrue(last - first <= 24 * 20.5 + 1, `${last - first} ms`)
    }))

  it.effect("drops a later turn for each request that leaves late, so that no second has more than the rate", () =>
    Effect.gen(function*() {
      // The database holds back all requests for 300 ms.
      const times = yield* leaving(80, (index) => index >= 20 && index < 28 ? 300 : 1)
      const most = fullestSecond(times)
      assertTrue(most <= 50, `${most} in one second`)
      strictEqual(times.length, 80)
    }))

  it.effect("drops the turns that passed while the process was stopped", () =>
    Effect.gen(function*() {
      const turns = yield* RateLimiter.make(yield* slots, "service", 50)
      const first = yield* turns.next
      yield* TestClock.adjust("5 seconds")
      const second = yield* turns.next
      deepStrictEqual([first, second], [0, 5000])
    }))
})
