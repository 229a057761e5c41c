/** When faults fire, with real requests: by their number, by probability, and by the session's clock. */
import { Control, Fault, MockServer } from "@effect-idv/mock-server"
import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, DateTime, Duration, Effect, Fiber, TestClock } from "effect"

type Declared = Exclude<typeof Fault.Fault.Encoded, string>

const unavailable = { kind: "status" } as const

const answerOf = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(
    HttpClient.execute(request),
    ({ headers, status, text }) => Effect.map(text, (text) => ({ status, headers, text }))
  )

const tokenAnswer = (customerId: string) =>
  HttpClientRequest.post("http://localhost/oauth/service").pipe(
    HttpClientRequest.basicAuth(customerId, "test-key"),
    HttpClientRequest.bodyText("grant_type=client_credentials", "application/x-www-form-urlencoded"),
    answerOf
  )

const tokenOf = (customerId: string) =>
  Effect.map(tokenAnswer(customerId), ({ text }): string => JSON.parse(text).access_token)

const check = (token: string, name = "Ada Testclear") =>
  HttpClientRequest.post("http://localhost/api/aml").pipe(
    HttpClientRequest.bearerToken(token),
    HttpClientRequest.setBody(HttpBody.unsafeJson({ entity_type: "person", name, dob: "01-02-1960" })),
    answerOf
  )

/** A session with a token of its own for the following requests. */
const begin = (customerId: string) =>
  Effect.gen(function*() {
    const control = (yield* Control.Control).session(customerId)
    const token = yield* tokenOf(customerId)
    const status = Effect.map(check(token), ({ status }) => status)
    return { control, token, status, statuses: (n: number) => Effect.replicateEffect(status, n) }
  })

/** Returns at which of the next requests, counted from 1, a fault fires. */
const firings = (statuses: ReadonlyArray<number>) =>
  statuses.flatMap((status, index) => status === 503 ? [index + 1] : [])

const inProcess = Effect.provide(MockServer.layerHttpClient)

describe("When a fault fires", () => {
  it.effect.each<[Pick<Declared, "when">, ReadonlyArray<number>]>([
    [{}, [1, 2, 3, 4, 5, 6, 7]],
    [{ when: { kind: "always" } }, [1, 2, 3, 4, 5, 6, 7]],
    [{ when: { kind: "nth", n: 1 } }, [1]],
    [{ when: { kind: "nth", n: 5 } }, [5]],
    [{ when: { kind: "first", n: 3 } }, [1, 2, 3]],
    [{ when: { kind: "every", n: 1 } }, [1, 2, 3, 4, 5, 6, 7]],
    [{ when: { kind: "every", n: 3 } }, [3, 6]],
    [{ when: { kind: "probability", p: 1, seed: 4 } }, [1, 2, 3, 4, 5, 6, 7]]
  ])(
    "%j fires at %j of 7 requests, and the journal has each firing with its id",
    ([when, expected]) =>
      Effect.gen(function*() {
        const { control, statuses } = yield* begin("test-counted")
        yield* statuses(2)
        yield* control.fault({ id: "mine", on: "aml", what: unavailable, ...when })
        deepStrictEqual(firings(yield* statuses(7)), expected)
        deepStrictEqual((yield* control.faults).map(({ fired, seen }) => ({ fired, seen })), [
          { fired: expected.length, seen: 7 }
        ])
        const { entries } = yield* control.journal({ operation: "aml" })
        deepStrictEqual(
          entries.slice(2).flatMap(({ faults }, index) => faults.map(({ id, kind }) => [index + 1, id, kind])),
          expected.map((number) => [number, "mine", "status"])
        )
      }).pipe(inProcess)
  )

  it.effect("a window begins and ends at the exact millisecond of the session's clock", () =>
    Effect.gen(function*() {
      const { control, status } = yield* begin("test-window")
      yield* control.fault({
        on: "aml",
        what: unavailable,
        when: { kind: "window", after: "10 seconds", for: "20 seconds" }
      })
      strictEqual(yield* status, 200)
      yield* control.advance(9_999)
      strictEqual(yield* status, 200)
      yield* TestClock.adjust(1)
      strictEqual(yield* status, 503)
      yield* control.freeze
      yield* TestClock.adjust("1 hour")
      strictEqual(yield* status, 503)
      yield* control.advance(19_999)
      strictEqual(yield* status, 503)
      yield* control.advance(1)
      strictEqual(yield* status, 200)
    }).pipe(inProcess))

  it.effect("a fault with a ttl is removed when its time is over", () =>
    Effect.gen(function*() {
      const { control, status } = yield* begin("test-ttl")
      yield* control.fault({ on: "aml", what: unavailable, ttl: "1 minute" })
      yield* TestClock.adjust(59_999)
      strictEqual(yield* status, 503)
      strictEqual((yield* control.faults).length, 1)
      yield* TestClock.adjust(1)
      strictEqual(yield* status, 200)
      deepStrictEqual(yield* control.faults, [])
    }).pipe(inProcess))

  it.effect("a removed fault does not fire, and one that is set again counts from 1", () =>
    Effect.gen(function*() {
      const { control, statuses } = yield* begin("test-removed")
      const fault: Declared = { id: "mine", on: "aml", what: unavailable, when: { kind: "nth", n: 2 } }
      yield* control.fault(fault)
      deepStrictEqual(firings(yield* statuses(1)), [])
      yield* control.fault(fault)
      deepStrictEqual(firings(yield* statuses(3)), [2])
      yield* control.fault({ ...fault, when: { kind: "always" } })
      yield* control.removeFault("mine")
      deepStrictEqual(firings(yield* statuses(2)), [])
      strictEqual((yield* Effect.flip(control.removeFault("mine")))._tag, "FaultUnknown")
    }).pipe(inProcess))
})

