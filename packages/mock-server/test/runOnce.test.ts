import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { runOnce } from "../src/internal/wire/runOnce.ts"

describe("An effect that runs once", () => {
  it.effect("is not affected by the interruption of its first user, whose fiber waits for the result", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<string>()
      const result = yield* runOnce(Deferred.await(gate))
      // As the HTTP library handles a request whose client closes the connection.
      const first = yield* Effect.fork(Effect.uninterruptible(result))
      yield* Effect.yieldNow()
      yield* Fiber.interruptFork(first)
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, "built")
      yield* Fiber.await(first)
      const later = yield* Effect.fork(
        Effect.uninterruptible(Effect.flatMap(result, (text) => Effect.interruptible(Effect.succeed(text))))
      )
      strictEqual(yield* Fiber.join(later), "built")
    }))

  it.effect("runs when it is first needed, and never again", () =>
    Effect.gen(function*() {
      let runs = 0
      const result = yield* runOnce(Effect.sync(() => ++runs))
      strictEqual(runs, 0)
      deepStrictEqual(yield* Effect.all([result, result], { concurrency: 2 }), [1, 1])
    }))

  it.effect("runs again when it is needed after a failure", () =>
    Effect.gen(function*() {
      let runs = 0
      const result = yield* runOnce(
        Effect.suspend(() => ++runs === 1 ? Effect.dieMessage("not loaded") : Effect.succeed(runs))
      )
      assertTrue(Exit.isFailure(yield* Effect.exit(result)))
      deepStrictEqual([yield* result, yield* result], [2, 2])
    }))
})
