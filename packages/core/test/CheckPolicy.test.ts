import { AmlClient, Idv } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Duration, Effect, Either, Fiber, Layer, Option, TestClock } from "effect"
import * as CheckOptions from "../src/internal/check/checkOptions.ts"
import * as Ada from "./support/ada.ts"
import { asksToWait, endAfter, good, hangs, refused, respondsWith, scripted, today } from "./support/scripted.ts"
import * as Service from "./support/service.ts"

describe("withPolicy", () => {
  it.effect("sets the deadline of the checks in it", () => {
    const service = scripted([hangs])
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const fiber = yield* Effect.fork(Effect.flip(AmlClient.withPolicy(Ada.check, { deadline: "2 seconds" })))
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "AmlTimeout", deadline: Duration.seconds(2) })
    }).pipe(Ada.provide(service))
  })

  it.effect("can extend the deadline", () => {
    const service = scripted([hangs])
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(Ada.check.pipe(AmlClient.withPolicy({ deadline: "1 minute" }))))
      yield* TestClock.adjust("59 seconds")
      strictEqual(Option.isNone(yield* Fiber.poll(fiber)), true)
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "AmlTimeout", deadline: Duration.minutes(1) })
    }).pipe(Ada.provide(service))
  })

  it.effect("sets the retries, and does not affect other checks", () => {
    const service = scripted([respondsWith(500)])
    const count = (check: Effect.Effect<unknown, unknown, AmlClient.AmlClient>) =>
      Effect.gen(function*() {
        const before = service.amlRequests.length
        const fiber = yield* Effect.fork(Effect.ignore(check))
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(fiber)
        return service.amlRequests.length - before
      })
    return Effect.gen(function*() {
      const always = AmlClient.withPolicy({ retry: "always" })
      strictEqual(yield* count(always(Ada.check)), 3)
      strictEqual(yield* count(Ada.check), 1)
      strictEqual(yield* count(Effect.all([always(Ada.check), Ada.check], { concurrency: 2, mode: "either" })), 4)
      strictEqual(yield* count(Effect.all([Effect.exit(always(Ada.check)), Effect.exit(Ada.check)])), 4)
    }).pipe(Ada.provide(service))
  })

  it.effect("applies to the fibers forked in it", () => {
    const service = scripted([respondsWith(500)])
    return Effect.gen(function*() {
      const fork = Effect.fork(Effect.flip(Ada.check))
      const fiber = yield* AmlClient.withPolicy(fork, { retry: "always" })
      yield* TestClock.adjust("1 second")
      strictEqual((yield* Fiber.join(fiber))._tag, "AmlUnavailable")
      strictEqual(service.amlRequests.length, 3)
    }).pipe(Ada.provide(service))
  })

  it.effect("nests: the inner options win, and omitted options are inherited", () => {
    const service = scripted([asksToWait(429, "3"), hangs])
    return Effect.gen(function*() {
      const fiber = yield* Ada.check.pipe(
        AmlClient.withPolicy({ deadline: "5 seconds", retry: undefined }),
        AmlClient.withPolicy({ deadline: "1 second", retry: "safe" }),
        Effect.flip,
        Effect.fork
      )
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "AmlTimeout", deadline: Duration.seconds(5) })
      strictEqual(service.amlRequests.length, 2)
    }).pipe(Ada.provide(service, { retry: "never" }))
  })

  it.effect("without options changes nothing", () => {
    const service = scripted([respondsWith(500)])
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(AmlClient.withPolicy(Ada.check, {})))
      yield* TestClock.adjust("1 second")
      strictEqual((yield* Fiber.join(fiber))._tag, "AmlUnavailable")
      strictEqual(service.amlRequests.length, 3)
    }).pipe(Ada.provide(service, { retry: "always" }))
  })

  it.effect("can accept any name in the response, but never another year of birth", () => {
    const other = (changes: object) => () => Effect.sync(() => Service.json(Service.credential({}, { ...changes })))
    const service = scripted([
      other({ name: "A. Testclear" }),
      other({ name: "A. Testclear" }),
      other({ birth_year: "1958" })
    ])
    return Effect.gen(function*() {
      const ignoring = AmlClient.withPolicy(Ada.check, { nameEcho: "ignore" })
      assert.deepInclude(yield* Effect.flip(Ada.check), { _tag: "AmlResponseMismatch", fields: ["name"] })
      strictEqual((yield* ignoring).result, "Doubtful No")
      assert.deepInclude(yield* Effect.flip(ignoring), { _tag: "AmlResponseMismatch", fields: ["birth_year"] })
    }).pipe(Ada.provide(service))
  })

  it.effect("applies to no later check", () => {
    const aboutAnother = () => Effect.sync(() => Service.json(Service.credential({}, { name: "A. Testclear" })))
    return Effect.gen(function*() {
      strictEqual((yield* AmlClient.withPolicy(Ada.check, { nameEcho: "ignore" })).result, "Doubtful No")
      for (const later of [{ nameEcho: "exact" }, { deadline: "5 seconds" }, {}] as const) {
        const error = yield* Effect.flip(AmlClient.withPolicy(Ada.check, later))
        assert.deepInclude(error, { _tag: "AmlResponseMismatch", fields: ["name"] })
      }
    }).pipe(Ada.provide(scripted([aboutAnother])))
  })

  it.effect.each<[string, AmlClient.PolicyOptions]>([
    ["a deadline of 0", { deadline: 0 }],
    ["a deadline below 0", { deadline: -1 }],
    ["a deadline that is not a number", { deadline: NaN }],
    ["a deadline without an end", { deadline: Infinity }]
  ])("with %s is a defect that names it, and nothing is sent", ([, options]) => {
    const service = scripted([good])
    return Effect.gen(function*() {
      const cause = yield* Effect.flip(Effect.sandbox(AmlClient.withPolicy(Ada.check, options)))
      strictEqual(Cause.isDie(cause), true)
      assert.match(Cause.pretty(cause), /withPolicy.*deadline/)
      deepStrictEqual([service.tokenRequests.length, service.amlRequests.length], [0, 0])
    }).pipe(Ada.provide(service))
  })
})

