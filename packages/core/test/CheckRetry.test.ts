import { AmlClient, type AmlError, CheckPolicy, Failure, Idv, type TokenError } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Clock, Duration, Effect, Either, Exit, Fiber, Layer, Option, Random, Schedule, TestClock } from "effect"
import * as Service from "./support/service.ts"
import { status } from "./support/tokens.ts"

const today = Date.parse("2026-11-20T12:00:00Z")
const httpDate = (offset: number) => new Date(today + offset).toUTCString()

const refused = Service.failing({ code: "ECONNREFUSED", syscall: "connect" })
const noSuchHost = Service.failing({ code: "ENOTFOUND" })
const noTls = Service.failing({ code: "ERR_SSL_WRONG_VERSION_NUMBER" })
const untrusted = Service.failing({ code: "CERT_HAS_EXPIRED" })
const lost = Service.failing({ code: "ECONNRESET", syscall: "read" })
const hangs: Service.Handler = () => Effect.never
const answers = (code: number, headers: Record<string, string> = {}): Service.Handler => () =>
  Effect.sync(() => status(code, headers))
const asks = (code: number, retryAfter: string) => answers(code, { "retry-after": retryAfter })
const credential = Service.credential({}, { birth_year: "1957" })
const good: Service.Handler = () => Effect.sync(() => Service.json(credential))
const invalid: Service.Handler = () => Effect.sync(() => Service.json({}))

/** A service that answers one by one, and with the last of them ever after. `at` is when it was asked, in ms. */
const scripted = (script: ReadonlyArray<Service.Handler>, token?: Service.Handler) => {
  const at: Array<number> = []
  const service = Service.make({
    ...(token && { token }),
    aml: (received, count, request) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        at.push(now - today)
        return (script[Math.min(count, script.length) - 1] ?? good)(received, count, request)
      })
  })
  return { ...service, at }
}

type Scripted = ReturnType<typeof scripted>

const checkAda = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* Service.ada)
})

const provide = (service: Scripted, options: Partial<Idv.Options> = {}) =>
  Effect.provide(Layer.provide(Idv.layer({ ...Service.options, ...options }), service.layer))

/** How a check ended after this time. It is still running if it has not. */
const endAfter = (service: Scripted, duration: Duration.DurationInput, options: Partial<Idv.Options> = {}) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(today)
    const fiber = yield* Effect.fork(Effect.either(checkAda))
    yield* TestClock.adjust(duration)
    const exit = Option.getOrUndefined(yield* Fiber.poll(fiber))
    yield* Fiber.interruptFork(fiber)
    assert(exit !== undefined && Exit.isSuccess(exit), "it is still running")
    return exit.value
  }).pipe(provide(service, options))

const failsAfter = (service: Scripted, duration: Duration.DurationInput, options: Partial<Idv.Options> = {}) =>
  Effect.flatMap(endAfter(service, duration, options), Either.flip)

const gaps = ({ at }: Scripted): ReadonlyArray<number> => at.slice(1).map((now, i) => now - (at[i] ?? NaN))

const untried = (decide: (error: AmlError.AmlError) => boolean) => {
  const asked: Array<string> = []
  const schedule: Schedule.Schedule<unknown, AmlError.AmlError> = Schedule.recurs(5).pipe(
    Schedule.whileInput((error: AmlError.AmlError) => {
      asked.push(error._tag)
      return decide(error)
    })
  )
  return { asked, schedule }
}

