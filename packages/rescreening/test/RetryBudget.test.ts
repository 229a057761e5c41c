/** What a worker does while the database of the ledger is unavailable, by the clock of the test. */
import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Logger } from "effect"
import { type Ledger, RescreeningError, Run } from "../src/index.ts"
import * as RetryBudget from "../src/internal/worker/retryBudget.ts"
import * as VirtualClock from "./support/virtualClock.ts"

/** A ledger with three statements that fail while `code` is set, and the lines that were logged. */
const failing = Effect.gen(function*() {
  const state: { code: string | undefined } = { code: "ECONNREFUSED" }
  const time = VirtualClock.make()
  const calls = { settle: 0 }
  const lines: Array<string> = []
  const statement = <A>(operation: string, value: A) =>
    Effect.suspend(() =>
      state.code === undefined
        ? Effect.succeed(value)
        : Effect.fail(new RescreeningError.LedgerUnavailable({ operation, code: state.code }))
    )
  const ledger = yield* RetryBudget.make({
    settle: () => {
      const settled = statement("settle", { settled: new Set([1]), amended: 0 })
      return Effect.zipRight(Effect.sync(() => calls.settle++), settled)
    },
    renew: () => statement("renew", new Set(["token"])),
    // A full disk can be read.
    counts: () => Effect.succeed(Run.noCounts)
  } as unknown as Ledger.Service).pipe(Effect.withClock(time.clock))
  const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(String(message))))
  const forked = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.fork(Effect.withClock(Effect.either(Effect.provide(effect, logger)), time.clock))
  const until = (seconds: number) => time.run(() => time.now() >= seconds * 1000)
  return { state, calls, lines, ledger, forked, until, time }
})

describe("The retry budget of a worker", () => {
  it.live("has a line at once, one a minute, and ends after two minutes, for all statements together", () =>
    Effect.gen(function*() {
      const { calls, forked, ledger, lines, time, until } = yield* failing
      const first = yield* forked(ledger.settle("1", []))
      yield* until(0.01)
      deepStrictEqual(lines.length, 1)
      assertTrue(lines[0]?.startsWith("The database of the ledger is unavailable (settle: ECONNREFUSED)"), lines[0])
      yield* until(50)
      // Begins later, and ends at the same time.
      const second = yield* forked(ledger.renew([], 0))
      yield* until(59)
      strictEqual(lines.length, 1)
      yield* until(62)
      strictEqual(lines.length, 2)
      yield* until(118)
      deepStrictEqual([first.unsafePoll(), second.unsafePoll(), lines.length], [null, null, 2])
      yield* time.run(() => first.unsafePoll() !== null && second.unsafePoll() !== null)
      assertTrue(time.now() <= 122_000, `${time.now()}`)
      deepStrictEqual([(yield* Fiber.join(first))._tag, (yield* Fiber.join(second))._tag], ["Left", "Left"])
      assertTrue(lines.length <= 3)
      assertTrue(calls.settle > 100 && calls.settle < 140, `${calls.settle}`)
    }))

  it.live("ends although other statements succeed, as on a full disk", () =>
    Effect.gen(function*() {
      const { forked, ledger, lines, time } = yield* failing
      const reads = yield* forked(Effect.forever(Effect.delay(ledger.counts("1"), "150 millis")))
      const write = yield* forked(ledger.settle("1", []))
      yield* time.run(() => write.unsafePoll() !== null || time.now() > 200_000)
      strictEqual((yield* Fiber.join(write))._tag, "Left")
      assertTrue(time.now() < 122_000 && lines.length <= 3, `${time.now()} ms, ${lines.length} lines`)
      yield* Fiber.interrupt(reads)
    }))

  it.live("is not used up by statements that fail one after the other and each succeed soon", () =>
    Effect.gen(function*() {
      const { forked, ledger, state, time, until } = yield* failing
      let last = yield* forked(ledger.settle("1", []))
      for (let seconds = 10; seconds <= 200; seconds += 10) {
        // The next statement fails before the last one succeeds.
        yield* until(seconds)
        const next = yield* forked(ledger.renew([], 0))
        yield* until(seconds + 0.02)
        state.code = undefined
        yield* time.run(() => last.unsafePoll() !== null)
        strictEqual((yield* Fiber.join(last))._tag, "Right")
        yield* Fiber.interrupt(next)
        state.code = "ECONNREFUSED"
        last = yield* forked(ledger.settle("1", []))
      }
      yield* Fiber.interrupt(last)
    }))

  it.live("begins again once the database is available", () =>
    Effect.gen(function*() {
      const { forked, ledger, lines, state, time, until } = yield* failing
      const first = yield* forked(ledger.settle("1", []))
      yield* until(90)
      state.code = undefined
      yield* time.run(() => first.unsafePoll() !== null)
      strictEqual((yield* Fiber.join(first))._tag, "Right")
      strictEqual(lines.at(-1), "The database of the ledger is available again.")
      state.code = "57P01"
      const second = yield* forked(ledger.renew([], 0))
      yield* until(200)
      strictEqual(second.unsafePoll(), null)
      state.code = undefined
      yield* time.run(() => second.unsafePoll() !== null)
      strictEqual((yield* Fiber.join(second))._tag, "Right")
    }))

  it.live.each(["42501", "42P01", "28P01"])(
    "is not used for %s, which does not change by itself",
    (code) =>
      Effect.gen(function*() {
        const { forked, ledger, lines, state } = yield* failing
        state.code = code
        const fiber = yield* forked(ledger.settle("1", []))
        strictEqual((yield* Fiber.join(fiber))._tag, "Left")
        deepStrictEqual(lines, [])
      })
  )
})
