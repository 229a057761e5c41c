import type { AmlError, TokenError } from "@effect-idv/core"
import { Failure } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Either, Fiber, Random, Schedule, TestClock } from "effect"
import * as Ada from "./support/ada.ts"
import {
  asksToWait,
  endAfter,
  failsAfter,
  gaps,
  good,
  httpDate,
  invalid,
  lost,
  noSuchHost,
  noTls,
  recordingSchedule,
  refused,
  respondsWith,
  scripted,
  today,
  untrusted
} from "./support/scripted.ts"
import * as Service from "./support/service.ts"
import { status } from "./support/tokens.ts"

describe("retry: safe", () => {
  it.effect.each<[string, Service.Handler, TokenError.Reason]>([
    ["a refused connection", refused, "unreachable"],
    ["an unknown host", noSuchHost, "dns"]
  ])(
    "retries after %s: at most 3 requests, with delays of up to 200 and up to 400 ms",
    ([, handler, reason]) =>
      Effect.gen(function*() {
        for (const seed of ["a", "b", "c", "d"]) {
          const service = scripted([handler])
          const error = yield* failsAfter(service, "601 millis").pipe(Effect.withRandom(Random.make(seed)))
          assert.deepInclude(error, { _tag: "AmlUnavailable", reason, sent: "no" })
          strictEqual(service.amlRequests.length, 3)
          const [first = NaN, second = NaN] = gaps(service)
          assert(first >= 0 && first <= 200 && second >= 0 && second <= 400, gaps(service).join())
        }
      })
  )

  it.effect("waits a random time, so that many clients do not retry together", () =>
    Effect.gen(function*() {
      const services = ["a", "b", "c"].map((seed) => [seed, scripted([refused])] as const)
      for (const [seed, service] of services) {
        yield* failsAfter(service, "1 second").pipe(Effect.withRandom(Random.make(seed)))
      }
      strictEqual(new Set(services.map(([, service]) => gaps(service).join())).size, 3)
    }))

  it.effect.each<[string, Service.Handler]>([
    ["a refused connection", refused],
    ["an unknown host", noSuchHost],
    ["429 with Retry-After", asksToWait(429, "1")],
    ["503 with Retry-After", asksToWait(503, "1")],
    ["429 with Retry-After of 0", asksToWait(429, "0")],
    ["503 with a date in the past", asksToWait(503, httpDate(-1000))]
  ])("succeeds after %s", ([, handler]) => {
    const service = scripted([handler, good])
    return Effect.gen(function*() {
      const end = yield* endAfter(service, "2 seconds")
      strictEqual(Either.isRight(end), true)
      strictEqual(service.amlRequests.length, 2)
      strictEqual(service.amlRequests[0]?.body, service.amlRequests[1]?.body)
    })
  })

  it.effect.each<[string, Service.Handler, AmlError.AmlError["_tag"], AmlError.Sent]>([
    ["429 without Retry-After", respondsWith(429), "AmlRateLimited", "answered"],
    [
      "429 with a Retry-After that is neither seconds nor a date",
      asksToWait(429, "soon"),
      "AmlRateLimited",
      "answered"
    ],
    ["503 without Retry-After", respondsWith(503), "AmlUnavailable", "answered"],
    ["503 with a Retry-After that is neither seconds nor a date", asksToWait(503, "1.5"), "AmlUnavailable", "answered"],
    ["500", respondsWith(500), "AmlUnavailable", "answered"],
    ["500 with Retry-After", asksToWait(500, "1"), "AmlUnavailable", "answered"],
    ["502 with Retry-After", asksToWait(502, "1"), "AmlUnavailable", "answered"],
    ["504 with Retry-After", asksToWait(504, "1"), "AmlUnavailable", "answered"],
    ["408", asksToWait(408, "1"), "AmlRequestRejected", "answered"],
    ["422", asksToWait(422, "1"), "AmlRequestRejected", "answered"],
    ["403", asksToWait(403, "1"), "AmlForbidden", "answered"],
    ["a lost connection", lost, "AmlUnavailable", "unknown"],
    ["a record that is not TLS", noTls, "AmlUnavailable", "unknown"],
    ["a certificate that is not trusted", untrusted, "AmlUnavailable", "no"],
    ["an invalid response", invalid, "AmlResponseInvalid", "answered"],
    [
      "a response about another person",
      () => Effect.sync(() => Service.json(Service.credential({}, { birth_year: "1990" }))),
      "AmlResponseMismatch",
      "answered"
    ]
  ])("does not retry after %s", ([, handler, tag, sent]) => {
    const service = scripted([handler, good])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, 0)
      strictEqual(error._tag, tag)
      strictEqual(Failure.facts(error).sent, sent)
      strictEqual(service.amlRequests.length, 1)
    })
  })

  it.effect("a permanent 429: 3 requests, and the error has the last wait", () => {
    const service = scripted([asksToWait(429, "2"), asksToWait(429, "3"), asksToWait(429, "4")])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "5 seconds")
      assert.deepInclude(error, { _tag: "AmlRateLimited", retryAfter: Duration.seconds(4) })
      deepStrictEqual(service.at, [0, 2000, 5000])
    })
  })

  it.effect("a lost connection after a refused one is not retried", () => {
    const service = scripted([refused, lost, good])
    return Effect.gen(function*() {
      assert.deepInclude(yield* failsAfter(service, "1 second"), { _tag: "AmlUnavailable", sent: "unknown" })
      strictEqual(service.amlRequests.length, 2)
    })
  })
})