describe("retry: safe", () => {
  it.effect.each<[string, Service.Handler, TokenError.Reason]>([
    ["a refused connection", refused, "unreachable"],
    ["an unknown host", noSuchHost, "dns"],
    ["a peer without TLS", noTls, "tls"]
  ])(
    "sends again after %s: 3 requests at most, after up to 200 and up to 400 ms",
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

  it.effect("waits at random, so that many clients do not come back together", () =>
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
    ["429 with Retry-After", asks(429, "1")],
    ["503 with Retry-After", asks(503, "1")],
    ["429 with Retry-After of 0", asks(429, "0")],
    ["503 with a date in the past", asks(503, httpDate(-1000))]
  ])("gets the answer after %s", ([, handler]) => {
    const service = scripted([handler, good])
    return Effect.gen(function*() {
      const end = yield* endAfter(service, "2 seconds")
      strictEqual(Either.isRight(end), true)
      strictEqual(service.amlRequests.length, 2)
      strictEqual(service.amlRequests[0]?.body, service.amlRequests[1]?.body)
    })
  })

  it.effect.each<[string, Service.Handler, AmlError.AmlError["_tag"], AmlError.Sent]>([
    ["429 without Retry-After", answers(429), "AmlRateLimited", "answered"],
    ["429 with a Retry-After that is neither seconds nor a date", asks(429, "soon"), "AmlRateLimited", "answered"],
    ["503 without Retry-After", answers(503), "AmlUnavailable", "answered"],
    ["503 with a Retry-After that is neither seconds nor a date", asks(503, "1.5"), "AmlUnavailable", "answered"],
    ["500", answers(500), "AmlUnavailable", "answered"],
    ["500 with Retry-After", asks(500, "1"), "AmlUnavailable", "answered"],
    ["502 with Retry-After", asks(502, "1"), "AmlUnavailable", "answered"],
    ["504 with Retry-After", asks(504, "1"), "AmlUnavailable", "answered"],
    ["408", asks(408, "1"), "AmlRequestRejected", "answered"],
    ["422", asks(422, "1"), "AmlRequestRejected", "answered"],
    ["403", asks(403, "1"), "AmlForbidden", "answered"],
    ["a lost connection", lost, "AmlUnavailable", "unknown"],
    ["a certificate that is not trusted", untrusted, "AmlUnavailable", "no"],
    ["an invalid answer", invalid, "AmlAnswerInvalid", "answered"],
    [
      "an answer about somebody else",
      () => Effect.sync(() => Service.json(Service.credential())),
      "AmlAnswerMismatch",
      "answered"
    ]
  ])("does not send again after %s", ([, handler, tag, sent]) => {
    const service = scripted([handler, good])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, 0)
      strictEqual(error._tag, tag)
      strictEqual(Failure.facts(error).sent, sent)
      strictEqual(service.amlRequests.length, 1)
    })
  })

  it.effect("429 that stays: 3 requests, and the last wait is told", () => {
    const service = scripted([asks(429, "2"), asks(429, "3"), asks(429, "4")])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "5 seconds")
      assert.deepInclude(error, { _tag: "AmlRateLimited", retryAfter: Duration.seconds(4) })
      deepStrictEqual(service.at, [0, 2000, 5000])
    })
  })

  it.effect("a lost connection after a refused one ends it", () => {
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
    ["500", answers(500)],
    ["502", answers(502)],
    ["503 without Retry-After", answers(503)],
    ["429 without Retry-After", answers(429)],
    ["408", answers(408)],
    ["425", answers(425)]
  ]
  it.effect.each(again)("always sends again after %s, never does not", ([, handler]) =>
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
    ["422", answers(422)],
    ["403", answers(403)],
    ["404", answers(404)],
    ["an invalid answer", invalid],
    ["a redirect", answers(302)],
    ["a certificate", untrusted]
  ])("always does not send again after %s", ([, handler]) => {
    const service = scripted([handler, good])
    return Effect.gen(function*() {
      yield* failsAfter(service, 0, { retry: "always" })
      strictEqual(service.amlRequests.length, 1)
    })
  })

  it.effect("never does not wait for a Retry-After, and tells it", () => {
    const service = scripted([asks(429, "1"), good])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, 0, { retry: "never" })
      assert.deepInclude(error, { _tag: "AmlRateLimited", retryAfter: Duration.seconds(1) })
    })
  })

  it.effect("never still sends once more after a 401, with a new token", () => {
    const service = scripted([answers(401), good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, 0, { retry: "never" })), true)
      deepStrictEqual(service.amlRequests.map(({ headers }) => headers["authorization"]), [
        "Bearer token-1",
        "Bearer token-2"
      ])
    })
  })

  it.effect("a 401 that stays is not sent a third time, not even with always", () => {
    const service = scripted([answers(401)])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "5 seconds", { retry: "always" })
      assert.deepInclude(error, { _tag: "AmlUnauthorized", renewal: "replayed" })
      strictEqual(service.amlRequests.length, 2)
    })
  })
})

