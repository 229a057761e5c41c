import { AmlClient, Idv, Metrics, Person, Screening } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, Fiber, Layer, Metric, Stream, TestClock } from "effect"
import { vi } from "vitest"
import * as Places from "../src/internal/check/places.ts"
import * as Clocks from "./support/clocks.ts"
import { orHang } from "./support/eventually.ts"
import * as Service from "./support/service.ts"
import * as Yielding from "./support/yielding.ts"

/** A service that takes one second for each check, and the highest number of checks that it had at once. */
const slowService = () => {
  const seen = { now: 0, most: 0 }
  const service = Service.make({
    aml: () =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          seen.now++
          seen.most = Math.max(seen.most, seen.now)
        }),
        () =>
          Effect.delay(
            Effect.sync(() => Service.json(Service.credential({}, { name: "Zoë Testpep", birth_year: "1957" }))),
            "1 second"
          ),
        () => Effect.sync(() => seen.now--)
      )
  })
  return { service, seen }
}

const layer = (service: ReturnType<typeof Service.make>, options: Partial<Idv.Options>) =>
  Layer.provide(Idv.layer({ ...Service.options, ...options }), service.layer)

const person = Person.make({ name: "Zoë Testpep", dateOfBirth: "1957-03-14" })

const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* person)
})

/** The timers of deadlines that run: no other timer takes hours. */
const deadlineTimers = Effect.acquireRelease(
  Effect.sync(() => {
    const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout]
    const running = new Set<unknown>()
    vi.spyOn(globalThis, "setTimeout").mockImplementation(Object.assign(
      (callback: () => void, millis?: number) => {
        const timer = set(callback, millis)
        if (millis !== undefined && millis > 3_600_000) running.add(timer)
        return timer
      },
      { __promisify__: set.__promisify__ }
    ))
    vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
      running.delete(timer)
      clear(timer)
    })
    return running
  }),
  () => Effect.sync(() => vi.restoreAllMocks())
)

