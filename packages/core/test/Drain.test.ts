import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array as Arr, Deferred, Duration, Effect, Fiber, FiberRef, HashMap, Option, Stream } from "effect"
import { constVoid } from "effect/Function"
import * as Drain from "../src/internal/screening/drain.ts"

/** Drains 4 chunks of 10 elements with `f`, and ends the run by `end` after each number of steps. */
const drain = (
  f: Effect.Effect<unknown>,
  end: (fiber: Fiber.Fiber<unknown, unknown>, stop: Deferred.Deferred<never, string>) => Effect.Effect<unknown>,
  isComplete: (seen: { readonly taken: number; readonly notStarted: number }) => boolean = () => true
) =>
  Effect.gen(function*() {
    const wrong: Array<object> = []
    for (const maxOps of Arr.range(11, 16)) {
      for (const ticks of Arr.range(0, 30)) {
        const seen = { taken: 0, finished: 0, notStarted: 0, isEnded: false }
        const stop = yield* Deferred.make<never, string>()
        const drained = Drain.map(
          Stream.rechunk(Stream.range(1, 40), 10),
          () => Effect.zipRight(f, Effect.sync(() => seen.finished++)),
          {
            concurrency: 3,
            order: ticks % 2 === 0 ? "input" : "completion",
            gracePeriod: Duration.zero,
            onTaken: () => seen.taken++,
            onNotStarted: (count) => seen.notStarted += count,
            awaitSlot: Effect.void,
            takeSlot: Effect.yieldNow(),
            stop
          }
        )
        const fiber = yield* Effect.fork(Effect.withMaxOpsBeforeYield(Stream.runDrain(drained), maxOps))
        yield* Effect.repeatN(Effect.yieldNow(), ticks)
        yield* end(fiber, stop)
        const exit = yield* Effect.timeoutOption(Effect.disconnect(Fiber.await(fiber)), "1 minute")
        seen.isEnded = Option.isSome(exit)
        if (!seen.isEnded || seen.finished !== seen.taken || !isComplete(seen)) wrong.push({ maxOps, ticks, ...seen })
      }
    }
    return wrong
  })

describe("A drained stream", () => {
  it.live("runs each element once, at whatever step its fibers yield", () =>
    Effect.gen(function*() {
      const numbers = Arr.range(1, 60)
      for (const maxOps of Arr.range(11, 25)) {
        const seen: Array<number> = []
        const drained = Drain.map(
          Stream.rechunk(Stream.fromIterable(numbers), 7).pipe(Stream.tap(() => Effect.yieldNow())),
          (element) => Effect.zipRight(Effect.yieldNow(), Effect.sync(() => seen.push(element))),
          {
            concurrency: 5,
            order: maxOps % 2 === 0 ? "input" : "completion",
            gracePeriod: Duration.zero,
            onTaken: constVoid,
            onNotStarted: constVoid,
            awaitSlot: Effect.void,
            takeSlot: Effect.sleep("0 millis"),
            stop: yield* Deferred.make<never>()
          }
        )
        yield* Effect.withMaxOpsBeforeYield(Stream.runDrain(drained), maxOps)
        deepStrictEqual([maxOps, seen.toSorted((a, b) => a - b)], [maxOps, numbers])
      }
    }))

  it.live("passes nothing that one element sets or starts to another", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      let running = 0
      const watch = Effect.sync(() => ++running).pipe(
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Effect.sync(() => --running))
      )
      const drained = Drain.map(
        Stream.range(1, 20),
        () =>
          Effect.gen(function*() {
            seen.push(HashMap.size(yield* FiberRef.get(FiberRef.currentLogAnnotations)))
            yield* FiberRef.set(FiberRef.currentLogAnnotations, HashMap.make(["tenant", "A"]))
            yield* Effect.fork(Effect.interruptible(watch))
            yield* Effect.yieldNow()
          }),
        {
          concurrency: 3,
          order: "completion",
          gracePeriod: Duration.zero,
          onTaken: () => seen.push(running <= 3),
          onNotStarted: constVoid,
          awaitSlot: Effect.void,
          takeSlot: Effect.void,
          stop: yield* Deferred.make<never>()
        }
      )
      yield* Stream.runDrain(drained)
      deepStrictEqual(new Set(seen), new Set([true, 0]))
      deepStrictEqual(running, 0)
    }))

  it.live("loses no element and ends when it stops, at whatever step its fibers yield", () =>
    Effect.gen(function*() {
      const wrong = yield* drain(
        Effect.void,
        (_, stop) => Deferred.fail(stop, "stop"),
        ({ notStarted, taken }) => (taken + notStarted) % 10 === 0
      )
      deepStrictEqual(wrong, [])
    }))

  it.live("loses no element that is taken when its consumer goes, at whatever step its fibers yield", () =>
    Effect.gen(function*() {
      const f = Effect.exit(Effect.interruptible(Effect.never))
      deepStrictEqual(yield* drain(f, (fiber) => Fiber.interrupt(fiber)), [])
    }))
})
