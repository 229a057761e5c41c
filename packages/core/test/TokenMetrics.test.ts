import { Metrics, TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, Exit, Fiber, Logger, Metric, Option, Scope, TestClock } from "effect"
import * as Service from "./support/service.ts"
import { counted, get, make, measured, provide, refresh, respondAfter, status } from "./support/tokens.ts"
import * as RecordingTracer from "./support/tracer.ts"

const hour = 3_600_000

describe("Metrics and spans", () => {
  it.effect("count requests, acquisitions by reason, returned tokens by outcome, and failures by tag", () => {
    const service = Service.make({
      token: (_, count) => count === 3 ? Effect.succeed(status(403)) : respondAfter("1 second", count)
    })
    const expectCounted = (expected: Record<string, number>) =>
      Effect.gen(function*() {
        const actual: Record<string, number> = {}
        for (const name of Object.keys(expected)) {
          const [metric = "", label = ""] = name.split(" ")
          const [key = "", value = ""] = label.split("=")
          actual[name] = yield* counted(`idv_token_${metric}`, key === "" ? {} : { [key]: value })
        }
        deepStrictEqual(actual, expected)
      })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.TokenProvider
      const waiters = yield* Effect.forkAll(Arr.replicate(get, 5))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiters)
      yield* Effect.replicateEffect(get, 7)
      yield* expectCounted({
        "requests": 1,
        "acquisitions reason=cold": 1,
        "gets outcome=wait": 5,
        "gets outcome=hit": 7,
        "age_seconds": 12,
        "waiters": 1
      })

      yield* TestClock.setTime(0.75 * hour)
      yield* Effect.replicateEffect(get, 3)
      yield* TestClock.adjust("1 second")
      yield* expectCounted({
        "acquisitions reason=refresh_after": 1,
        "gets outcome=stale": 3,
        "gets outcome=hit": 7,
        "waiters": 2
      })

      yield* Effect.flip(refresh)
      yield* expectCounted({
        "acquisitions reason=forced": 1,
        "failures error=TokenRejected": 1,
        "gets outcome=failed": 1
      })

      yield* TestClock.setTime(2 * hour)
      const hard = yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      yield* provider.invalidate(yield* Fiber.join(hard))
      const unauthorized = yield* Effect.fork(get)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(unauthorized)
      yield* expectCounted({
        "requests": 5,
        "acquisitions reason=cold": 1,
        "acquisitions reason=refresh_after": 1,
        "acquisitions reason=usable_until": 1,
        "acquisitions reason=forced": 1,
        "acquisitions reason=unauthorized": 1,
        "failures": 1,
        "warnings": 0
      })
    }).pipe(provide(service), measured("60"))
  })

  it.effect("the age of a returned token is in seconds", () =>
    Effect.gen(function*() {
      yield* get
      yield* TestClock.adjust("90 seconds")
      yield* get
      const { count, max, sum } = yield* Metric.value(Metrics.tokenAge)
      deepStrictEqual([count, sum, max], [2, 90, 90])
    }).pipe(provide(Service.make()), measured("age")))

  it.effect("one span per acquisition, linked to the spans of its callers", () => {
    const service = Service.make({ token: (_, count) => respondAfter("1 second", count) })
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      const waiters = yield* Effect.forkAll(Arr.makeBy(10, (i) => Effect.withSpan(get, `caller-${i}`)))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiters)
      yield* Effect.withSpan(get, "hit")
      const [acquisition, ...others] = spans.filter(({ name }) => name === "TokenProvider.acquire")
      assert(acquisition !== undefined)
      deepStrictEqual(others, [])
      strictEqual(acquisition.attributes.get("reason"), "cold")
      strictEqual(Option.isNone(acquisition.parent), true)
      const waiting = spans.filter(({ name }) => name === "TokenProvider.get")
      deepStrictEqual(waiting.map(({ links }) => links.map(({ span }) => span)), Arr.replicate([acquisition], 10))
      deepStrictEqual(
        waiting.map(({ parent }) => Option.isSome(parent) && parent.value._tag === "Span" && parent.value.name),
        Arr.makeBy(10, (i) => `caller-${i}`)
      )
    }).pipe(provide(service), Effect.withTracer(tracer))
  })

  it.effect("an acquisition that ends because the scope is closed is not a failure", () => {
    const service = Service.make({ token: () => Effect.never })
    return Effect.gen(function*() {
      const scope = yield* Scope.make()
      const provider = yield* make(service).pipe(Scope.extend(scope))
      const waiter = yield* Effect.fork(Effect.flip(provider.get))
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenProviderClosed")
      strictEqual(yield* counted("idv_token_failures"), 0)
    }).pipe(measured("closed"))
  })

  it.effect("an acquisition that is closed during a cooldown has sent nothing, and is not counted", () => {
    const service = Service.make({ token: () => Effect.succeed(status(429, { "retry-after": "60" })) })
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      const scope = yield* Scope.make()
      const provider = yield* make(service).pipe(Scope.extend(scope))
      yield* Effect.flip(provider.get)
      yield* TestClock.adjust("45 seconds")
      const waiter = yield* Effect.fork(Effect.flip(provider.get))
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      strictEqual((yield* Fiber.join(waiter))._tag, "TokenProviderClosed")
      deepStrictEqual([yield* counted("idv_token_acquisitions"), yield* counted("idv_token_waiters")], [1, 1])
      strictEqual(spans.filter(({ name }) => name === "TokenProvider.acquire").length, 1)
    }).pipe(measured("closed early"), Effect.withTracer(tracer))
  })

  it.effect("an acquisition does not inherit the fiber context of the caller that starts it", () => {
    const service = Service.make({ token: () => Effect.succeed(Service.json({ access_token: "irregular" })) })
    const annotated: Array<unknown> = []
    const logger = Logger.make(({ annotations }) => void annotated.push([...annotations]))
    return Effect.gen(function*() {
      yield* get.pipe(
        Effect.tagMetrics("caller", "first"),
        Effect.annotateLogs("caller", "first"),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      deepStrictEqual(annotated, [[]])
      strictEqual(yield* counted("idv_token_requests", { caller: "first" }), 0)
      strictEqual(yield* counted("idv_token_requests"), 1)
      strictEqual(yield* counted("idv_token_gets", { caller: "first" }), 1)
    }).pipe(provide(service), measured("lent"))
  })

  it.effect("an acquisition does not inherit the span links and annotations of the caller that starts it", () => {
    const service = Service.make({ token: (_, count) => respondAfter("1 second", count) })
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      const message = yield* Effect.makeSpan("message")
      const caller = yield* get.pipe(
        Effect.linkSpans(message, { caller: "first" }),
        Effect.annotateSpans("caller", "first"),
        Effect.fork
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(caller)
      const acquisition = spans.find(({ name }) => name === "TokenProvider.acquire")
      assert(acquisition !== undefined)
      deepStrictEqual([acquisition.links, acquisition.attributes.has("caller")], [[], false])
      const waiting = spans.find(({ name }) => name === "TokenProvider.get")
      deepStrictEqual(waiting?.links.map(({ span }) => span), [message, acquisition])
    }).pipe(provide(service), Effect.withTracer(tracer))
  })

  it.effect("a defect counts as a failure, and is logged as such if no caller receives it", () => {
    const service = Service.make({
      token: (_, count) => count === 2 ? Effect.die("canary") : respondAfter(0, count)
    })
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => logged.push(String(message)))
    return Effect.gen(function*() {
      yield* get
      yield* TestClock.setTime(0.75 * hour)
      yield* get
      yield* TestClock.adjust(0)
      strictEqual(yield* counted("idv_token_failures", { error: "defect" }), 1)
      deepStrictEqual(logged, ["The access token was not renewed in the background,defect"])
    }).pipe(provide(service), measured("defect"), Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })
})