describe("retry: always and never", () => {
  const again: ReadonlyArray<readonly [string, Service.Handler]> = [
    ["a lost connection", lost],
    ["a refused connection", refused],
    ["500", respondsWith(500)],
    ["502", respondsWith(502)],
    ["503 without Retry-After", respondsWith(503)],
    ["429 without Retry-After", respondsWith(429)],
    ["408", respondsWith(408)],
    ["425", respondsWith(425)]
  ]
  it.effect.each(again)("always retries after %s, never does not", ([, handler]) =>
    Effect.gen(function*() {
      const always = scripted([handler, handler, good])
      strictEqual(Either.isRight(yield* endAfter(always, "1 second", { retry: "always" })), true)
      strictEqual(always.amlRequests.length, 3)
      const persistent = scripted([handler])
      yield* failsAfter(persistent, "1 second", { retry: "always" })
      strictEqual(persistent.amlRequests.length, 3)
      const never = scripted([handler, good])
      yield* failsAfter(never, 0, { retry: "never" })
      strictEqual(never.amlRequests.length, 1)
    }))

  it.effect.each<[string, Service.Handler]>([
    ["422", respondsWith(422)],
    ["403", respondsWith(403)],
    ["404", respondsWith(404)],
    ["an invalid response", invalid],
    ["a redirect", respondsWith(302)],
    ["a certificate", untrusted]
  ])("always does not retry after %s", ([, handler]) => {
    const service = scripted([handler, good])
    return Effect.gen(function*() {
      yield* failsAfter(service, 0, { retry: "always" })
      strictEqual(service.amlRequests.length, 1)
    })
  })

  it.effect("never reports a Retry-After without waiting", () => {
    const service = scripted([asksToWait(429, "1"), good])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, 0, { retry: "never" })
      assert.deepInclude(error, { _tag: "AmlRateLimited", retryAfter: Duration.seconds(1) })
    })
  })

  it.effect("never still replays a 401 with a new token", () => {
    const service = scripted([respondsWith(401), good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, 0, { retry: "never" })), true)
      deepStrictEqual(service.amlRequests.map(({ headers }) => headers["authorization"]), [
        "Bearer token-1",
        "Bearer token-2"
      ])
    })
  })

  it.effect("a permanent 401 is not sent a third time, even with always", () => {
    const service = scripted([respondsWith(401)])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "5 seconds", { retry: "always" })
      assert.deepInclude(error, { _tag: "AmlUnauthorized", renewal: "replayed" })
      strictEqual(service.amlRequests.length, 2)
    })
  })
})