describe("A probability", () => {
  const half: Declared = { on: "aml", what: unavailable, when: { kind: "probability", p: 0.5 } }
  const withSeed = (seed: number): Declared => ({ ...half, when: { kind: "probability", p: 0.5, seed } })

  const run = (customerId: string, fault: Declared, seed?: number) =>
    Effect.gen(function*() {
      const { create } = yield* Control.Control
      yield* create({ customerId, ...(seed !== undefined && { seed }) })
      const { control, statuses } = yield* begin(customerId)
      yield* control.fault(fault)
      return firings(yield* statuses(40))
    })

  it.effect("fires at the same requests for the same seed in any session and server, with any other requests", () =>
    Effect.gen(function*() {
      const here = yield* inProcess(Effect.all([run("test-a", withSeed(7)), run("test-b", withSeed(7))]))
      const elsewhere = yield* inProcess(run("test-c", withSeed(7)))
      deepStrictEqual(here[1], here[0])
      deepStrictEqual(elsewhere, here[0])
      strictEqual(here[0].length > 8 && here[0].length < 32, true, `${here[0].length} of 40`)
    }))

  it.effect("fires at other requests for another seed", () =>
    Effect.gen(function*() {
      const [one, other] = yield* Effect.all([run("test-a", withSeed(7)), run("test-b", withSeed(8))])
      strictEqual(one.join() === other.join(), false)
    }).pipe(inProcess))

  it.effect("uses the seed of the session by default", () =>
    Effect.gen(function*() {
      const [one, same, other] = yield* Effect.all([
        run("test-a", half, 7),
        run("test-b", half, 7),
        run("test-c", half, 8)
      ])
      deepStrictEqual(same, one)
      strictEqual(other.join() === one.join(), false)
    }).pipe(inProcess))

  it.effect("fires about as often as its value says", () =>
    Effect.gen(function*() {
      const { control, statuses } = yield* begin("test-often")
      yield* control.fault({ on: "aml", what: unavailable, when: { kind: "probability", p: 0.1, seed: 1 } })
      const { length } = firings(yield* statuses(200))
      strictEqual(length > 8 && length < 40, true, `${length} of 200`)
    }).pipe(inProcess))
})