describe("The option concurrency", () => {
  it.effect("limits the checks in flight, and all of them succeed", () => {
    const { seen, service } = slowService()
    return Effect.gen(function*() {
      const checks = yield* Effect.fork(Effect.replicateEffect(check, 5, { concurrency: "unbounded" }))
      yield* TestClock.adjust("2500 millis")
      strictEqual(service.amlRequests.length, 5)
      strictEqual(checks.unsafePoll(), null)
      yield* TestClock.adjust("500 millis")
      strictEqual((yield* Fiber.join(checks)).length, 5)
      strictEqual(seen.most, 2)
    }).pipe(Effect.provide(layer(service, { concurrency: 2 })))
  })

  it.effect("lets a check wait within its deadline, and counts one that never started as not sent", () => {
    const { service } = slowService()
    return Effect.gen(function*() {
      const checks = yield* Effect.forEach(Arr.range(1, 3), () => Effect.fork(Effect.either(check)))
      yield* TestClock.adjust("1600 millis")
      const [first, second, third] = yield* Effect.forEach(checks, Fiber.join)
      strictEqual(first?._tag, "Right")
      // The second was sent after one second, and has half a second left.
      assert.deepInclude(second, { _tag: "Left" })
      assert.deepInclude(second?._tag === "Left" ? second.left : {}, { _tag: "AmlTimeout", sent: "unknown" })
      assert.deepInclude(third?._tag === "Left" ? third.left : {}, { _tag: "AmlTimeout", sent: "no" })
      strictEqual(service.amlRequests.length, 2)
      const count = yield* Metric.value(
        Metrics.checks.pipe(
          Metric.tagged("outcome", "AmlTimeout"),
          Metric.tagged("status", "none"),
          Metric.tagged("sent", "no")
        )
      )
      strictEqual(Number(count.count) > 0, true)
      // Its place is free again.
      const next = yield* Effect.fork(check)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(next)
    }).pipe(Effect.provide(layer(service, { concurrency: 1, deadline: "1500 millis" })))
  })

  it.effect("frees the place of a check that is interrupted, while it waits or is in flight, at any moment", () => {
    const { service } = slowService()
    return Effect.gen(function*() {
      for (let ticks = 0; ticks < 30; ticks++) {
        const [running, waiting] = [yield* Effect.fork(check), yield* Effect.fork(check)]
        yield* Effect.repeatN(Effect.yieldNow(), ticks)
        yield* Effect.fork(Fiber.interrupt(running))
        yield* Effect.repeatN(Effect.yieldNow(), ticks % 3)
        yield* Fiber.interrupt(waiting)
        yield* Fiber.interrupt(running)
      }
      const last = yield* Effect.fork(check)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(last)
    }).pipe(Effect.provide(layer(service, { concurrency: 1 })))
  })

  it.live("frees the place of a waiting check that yields at any step and is interrupted at any moment", () =>
    Effect.gen(function*() {
      const places = Places.make(1)
      const wait = Effect.uninterruptibleMask((restore) => {
        const place = places.enter()
        return Effect.ensuring(restore(place.granted), Effect.sync(place.leave))
      })
      for (const moment of Yielding.moments) {
        const holder = places.enter()
        const waiting = yield* Yielding.forkUntil(moment, wait)
        const next = yield* Effect.fork(wait)
        yield* Fiber.interrupt(waiting)
        strictEqual(next.unsafePoll(), null)
        holder.leave()
        yield* orHang(Fiber.join(next), () => `no place after ${moment.steps} steps and ${moment.ticks} ticks`)
        yield* orHang(places.awaitAllFree, () => "the places are not all free")
      }
    }))

  it.live("takes a place that another check frees while the fiber yields, shortly before it would wait", () => {
    let yields = 0
    const service = Service.make({
      aml: () =>
        Effect.as(
          Effect.repeatN(Effect.yieldNow(), yields),
          Service.json(Service.credential({}, { name: "Zoë Testpep", birth_year: "1957" }))
        )
    })
    return Effect.gen(function*() {
      yield* check
      for (; yields < 60; yields++) {
        yield* Effect.all([check, Effect.withMaxOpsBeforeYield(check, 11)], { concurrency: 2 })
      }
    }).pipe(Effect.provide(layer(service, { concurrency: 1, deadline: "1 second" })))
  })

  it.effect("is not exceeded by fibers that yield at any step", () =>
    Effect.forEach(Arr.range(11, 50), (maxOps) => {
      const { seen, service } = slowService()
      return Effect.gen(function*() {
        const check = yield* AmlClient.AmlClient
        const ada = yield* person
        const checks = yield* Effect.fork(
          Effect.replicateEffect(Effect.withMaxOpsBeforeYield(check.check(ada), maxOps), 6, {
            concurrency: "unbounded"
          })
        )
        yield* TestClock.adjust("3 seconds")
        strictEqual((yield* Fiber.join(checks)).length, 6)
        strictEqual(seen.most, 2, `with ${maxOps} operations`)
      }).pipe(Effect.provide(layer(service, { concurrency: 2 })))
    }, { discard: true }))

  it.effect("lets a check wait for its deadline also if the wall clock is changed", () => {
    const { service } = slowService()
    return Effect.gen(function*() {
      const { adjust, clock, moveWall } = yield* Clocks.make
      const checks = yield* Effect.fork(
        Effect.withClock(Effect.replicateEffect(check, 2, { concurrency: "unbounded" }), clock)
      )
      yield* adjust(0)
      yield* moveWall(31_000)
      yield* adjust("2 seconds")
      strictEqual((yield* Fiber.join(checks)).length, 2)
    }).pipe(Effect.provide(layer(service, { concurrency: 1 })))
  })

  it.effect("does not limit a screening", () => {
    const { seen, service } = slowService()
    return Effect.gen(function*() {
      const people = Stream.map(Stream.range(1, 4), (key) => ({ key, person }))
      const summary = yield* Effect.fork(Screening.summary(people, { concurrency: 4 }))
      yield* TestClock.adjust("1 second")
      deepStrictEqual([(yield* Fiber.join(summary)).noMatch, seen.most], [4, 4])
    }).pipe(Effect.provide(layer(service, { concurrency: 1 })))
  })

  it.scopedLive("leaves no timer of a wait that ended or was interrupted", () => {
    const release = Effect.unsafeMakeLatch()
    const body = Service.credential({}, { name: "Zoë Testpep", birth_year: "1957" })
    const service = Service.make({ aml: () => Effect.as(release.await, Service.json(body)) })
    return Effect.gen(function*() {
      const timers = yield* deadlineTimers
      const start = Effect.zipLeft(Effect.fork(check), Effect.repeatN(Effect.yieldNow(), 50))
      const [running, waiting, interrupted] = [yield* start, yield* start, yield* start]
      strictEqual(timers.size, 3)
      yield* Fiber.interrupt(interrupted)
      strictEqual(timers.size, 2)
      yield* release.open
      yield* Fiber.joinAll([running, waiting])
      strictEqual(timers.size, 0)
    }).pipe(Effect.provide(layer(service, { concurrency: 1, deadline: "20 hours" })))
  })

  it.effect("must be an integer over 0", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(layer(slowService().service, { concurrency: 0 })))
      strictEqual(Idv.describeConfigError(error), "concurrency should be an integer over 0")
    }).pipe(Effect.scoped))
})