describe("retry: a Schedule", () => {
  it.effect("receives each failure, and decides", () => {
    const service = scripted([lost, respondsWith(500), asksToWait(429, "0"), good])
    const { received, schedule } = recordingSchedule(() => true)
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, 0, { retry: schedule })), true)
      deepStrictEqual(received, ["AmlUnavailable", "AmlUnavailable", "AmlRateLimited"])
    })
  })

  it.effect("can refuse a retry", () => {
    const service = scripted([respondsWith(429), lost, good])
    const { received, schedule } = recordingSchedule(({ _tag }) => _tag === "AmlRateLimited")
    return Effect.gen(function*() {
      assert.deepInclude(yield* failsAfter(service, 0, { retry: schedule }), {
        _tag: "AmlUnavailable",
        sent: "unknown"
      })
      deepStrictEqual(received, ["AmlRateLimited", "AmlUnavailable"])
    })
  })

  it.effect.each<[string, Service.Handler]>([
    ["422", respondsWith(422)],
    ["an invalid response", invalid],
    ["401", respondsWith(401)],
    ["a certificate", untrusted]
  ])("does not receive %s", ([, handler]) => {
    const service = scripted([handler])
    const { received, schedule } = recordingSchedule(() => true)
    return Effect.gen(function*() {
      yield* failsAfter(service, 0, { retry: schedule })
      deepStrictEqual(received, [])
    })
  })

  it.effect("does not receive the failure of an acquisition", () => {
    const service = scripted([good], () => Effect.sync(() => status(401)))
    const { received, schedule } = recordingSchedule(() => true)
    return Effect.gen(function*() {
      strictEqual((yield* failsAfter(service, 0, { retry: schedule }))._tag, "TokenRejected")
      deepStrictEqual(received, [])
    })
  })

  it.effect("sets the delays, and restarts with each check", () => {
    const service = scripted([refused])
    const retry = Schedule.intersect(Schedule.spaced("3 seconds"), Schedule.recurs(2))
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      for (let i = 0; i < 2; i++) {
        const fiber = yield* Effect.fork(Effect.flip(Ada.check))
        yield* TestClock.adjust("6 seconds")
        strictEqual((yield* Fiber.join(fiber))._tag, "AmlUnavailable")
      }
      deepStrictEqual(service.at, [0, 3000, 6000, 6000, 9000, 12_000])
    }).pipe(Ada.provide(service, { retry }))
  })

  it.effect("that never ends is stopped by the deadline: no wait starts that would exceed it", () => {
    const service = scripted([refused])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "8 seconds", {
        retry: Schedule.spaced("4 seconds"),
        deadline: "10 seconds"
      })
      assert.deepInclude(error, { _tag: "AmlUnavailable", sent: "no" })
      deepStrictEqual(service.at, [0, 4000, 8000])
    })
  })

  it.effect("does not retry before the Retry-After", () => {
    const service = scripted([asksToWait(429, "9"), good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, "9 seconds", { retry: Schedule.spaced("1 second") })), true)
      deepStrictEqual(service.at, [0, 9000])
    })
  })
})

describe("Retry-After", () => {
  it.effect.each<[string, string, number]>([
    ["seconds", "7", 7000],
    ["an HTTP date", httpDate(12_000), 12_000]
  ])("of %s is waited", ([, header, millis]) =>
    Effect.gen(function*() {
      for (const code of [429, 503]) {
        const service = scripted([asksToWait(code, header), good])
        strictEqual(Either.isRight(yield* endAfter(service, millis)), true)
        deepStrictEqual(service.at, [0, millis])
      }
    }))

  it.effect("of a past date leaves only the backoff", () => {
    const service = scripted([asksToWait(429, httpDate(-60_000)), good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, "200 millis")), true)
      strictEqual(service.amlRequests.length, 2)
    })
  })

  it.effect.each<[string, string]>([["seconds", "3600"], ["an HTTP date", httpDate(3_600_000)]])(
    "of an hour in %s fails at once, with the wait in the error",
    ([, header]) =>
      Effect.gen(function*() {
        for (const code of [429, 503]) {
          const service = scripted([asksToWait(code, header), good])
          const error = yield* failsAfter(service, 0)
          deepStrictEqual(Failure.facts(error).retryAfter, Duration.hours(1))
          strictEqual(service.amlRequests.length, 1)
        }
      })
  )

  it.effect("of an hour is waited within a deadline of two hours", () => {
    const service = scripted([asksToWait(503, "3600"), good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, "1 hour", { deadline: "2 hours" })), true)
      deepStrictEqual(service.at, [0, 3_600_000])
    })
  })

  it.effect("that ends at the deadline fails at once", () => {
    const service = scripted([asksToWait(429, "30"), good])
    return Effect.gen(function*() {
      strictEqual((yield* failsAfter(service, 0))._tag, "AmlRateLimited")
    })
  })
})