describe("Several faults, operations and sessions", () => {
  it.effect("do not share a counter between sessions", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* begin("test-one"), yield* begin("test-other")]
      const fault: Declared = { on: "aml", what: unavailable, when: { kind: "nth", n: 3 } }
      yield* one.control.fault(fault)
      yield* other.control.fault(fault)
      deepStrictEqual(firings(yield* one.statuses(2)), [])
      deepStrictEqual(firings(yield* other.statuses(2)), [])
      deepStrictEqual(firings(yield* one.statuses(2)), [1])
      yield* one.control.clearFaults
      deepStrictEqual(firings(yield* other.statuses(2)), [1])
    }).pipe(inProcess))

  it.effect("count the requests of their own operations, and no others", () =>
    Effect.gen(function*() {
      const { control, status } = yield* begin("test-both")
      const every: Declared["when"] = { kind: "every", n: 3 }
      yield* control.fault({ id: "token", on: "token", what: { kind: "latency", distribution: zero }, when: every })
      yield* control.fault({ id: "aml", on: "aml", what: { kind: "latency", distribution: zero }, when: every })
      yield* control.fault({ id: "both", on: "both", what: { kind: "latency", distribution: zero }, when: every })
      const token = Effect.map(tokenAnswer("test-both"), ({ status }) => status)
      const page = Effect.map(
        answerOf(HttpClientRequest.get("http://localhost/aml-profiles/dGVzdC1ib3Ro.0")),
        ({ status }) => status
      )
      yield* Effect.all([token, status, page, token, page, status, token, status])
      const { entries } = yield* control.journal()
      deepStrictEqual(
        entries.slice(1).map(({ faults, operation }) => [operation, ...faults.map(({ id }) => id)]),
        [
          ["token"],
          ["aml"],
          ["other"],
          ["token", "both"],
          ["other"],
          ["aml"],
          ["token", "token"],
          ["aml", "aml", "both"]
        ]
      )
      deepStrictEqual((yield* control.faults).map(({ fired, id, seen }) => [id, seen, fired]), [
        ["token", 3, 1],
        ["aml", 3, 1],
        ["both", 6, 2]
      ])
    }).pipe(inProcess))

  it.effect("add up all latencies to the first other fault, after the journal is written", () =>
    Effect.gen(function*() {
      const { control, status } = yield* begin("test-sum")
      yield* control.fault({ id: "two", on: "aml", what: { kind: "latency" } })
      yield* control.fault({ id: "teapot", on: "aml", what: { kind: "status", status: 418 } })
      yield* control.fault({ id: "three", on: "both", what: { kind: "latency", distribution: fixed("3 seconds") } })
      yield* control.fault({ id: "second", on: "aml", what: unavailable })
      const fiber = yield* Effect.fork(status)
      yield* TestClock.adjust(4_999)
      strictEqual(yield* Fiber.poll(fiber).pipe(Effect.map(({ _tag }) => _tag)), "None")
      const { entries } = yield* control.journal({ operation: "aml" })
      deepStrictEqual(entries.map(({ faults, millis }) => [millis, ...faults.map(({ id }) => id)]), [
        [5000, "two", "teapot", "three"]
      ])
      yield* TestClock.adjust(1)
      strictEqual(yield* Fiber.join(fiber), 418)
      deepStrictEqual((yield* control.faults).map(({ fired, id, seen }) => [id, seen, fired]), [
        ["two", 1, 1],
        ["teapot", 1, 1],
        ["three", 1, 1],
        ["second", 1, 0]
      ])
      yield* control.removeFault("teapot")
      const next = yield* Effect.fork(status)
      yield* TestClock.adjust(5_000)
      strictEqual(yield* Fiber.join(next), 503)
    }).pipe(inProcess))

  it.effect("return to the initial faults with a reset, counted from 1", () =>
    Effect.gen(function*() {
      const { create } = yield* Control.Control
      const fault = yield* Fault.make({ on: "aml", what: unavailable, when: { kind: "nth", n: 2 } })
      yield* create({ customerId: "test-reset", faults: [fault] })
      const before = yield* begin("test-reset")
      yield* before.control.fault({ on: "aml", what: { kind: "empty" } })
      deepStrictEqual(firings(yield* before.statuses(2)), [2])
      yield* before.control.reset
      const { statuses } = yield* begin("test-reset")
      deepStrictEqual(firings(yield* statuses(3)), [2])
    }).pipe(inProcess))
})

const fixed = (delay: Duration.DurationInput) => ({ kind: "fixed", delay: Duration.toMillis(delay) }) as const
const zero = fixed(0)