describe("retry: a Schedule", () => {
  it.effect("is asked about each failure, and decides", () => {
    const service = scripted([lost, answers(500), asks(429, "0"), good])
    const { asked, schedule } = untried(() => true)
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, 0, { retry: schedule })), true)
      deepStrictEqual(asked, ["AmlUnavailable", "AmlUnavailable", "AmlRateLimited"])
    })
  })

  it.effect("may say no", () => {
    const service = scripted([answers(429), lost, good])
    const { asked, schedule } = untried(({ _tag }) => _tag === "AmlRateLimited")
    return Effect.gen(function*() {
      assert.deepInclude(yield* failsAfter(service, 0, { retry: schedule }), {
        _tag: "AmlUnavailable",
        sent: "unknown"
      })
      deepStrictEqual(asked, ["AmlRateLimited", "AmlUnavailable"])
    })
  })

  it.effect.each<[string, Service.Handler]>([
    ["422", answers(422)],
    ["an invalid answer", invalid],
    ["401", answers(401)],
    ["a certificate", untrusted]
  ])("is not asked about %s", ([, handler]) => {
    const service = scripted([handler])
    const { asked, schedule } = untried(() => true)
    return Effect.gen(function*() {
      yield* failsAfter(service, 0, { retry: schedule })
      deepStrictEqual(asked, [])
    })
  })

  it.effect("is not asked about a token that is not there", () => {
    const service = scripted([good], () => Effect.sync(() => status(401)))
    const { asked, schedule } = untried(() => true)
    return Effect.gen(function*() {
      strictEqual((yield* failsAfter(service, 0, { retry: schedule }))._tag, "TokenRejected")
      deepStrictEqual(asked, [])
    })
  })

  it.effect("sets the pauses, and starts anew with each check", () => {
    const service = scripted([refused])
    const retry = Schedule.intersect(Schedule.spaced("3 seconds"), Schedule.recurs(2))
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      for (let i = 0; i < 2; i++) {
        const fiber = yield* Effect.fork(Effect.flip(checkAda))
        yield* TestClock.adjust("6 seconds")
        strictEqual((yield* Fiber.join(fiber))._tag, "AmlUnavailable")
      }
      deepStrictEqual(service.at, [0, 3000, 6000, 6000, 9000, 12_000])
    }).pipe(provide(service, { retry }))
  })

  it.effect("that never ends, ends with the deadline: no wait is begun that would outlast it", () => {
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

  it.effect("does not come back before the service asked to", () => {
    const service = scripted([asks(429, "9"), good])
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
  ])("in %s is waited", ([, header, millis]) =>
    Effect.gen(function*() {
      for (const code of [429, 503]) {
        const service = scripted([asks(code, header), good])
        strictEqual(Either.isRight(yield* endAfter(service, millis)), true)
        deepStrictEqual(service.at, [0, millis])
      }
    }))

  it.effect("of a past date is only the backoff", () => {
    const service = scripted([asks(429, httpDate(-60_000)), good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, "200 millis")), true)
      strictEqual(service.amlRequests.length, 2)
    })
  })

  it.effect.each<[string, string]>([["seconds", "3600"], ["an HTTP date", httpDate(3_600_000)]])(
    "of an hour in %s fails at once, and tells it",
    ([, header]) =>
      Effect.gen(function*() {
        for (const code of [429, 503]) {
          const service = scripted([asks(code, header), good])
          const error = yield* failsAfter(service, 0)
          deepStrictEqual(Failure.facts(error).retryAfter, Duration.hours(1))
          strictEqual(service.amlRequests.length, 1)
        }
      })
  )

  it.effect("of an hour is waited within a deadline of two", () => {
    const service = scripted([asks(503, "3600"), good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, "1 hour", { deadline: "2 hours" })), true)
      deepStrictEqual(service.at, [0, 3_600_000])
    })
  })

  it.effect("that ends with the deadline fails at once: nothing could be answered after it", () => {
    const service = scripted([asks(429, "30"), good])
    return Effect.gen(function*() {
      strictEqual((yield* failsAfter(service, 0))._tag, "AmlRateLimited")
    })
  })
})

