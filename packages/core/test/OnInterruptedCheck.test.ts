import { AmlClient, Idv, Person } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Deferred, Effect, Exit, Fiber, Layer, TestClock } from "effect"
import * as Service from "./support/service.ts"

const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1957-02-01" }))
})

/** Runs a check until `arrived`, interrupts it, and returns what it reports about its request. */
const interrupted = (service: ReturnType<typeof Service.make>, arrived: Deferred.Deferred<void>) =>
  Effect.gen(function*() {
    const reported: Array<string> = []
    const fiber = yield* check.pipe(
      AmlClient.onInterruptedCheck((sent) => Effect.sync(() => void reported.push(sent))),
      Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)),
      Effect.fork
    )
    yield* Deferred.await(arrived)
    yield* Fiber.interrupt(fiber)
    return reported
  })

describe("AmlClient.onInterruptedCheck", () => {
  it.effect("reports that a check that waits for its token was not sent", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 10, 20, 12))
      const arrived = yield* Deferred.make<void>()
      const service = Service.make({ token: () => Effect.zipRight(Deferred.succeed(arrived, undefined), Effect.never) })
      deepStrictEqual(yield* interrupted(service, arrived), ["no"])
      strictEqual(service.amlRequests.length, 0)
    }))

  it.effect("reports that the service may have performed a check whose request left", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 10, 20, 12))
      const arrived = yield* Deferred.make<void>()
      const service = Service.make({ aml: () => Effect.zipRight(Deferred.succeed(arrived, undefined), Effect.never) })
      deepStrictEqual(yield* interrupted(service, arrived), ["unknown"])
    }))

  it.effect("runs after an Effect.timeout, which waits for it", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 10, 20, 12))
      const events: Array<string> = []
      const service = Service.make({ aml: () => Effect.never })
      const fiber = yield* check.pipe(
        AmlClient.onInterruptedCheck((sent) =>
          Effect.zipRight(Effect.sleep("1 second"), Effect.sync(() => void events.push(sent)))
        ),
        Effect.timeout("3 seconds"),
        Effect.exit,
        Effect.tap((exit) => Effect.sync(() => void events.push(Exit.isFailure(exit) ? "timeout" : "success"))),
        Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)),
        Effect.fork
      )
      yield* TestClock.adjust("3 seconds")
      deepStrictEqual(events, [])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      deepStrictEqual(events, ["unknown", "timeout"])
    }))

  it.effect("runs for no other end of a check, and only the inner of two", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 10, 20, 12))
      const reported: Array<string> = []
      const report = (name: string) => () => Effect.sync(() => void reported.push(name))
      const failing = Service.make({ aml: () => Effect.succeed(new Response("", { status: 500 })) })
      const hanging = Service.make({ aml: () => Effect.never })
      for (const service of [Service.make(), failing, hanging]) {
        const fiber = yield* check.pipe(
          AmlClient.withPolicy({ deadline: "5 seconds", retry: "never" }),
          AmlClient.onInterruptedCheck(report("ended")),
          Effect.exit,
          Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)),
          Effect.fork
        )
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(fiber)
      }
      deepStrictEqual(reported, [])
      const exit = yield* check.pipe(
        AmlClient.beforeEachRequest(Effect.interrupt),
        AmlClient.onInterruptedCheck(report("inner")),
        AmlClient.onInterruptedCheck(report("outer")),
        Effect.provide(Layer.provide(Idv.layer(Service.options), Service.make().layer)),
        Effect.exit
      )
      assertTrue(Exit.isInterrupted(exit))
      deepStrictEqual(reported, ["inner"])
    }))
})