describe("A quota", () => {
  const retryAfter = (token: string) =>
    Effect.map(check(token), ({ headers, status }) => [status, headers["retry-after"]])

  it.effect("accepts its limit of requests in a window, and responds 429 until the session's clock ends it", () =>
    Effect.gen(function*() {
      const { control, statuses, token } = yield* begin("test-quota")
      yield* control.fault({ on: "aml", what: { kind: "quota", limit: 3, per: "1 minute" } })
      yield* control.advance("45 seconds")
      deepStrictEqual(yield* statuses(3), [200, 200, 200])
      deepStrictEqual(yield* retryAfter(token), [429, "15"])
      yield* TestClock.adjust("14 seconds")
      deepStrictEqual(yield* retryAfter(token), [429, "1"])
      yield* TestClock.adjust(500)
      deepStrictEqual(yield* retryAfter(token), [429, "1"])
      yield* control.advance(500)
      deepStrictEqual(yield* statuses(4), [200, 200, 200, 429])
      yield* control.freeze
      yield* TestClock.adjust("10 minutes")
      deepStrictEqual(yield* statuses(1), [429])
      yield* control.resume
      yield* TestClock.adjust("10 minutes")
      deepStrictEqual(yield* statuses(1), [200])
      const { entries } = yield* control.journal({ status: 429 })
      deepStrictEqual(Arr.dedupe(entries.map(({ rule, unexpected }) => `${rule} ${unexpected}`)), ["fault.quota false"])
    }).pipe(inProcess))

  it.effect("sends Retry-After in the form of the profile, or in its own", () =>
    Effect.gen(function*() {
      const { control, token } = yield* begin("test-quota")
      yield* control.setTime("2026-03-01T10:00:00Z")
      yield* control.fault({ id: "q", on: "aml", what: { kind: "quota", limit: 1, per: "90 seconds" } })
      yield* check(token)
      const responses: Array<unknown> = []
      for (const rateLimit of ["seconds", "date", "none", "garbage"] as const) {
        yield* control.changeProfile({ rateLimit })
        responses.push(yield* retryAfter(token))
      }
      deepStrictEqual(responses, [[429, "90"], [429, "Sun, 01 Mar 2026 10:01:30 GMT"], [429, undefined], [429, "soon"]])
      yield* control.fault({
        id: "q",
        on: "aml",
        what: { kind: "quota", limit: 1, per: "90 seconds", retryAfter: { kind: "seconds", seconds: 5 } }
      })
      yield* check(token)
      deepStrictEqual(yield* retryAfter(token), [429, "5"])
    }).pipe(inProcess))

  it.effect("on both operations counts tokens and checks together, and refuses either", () =>
    Effect.gen(function*() {
      const { control, status } = yield* begin("test-quota")
      yield* control.fault({ on: "both", what: { kind: "quota", limit: 2 } })
      const token = Effect.map(tokenAnswer("test-quota"), ({ status }) => status)
      deepStrictEqual(yield* Effect.all([token, status, token, status]), [200, 200, 429, 429])
      yield* control.advance("1 minute")
      deepStrictEqual(yield* Effect.all([status, token, token, status]), [200, 200, 429, 429])
    }).pipe(inProcess))
})

describe("The end of a token", () => {
  it.effect.each(
    [
      ["tokenExpiry", "aml.token-expired"],
      ["tokenRevocation", "aml.token-revoked"]
    ] as const
  )("%s on aml permanently ends the token of the request, and no other", ([kind, rule]) =>
    Effect.gen(function*() {
      const { control, status } = yield* begin("test-end")
      const other = yield* tokenOf("test-end")
      yield* control.fault({ id: "end", on: "aml", what: { kind }, when: { kind: "nth", n: 2 } })
      deepStrictEqual(yield* Effect.all([status, status, status]), [200, 401, 401])
      strictEqual((yield* check(other)).status, 200)
      strictEqual((yield* check(yield* tokenOf("test-end"))).status, 200)
      const { entries } = yield* control.journal({ status: 401 })
      deepStrictEqual(entries.map(({ faults, rule }) => [rule, ...faults.map(({ id }) => id)]), [[rule, "end"], [rule]])
      strictEqual(entries.every(({ unexpected }) => !unexpected), true)
    }).pipe(inProcess))

  it.effect.each(
    [
      ["tokenExpiry", "aml.token-expired"],
      ["tokenRevocation", "aml.token-revoked"]
    ] as const
  )("%s on token issues a token that the API refuses", ([kind, rule]) =>
    Effect.gen(function*() {
      const { control, status } = yield* begin("test-end")
      yield* control.fault({ on: "token", what: { kind }, when: { kind: "nth", n: 1 } })
      const answer = yield* tokenAnswer("test-end")
      strictEqual(answer.status, 200)
      const refused = yield* check(JSON.parse(answer.text).access_token)
      strictEqual(refused.status, 401)
      assertInclude(refused.headers["www-authenticate"], "error=\"invalid_token\"")
      deepStrictEqual((yield* control.journal({ status: 401 })).entries.map(({ rule }) => rule), [rule])
      strictEqual((yield* check(yield* tokenOf("test-end"))).status, 200)
      strictEqual(yield* status, 200)
    }).pipe(inProcess))

  it.effect("the age of a token and Retry-After follow the session's clock", () =>
    Effect.gen(function*() {
      const { control, status, token } = yield* begin("test-clock")
      yield* control.setTime("2030-01-01T00:00:00Z")
      strictEqual(yield* status, 401)
      yield* control.setTime("1970-01-01T00:00:00Z")
      strictEqual(yield* status, 200)
      yield* control.setTime("2030-01-01T00:00:00Z")
      const now = DateTime.unsafeMake("2030-01-01T00:00:01Z")
      yield* control.fault({ on: "aml", what: { ...unavailable, retryAfter: { kind: "date" } } })
      strictEqual((yield* check(token)).headers["retry-after"], DateTime.toDateUtc(now).toUTCString())
    }).pipe(inProcess))
})