describe("The deadline over all attempts", () => {
  it.effect("is for all of them together, and counts the waits", () => {
    const service = scripted([asks(429, "3"), asks(503, "3"), hangs])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "8 seconds", { deadline: "8 seconds" })
      assert.deepInclude(error, { _tag: "AmlTimeout", sent: "unknown", deadline: Duration.seconds(8) })
      strictEqual(service.amlRequests.length, 3)
    })
  })

  it.effect("counts the wait for the token too", () => {
    const slowToken: Service.Handler = (_, count) =>
      Effect.delay(Effect.sync(() => Service.tokenResponse(count)), "4 seconds")
    const service = scripted([asks(429, "5"), good], slowToken)
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "4 seconds", { deadline: "8 seconds" })
      assert.deepInclude(error, { _tag: "AmlRateLimited", retryAfter: Duration.seconds(5) })
      strictEqual(service.amlRequests.length, 1)
    })
  })
})

describe("What was sent, over several attempts", () => {
  const always = { retry: "always", deadline: "10 seconds" } as const

  it.effect.each<[string, ReadonlyArray<Service.Handler>, AmlError.Sent]>([
    ["refused three times", [refused], "no"],
    ["lost, then refused", [lost, refused], "unknown"],
    ["refused, then lost, then refused", [refused, lost, refused], "unknown"],
    ["lost, then an unknown host", [lost, noSuchHost], "unknown"],
    ["lost, then a certificate", [lost, untrusted], "unknown"],
    ["lost, then 500", [lost, answers(500)], "unknown"],
    ["lost, then 429", [lost, asks(429, "0")], "unknown"],
    ["lost, then 422", [lost, answers(422)], "unknown"],
    ["lost, then an invalid answer", [lost, invalid], "unknown"],
    ["lost, then 401", [lost, answers(401)], "unknown"],
    ["500, then refused", [answers(500), refused], "answered"],
    ["500, then lost, then 500", [answers(500), lost, answers(500)], "unknown"],
    ["429 with Retry-After, then refused", [asks(429, "0"), refused], "no"],
    ["503 with Retry-After, then refused", [asks(503, "0"), refused], "no"]
  ])("%s", ([, script, sent]) =>
    Effect.gen(function*() {
      strictEqual(Failure.facts(yield* failsAfter(scripted(script), "2 seconds", always)).sent, sent)
    }))

  it.effect.each<[string, ReadonlyArray<Service.Handler>, AmlError.Sent]>([
    ["lost, then nothing", [lost, hangs], "unknown"],
    ["refused, then nothing", [refused, hangs], "unknown"],
    ["500, then nothing", [answers(500), hangs], "unknown"]
  ])("%s until the deadline", ([, script, sent]) =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted(script), "10 seconds", always)
      assert.deepInclude(error, { _tag: "AmlTimeout", sent })
    }))

  const firstToken: Service.Handler = (_, count) => Effect.sync(() => Service.tokenResponse(count))
  const thenDown: Service.Handler = (received, count, request) =>
    count === 1 ? firstToken(received, count, request) : refused(received, count, request)
  const thenRejected: Service.Handler = (received, count, request) =>
    count === 1 ? firstToken(received, count, request) : Effect.sync(() => status(401))
  const thenHangs: Service.Handler = (received, count, request) =>
    count === 1 ? firstToken(received, count, request) : Effect.never

  it.effect.each<[string, Service.Handler]>([["is down", thenDown], ["refuses the key", thenRejected]])(
    "lost, then 401 while the token endpoint %s: not an error that says that nothing was sent",
    ([, token]) =>
      Effect.gen(function*() {
        const error = yield* failsAfter(scripted([lost, answers(401)], token), "5 seconds", always)
        assert.deepInclude(error, { _tag: "AmlUnavailable", reason: "broken", sent: "unknown" })
      })
  )

  it.effect("401 while the token endpoint is down: nothing was performed", () =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted([answers(401)], thenDown), "5 seconds", always)
      strictEqual(error._tag, "TokenEndpointUnavailable")
      strictEqual(Failure.facts(error).sent, "no")
    }))

  it.effect("401 whose renewal hangs until the deadline: nothing was performed", () =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted([answers(401)], thenHangs), "10 seconds", { deadline: "10 seconds" })
      assert.deepInclude(error, { _tag: "AmlTimeout", sent: "no" })
    }))

  it.effect("lost, then 401 whose renewal hangs until the deadline: it may have been performed", () =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted([lost, answers(401)], thenHangs), "10 seconds", always)
      assert.deepInclude(error, { _tag: "AmlTimeout", sent: "unknown" })
    }))

  it.effect("401, and the replay is lost: it may have been performed, and is not sent again", () => {
    const service = scripted([answers(401), lost, good])
    return Effect.gen(function*() {
      assert.deepInclude(yield* failsAfter(service, "2 seconds"), { _tag: "AmlUnavailable", sent: "unknown" })
      strictEqual(service.amlRequests.length, 2)
    })
  })

  it.effect("refused while a schedule is thinking until the deadline: nothing was sent", () =>
    Effect.gen(function*() {
      const retry = Schedule.modifyDelayEffect(Schedule.recurs(3), () => Effect.never)
      const error = yield* failsAfter(scripted([refused]), "10 seconds", { retry, deadline: "10 seconds" })
      strictEqual(error._tag, "AmlTimeout")
      strictEqual(Failure.facts(error).sent, "no")
    }))
})