describe("The options of a check", () => {
  const bad: Record<keyof AmlClient.PolicyOptions, ReadonlyArray<unknown>> = {
    deadline: ["soon", "", -1, NaN, 0, Infinity, "-5 seconds", "0 millis", {}, true],
    retry: ["sometimes", "", "Safe", 3, {}, true],
    nameEcho: ["x", "", "Exact", "fold", 1, true],
    searchedOnTolerance: ["soon", "", -1, NaN, 0, Infinity, "-5 seconds", "0 millis", {}, true]
  }
  const cases = Object.entries(bad).flatMap(([field, values]) => values.map((value) => [field, value] as const))

  it.each(cases)("%s: %s is a ConfigError that names the field", (field, value) => {
    const made = CheckOptions.check(Object.assign({ baseUrl: "https://idv.example.com" }, { [field]: value }))
    assert(Either.isLeft(made))
    deepStrictEqual(Object.keys(bad).filter((name) => String(made.left).includes(`at ${name}`)), [field])
  })

  it.effect("all invalid options are reported at once, also by the layer, which does not die", () =>
    Effect.gen(function*() {
      const service = scripted([good])
      const options = Object.assign({ ...Service.options }, {
        baseUrl: "ftp://x",
        deadline: "soon",
        retry: "sometimes",
        nameEcho: "x",
        searchedOnTolerance: 0
      })
      const cause = yield* Effect.flip(
        Effect.sandbox(Effect.scoped(Layer.build(Layer.provide(Idv.layer(options), service.layer))))
      )
      strictEqual(Cause.isFailType(cause), true)
      const message = String(Cause.squash(cause))
      deepStrictEqual(["baseUrl", ...Object.keys(bad)].filter((field) => !message.includes(`at ${field}`)), [])
    }))

  it("the defaults are 30 seconds, safe, exact and 48 hours", () => {
    const made = CheckOptions.check({ baseUrl: "https://idv.example.com" })
    assert(Either.isRight(made))
    const { deadline, nameEcho, retry, searchedOnTolerance } = made.right
    deepStrictEqual([Duration.toMillis(deadline), retry, nameEcho, Duration.toHours(searchedOnTolerance)], [
      30_000,
      "safe",
      "exact",
      48
    ])
  })
})

describe("A check", () => {
  it.effect("gets the token once for all its attempts", () => {
    const service = scripted([refused, refused, good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, "1 second")), true)
      deepStrictEqual([service.tokenRequests.length, service.amlRequests.length], [1, 3])
    })
  })

  it.effect("is never cached: two checks of one person send two requests", () => {
    const service = scripted([good])
    return Effect.gen(function*() {
      yield* Ada.check
      yield* Ada.check
      strictEqual(service.amlRequests.length, 2)
      yield* Effect.all([Ada.check, Ada.check, Ada.check], { concurrency: "unbounded" })
      strictEqual(service.amlRequests.length, 5)
    }).pipe(Ada.provide(service))
  })

  it.effect("that was retried has the number of requests in its evidence, and the times of the last", () => {
    const service = scripted([asksToWait(429, "3"), good])
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const fiber = yield* Effect.gen(function*() {
        const aml = yield* AmlClient.AmlClient
        return yield* aml.check(yield* Ada.person)
      }).pipe(Effect.fork)
      yield* TestClock.adjust("3 seconds")
      const { attempts, sentAt, status } = yield* Fiber.join(fiber)
      deepStrictEqual([attempts, sentAt.epochMillis - today, status], [2, 3000, 200])
    }).pipe(Ada.provide(service))
  })
})