describe("withPolicy", () => {
  it.effect("sets the deadline of the checks in it", () => {
    const service = scripted([hangs])
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const fiber = yield* Effect.fork(Effect.flip(AmlClient.withPolicy(checkAda, { deadline: "2 seconds" })))
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "AmlTimeout", deadline: Duration.seconds(2) })
    }).pipe(provide(service))
  })

  it.effect("may prolong the deadline", () => {
    const service = scripted([hangs])
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(checkAda.pipe(AmlClient.withPolicy({ deadline: "1 minute" }))))
      yield* TestClock.adjust("59 seconds")
      strictEqual(Option.isNone(yield* Fiber.poll(fiber)), true)
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "AmlTimeout", deadline: Duration.minutes(1) })
    }).pipe(provide(service))
  })

  it.effect("sets the retries, and does not leak to the checks after it or beside it", () => {
    const service = scripted([answers(500)])
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
      strictEqual(yield* count(always(checkAda)), 3)
      strictEqual(yield* count(checkAda), 1)
      strictEqual(yield* count(Effect.all([always(checkAda), checkAda], { concurrency: 2, mode: "either" })), 4)
      strictEqual(yield* count(Effect.all([Effect.exit(always(checkAda)), Effect.exit(checkAda)])), 4)
    }).pipe(provide(service))
  })

  it.effect("is for the fibers that are forked in it", () => {
    const service = scripted([answers(500)])
    return Effect.gen(function*() {
      const fork = Effect.fork(Effect.flip(checkAda))
      const fiber = yield* AmlClient.withPolicy(fork, { retry: "always" })
      yield* TestClock.adjust("1 second")
      strictEqual((yield* Fiber.join(fiber))._tag, "AmlUnavailable")
      strictEqual(service.amlRequests.length, 3)
    }).pipe(provide(service))
  })

  it.effect("nests: the inner one wins, and what it does not say stays", () => {
    const service = scripted([asks(429, "3"), hangs])
    return Effect.gen(function*() {
      const fiber = yield* checkAda.pipe(
        AmlClient.withPolicy({ deadline: "5 seconds", retry: undefined }),
        AmlClient.withPolicy({ deadline: "1 second", retry: "safe" }),
        Effect.flip,
        Effect.fork
      )
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "AmlTimeout", deadline: Duration.seconds(5) })
      strictEqual(service.amlRequests.length, 2)
    }).pipe(provide(service, { retry: "never" }))
  })

  it.effect("of nothing changes nothing", () => {
    const service = scripted([answers(500)])
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(AmlClient.withPolicy(checkAda, {})))
      yield* TestClock.adjust("1 second")
      strictEqual((yield* Fiber.join(fiber))._tag, "AmlUnavailable")
      strictEqual(service.amlRequests.length, 3)
    }).pipe(provide(service, { retry: "always" }))
  })

  it.effect("may leave the echo of the name alone, but never the year of birth", () => {
    const other = (changes: object) => () =>
      Effect.sync(() => Service.json(Service.credential({}, { birth_year: "1957", ...changes })))
    const service = scripted([
      other({ name: "A. Testclear" }),
      other({ name: "A. Testclear" }),
      other({ birth_year: "1958" })
    ])
    return Effect.gen(function*() {
      const ignoring = AmlClient.withPolicy(checkAda, { nameEcho: "ignore" })
      assert.deepInclude(yield* Effect.flip(checkAda), { _tag: "AmlAnswerMismatch", fields: ["name"] })
      strictEqual((yield* ignoring).credentials.attributes.matchFound, "No")
      assert.deepInclude(yield* Effect.flip(ignoring), { _tag: "AmlAnswerMismatch", fields: ["birth_year"] })
    }).pipe(provide(service))
  })

  it.effect.each<[string, CheckPolicy.Options]>([
    ["a deadline of 0", { deadline: 0 }],
    ["a deadline below 0", { deadline: -1 }],
    ["a deadline that is no number", { deadline: NaN }],
    ["a deadline without an end", { deadline: Infinity }]
  ])("with %s is a defect that names it, and nothing is sent", ([, options]) => {
    const service = scripted([good])
    return Effect.gen(function*() {
      const cause = yield* Effect.flip(Effect.sandbox(AmlClient.withPolicy(checkAda, options)))
      strictEqual(Cause.isDie(cause), true)
      assert.match(Cause.pretty(cause), /withPolicy.*deadline/)
      deepStrictEqual([service.tokenRequests.length, service.amlRequests.length], [0, 0])
    }).pipe(provide(service))
  })
})

describe("The options of a check", () => {
  const bad: Record<keyof CheckPolicy.Options, ReadonlyArray<unknown>> = {
    deadline: ["soon", "", -1, NaN, 0, Infinity, "-5 seconds", "0 millis", {}, true],
    retry: ["sometimes", "", "Safe", 3, {}, true],
    nameEcho: ["x", "", "Fold", 1, true]
  }
  const cases = Object.entries(bad).flatMap(([field, values]) => values.map((value) => [field, value] as const))

  it.each(cases)("%s: %s is a ConfigError that names the field", (field, value) => {
    const made = CheckPolicy.make(Object.assign({}, { [field]: value }))
    assert(Either.isLeft(made))
    deepStrictEqual(Object.keys(bad).filter((name) => String(made.left).includes(`at ${name}`)), [field])
  })

  it.effect("all that is wrong is told at once, by the layer too, which does not die", () =>
    Effect.gen(function*() {
      const service = scripted([good])
      const options = Object.assign({ ...Service.options }, {
        baseUrl: "ftp://x",
        deadline: "soon",
        retry: "sometimes",
        nameEcho: "x"
      })
      const cause = yield* Effect.flip(
        Effect.sandbox(Effect.scoped(Layer.build(Layer.provide(Idv.layer(options), service.layer))))
      )
      strictEqual(Cause.isFailType(cause), true)
      const told = String(Cause.squash(cause))
      deepStrictEqual(["baseUrl", "deadline", "retry", "nameEcho"].filter((field) => !told.includes(`at ${field}`)), [])
    }))

  it("the defaults are 30 seconds, safe and fold", () => {
    const made = CheckPolicy.make()
    assert(Either.isRight(made))
    const { deadline, nameEcho, retry } = made.right
    deepStrictEqual([Duration.toMillis(deadline), retry, nameEcho], [30_000, "safe", "fold"])
  })
})

describe("A check", () => {
  it.effect("asks for the token once for all of its attempts", () => {
    const service = scripted([refused, refused, good])
    return Effect.gen(function*() {
      strictEqual(Either.isRight(yield* endAfter(service, "1 second")), true)
      deepStrictEqual([service.tokenRequests.length, service.amlRequests.length], [1, 3])
    })
  })

  it.effect("is never cached: two of the same person are two requests, one after the other or at once", () => {
    const service = scripted([good])
    return Effect.gen(function*() {
      yield* checkAda
      yield* checkAda
      strictEqual(service.amlRequests.length, 2)
      yield* Effect.all([checkAda, checkAda, checkAda], { concurrency: "unbounded" })
      strictEqual(service.amlRequests.length, 5)
    }).pipe(provide(service))
  })

  it.effect("that was tried more than once says so in its evidence, and has the times of the last", () => {
    const service = scripted([asks(429, "3"), good])
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const fiber = yield* Effect.gen(function*() {
        const aml = yield* AmlClient.AmlClient
        return yield* aml.checkWithEvidence(yield* Service.ada)
      }).pipe(Effect.fork)
      yield* TestClock.adjust("3 seconds")
      const { attempts, sentAt, status } = yield* Fiber.join(fiber)
      deepStrictEqual([attempts, sentAt.epochMillis - today, status], [2, 3000, 200])
    }).pipe(provide(service))
  })
})
