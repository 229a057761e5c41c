import { Control, ControlApi, Fault, MockServer, Profile } from "@effect-idv/mock-server"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Cause,
  DateTime,
  Duration,
  Effect,
  Either,
  Exit,
  Fiber,
  Layer,
  Option,
  Redacted,
  TestClock,
  TestServices
} from "effect"
import { eventually } from "../../core/test/support/eventually.ts"
import * as MovableClock from "../../core/test/support/movableClock.ts"
import { check, checkStatus, control, token, tokenRequest } from "./support/plain.ts"

const controlToken = Redacted.make("control-token")

/** The control API through its derived client, over a socket and through the guard. */
const layerRemote = Layer.unwrapEffect(
  Effect.map(MockServer.MockServer, ({ url }) => Control.layer({ url: `${url}/`, token: controlToken }))
)

const layers: ReadonlyArray<
  readonly [
    string,
    Layer.Layer<MockServer.MockServer | Control.Control | HttpClient.HttpClient, MockServer.MockServerError>
  ]
> = [
  ["in process", MockServer.layerHttpClient],
  [
    "over a socket",
    layerRemote.pipe(
      Layer.provideMerge(Layer.merge(MockServer.layer({ port: 0, controlToken }), NodeHttpClient.layerUndici))
    )
  ]
]

let customers = 0
const newId = () => `test-control-${++customers}`

/** Begins a session for one test. */
const begin = Effect.gen(function*() {
  const { create, session } = yield* Control.Control
  const { customerId } = yield* create({ customerId: newId() })
  return { customerId, session: session(customerId) }
})

const refusedPaths = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) =>
    error instanceof ControlApi.ControlRefused
      ? error.violations.map(({ path }) => path)
      : assert.fail(String(error)))

const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

const hang: typeof Fault.Fault.Encoded = { on: "aml", what: { kind: "hang" } }
const unavailable: typeof Fault.Fault.Encoded = { on: "aml", what: { kind: "status", status: 503 } }

describe.each(layers)("The ids of the control API %s", (_, layer) => {
  it.layer(layer)((it) => {
    it.effect.each([
      "a/b%2Fc?d#e",
      "%",
      "%25",
      "50%",
      "%zz",
      "a;b=c&d+e",
      "\"<>\\^`{|}~",
      "..a",
      "a/../b",
      "...",
      "_mock",
      "__proto__",
      "Reset",
      "reset/",
      "/",
      "//",
      "x".repeat(128)
    ])("can have the id %s", (customerId) =>
      Effect.gen(function*() {
        const { create, session } = yield* Control.Control
        strictEqual((yield* create({ customerId })).customerId, customerId)
        const { fault, faults, info, journal, remove, removeFault } = session(customerId)
        strictEqual(yield* checkStatus(yield* token(customerId)), 200)
        deepStrictEqual((yield* journal()).entries.map((entry) => entry.customerId), [customerId, customerId])
        const { id } = yield* fault(hang)
        strictEqual(yield* tagOf(removeFault(customerId)), "FaultUnknown")
        strictEqual((yield* faults).length, 1)
        yield* removeFault(id)
        strictEqual((yield* faults).length, 0)
        strictEqual((yield* info).customerId, customerId)
        yield* remove
      }))

    it.effect.each(["", ".", "..", "\ud800", "a:b", "a b", "é", "x".repeat(129)])(
      "cannot have the id %o",
      (customerId) =>
        Effect.gen(function*() {
          const { create, session } = yield* Control.Control
          deepStrictEqual(yield* refusedPaths(create({ customerId })), ["customerId"])
          strictEqual(yield* tagOf(session(customerId).info), "SessionUnknown")
          strictEqual(yield* tagOf(session(customerId).remove), "SessionUnknown")
        })
    )

    it.effect.each(["", ".", "..", "/", "%", "%2e%2e", "f1/..", "a b", "\ud800", "f1?x=1", "f1#x", "f1;x"])(
      "stay when the unknown id %o is removed",
      (id) =>
        Effect.gen(function*() {
          const { session } = yield* begin
          yield* session.fault(hang)
          strictEqual(yield* tagOf(session.removeFault(id)), "FaultUnknown")
          strictEqual((yield* session.faults).length, 1)
        })
    )
  })
})

describe("The control API", () => {
  it.layer(MockServer.layerHttpClient)((it) => {
    describe("sessions", () => {
      it.effect("begin with the given settings, and a reset restores them", () =>
        Effect.gen(function*() {
          const { create, session } = yield* Control.Control
          const customerId = newId()
          const fault = Either.getOrThrow(Fault.make({ ...hang, id: "first" }))
          const begun = yield* create({
            customerId,
            customerKey: Redacted.make("a key: ä"),
            seed: 7,
            profile: { preset: "hostile", tokenField: "access_token" },
            faults: [fault]
          })
          deepStrictEqual([begun.customerId, begun.seed, begun.faults, begun.exchanges], [customerId, 7, 1, 0])
          deepStrictEqual(begun.profile, { ...Profile.presets.hostile, tokenField: "access_token" })

          const mine = session(customerId)
          yield* mine.clearFaults
          yield* mine.changeProfile({ preset: "default" })
          yield* mine.advance("1 hour")
          strictEqual((yield* tokenRequest(customerId)).status, 401)
          strictEqual((yield* tokenRequest(customerId, "a key: ä")).status, 200)
          const { clock, exchanges, faults, profile } = yield* mine.info
          deepStrictEqual([exchanges, faults, profile], [2, 0, Profile.defaultProfile])
          strictEqual(DateTime.distance(begun.clock.now, clock.now) >= 3_600_000, true)

          const reset = yield* mine.reset
          deepStrictEqual({ ...reset, clock: begun.clock.frozen }, { ...begun, clock: begun.clock.frozen })
          deepStrictEqual((yield* mine.faults).map(({ fault }) => fault), [fault])
        }))

      it.effect("begin once, even if several requests create the same one at the same time", () =>
        Effect.gen(function*() {
          const { create } = yield* Control.Control
          const customerId = newId()
          const begun = yield* Effect.all(
            Array.from({ length: 20 }, (_, seed) => create({ customerId, seed })),
            { concurrency: "unbounded" }
          )
          const { seed } = yield* (yield* Control.Control).session(customerId).info
          deepStrictEqual(begun.map((session) => session.seed), begun.map(() => seed))
        }))

      it.effect("of a test customer with its own key do not accept the common key", () =>
        Effect.gen(function*() {
          const { create, session } = yield* Control.Control
          const customerId = newId()
          yield* create({ customerId, customerKey: Redacted.make("another") })
          strictEqual((yield* tokenRequest(customerId)).status, 401)
          strictEqual((yield* tokenRequest(customerId, "another")).status, 200)
          yield* session(customerId).remove
          strictEqual((yield* tokenRequest(customerId)).status, 401)
          yield* create({ customerId })
          strictEqual((yield* tokenRequest(customerId)).status, 200)
        }))

      it.effect("that exist are returned unchanged by a second create, with their own key", () =>
        Effect.gen(function*() {
          const { create, session } = yield* Control.Control
          const customerId = newId()
          const first = yield* create({ customerId, customerKey: Redacted.make("its-key"), seed: 7, faults: [] })
          yield* session(customerId).freeze
          yield* session(customerId).fault(hang)
          const before = yield* session(customerId).info
          const again = yield* create({
            customerId,
            customerKey: Redacted.make("another"),
            seed: 8,
            faults: [],
            profile: { preset: "hostile" }
          })
          deepStrictEqual(again, before)
          deepStrictEqual([again.seed, again.faults, again.profile], [7, 1, first.profile])
          strictEqual((yield* tokenRequest(customerId, "another")).status, 401)
          strictEqual((yield* tokenRequest(customerId, "its-key")).status, 200)
        }))

      it.effect.each<[string, (session: Control.SessionControl) => Effect.Effect<unknown, unknown>]>([
        ["a fault", ({ fault }) => fault(hang)],
        ["the clock, moved", ({ advance }) => advance("1 minute")],
        ["the clock, set", ({ setTime }) => setTime("2030-01-31")],
        ["the clock, stopped", ({ freeze }) => freeze],
        ["the clock, running", ({ resume }) => resume],
        ["the profile", ({ changeProfile }) => changeProfile({ tokenStatus: "201" })],
        ["a reset", ({ reset }) => reset]
      ])("of a test customer begin with %s, before the first token request", ([, set]) =>
        Effect.gen(function*() {
          const { session } = yield* Control.Control
          const mine = session(newId())
          strictEqual(yield* tagOf(mine.info), "SessionUnknown")
          yield* set(mine)
          strictEqual((yield* mine.info).exchanges, 0)
        }))

      it.effect("keep the fault, clock and profile that were set before the first token request", () =>
        Effect.gen(function*() {
          const { session } = yield* Control.Control
          const customerId = newId()
          const mine = session(customerId)
          yield* mine.fault({ on: "token", when: { kind: "nth", n: 2 }, what: { kind: "status", status: 418 } })
          yield* mine.setTime("2030-01-31")
          yield* mine.changeProfile({ tokenStatus: "201" })
          strictEqual((yield* tokenRequest(customerId)).status, 201)
          strictEqual((yield* tokenRequest(customerId)).status, 418)
          assertInclude((yield* mine.journal()).entries[0]?.at, "2030-01-31T")
        }))

      it.effect("do not begin for a customer with its own key, with an invalid request, or by reading", () =>
        Effect.gen(function*() {
          const { create, session } = yield* Control.Control
          const customerId = newId()
          yield* create({ customerId, customerKey: Redacted.make("another") })
          yield* session(customerId).remove
          for (const id of [customerId, "nobody", "test-", `test-${"x".repeat(124)}`, "test-50%"]) {
            const { changeProfile, fault, freeze } = session(id)
            const tags = [yield* tagOf(fault(hang)), yield* tagOf(freeze), yield* tagOf(changeProfile({}))]
            deepStrictEqual(tags, tags.map(() => "SessionUnknown"))
          }
          const fresh = newId()
          yield* control("POST", `/sessions/${fresh}/faults`, { on: "canary" })
          yield* control("POST", `/sessions/${fresh}/clock`, { advance: -1 })
          yield* control("PATCH", `/sessions/${fresh}/profile`, { preset: "canary" })
          yield* tokenRequest(fresh, "wrong")
          for (const look of ["clock", "faults", "journal", "profile", "tokens"]) {
            strictEqual((yield* control("GET", `/sessions/${fresh}/${look}`)).status, 404)
          }
          strictEqual(yield* tagOf(session(fresh).info), "SessionUnknown")
        }))

      it.effect("that are removed take their tokens with them, also for requests in flight", () =>
        Effect.gen(function*() {
          const { create } = yield* Control.Control
          const { customerId, session } = yield* begin
          const issued = yield* token(customerId)
          yield* session.fault({ on: "aml", what: { kind: "latency", distribution: { kind: "fixed", delay: 10 } } })
          const running = yield* Effect.fork(check(issued))
          while ((yield* session.info).exchanges < 2) yield* TestServices.provideLive(Effect.sleep(1))
          yield* session.remove
          yield* create({ customerId })
          strictEqual(yield* checkStatus(issued), 401)
          deepStrictEqual((yield* session.journal()).entries.map(({ rule }) => rule), ["aml.token-unknown"])
          // The request may reach its latency after the first adjustment.
          const { status } = yield* Effect.raceFirst(
            Fiber.join(running),
            Effect.forever(TestClock.adjust("10 millis"))
          )
          strictEqual(status, 200)
        }))
    })

    describe("the clock", () => {
      it.effect("of one session moves, stops and resumes independently", () =>
        Effect.gen(function*() {
          const { session: mine } = yield* begin
          const { session: other } = yield* begin
          const untouched = yield* other.clock
          const now = Effect.map(mine.clock, ({ now }) => DateTime.toEpochMillis(now))

          yield* mine.setTime("2030-01-31T12:00:00+01:00")
          strictEqual(yield* now, Date.UTC(2030, 0, 31, 11))
          yield* TestClock.adjust("1 second")
          strictEqual(yield* now, Date.UTC(2030, 0, 31, 11, 0, 1))
          strictEqual((yield* mine.advance("61 minutes")).frozen, false)
          strictEqual(yield* now, Date.UTC(2030, 0, 31, 12, 1, 1))

          strictEqual((yield* mine.freeze).frozen, true)
          yield* TestClock.adjust("1 hour")
          strictEqual(yield* now, Date.UTC(2030, 0, 31, 12, 1, 1))
          yield* mine.advance(Duration.millis(5))
          yield* mine.setTime(DateTime.unsafeMake(1000))
          strictEqual((yield* mine.clock).frozen, true)
          yield* mine.resume
          yield* TestClock.adjust("1 second")
          strictEqual(yield* now, 2000)
          strictEqual(
            DateTime.toEpochMillis((yield* other.clock).now),
            DateTime.toEpochMillis(untouched.now) + 3_602_000
          )
        }))

      it.effect("can move back, and expired tokens become valid again", () =>
        Effect.gen(function*() {
          const { customerId, session: { advance, clock, setTime } } = yield* begin
          const issued = yield* token(customerId)
          const { now } = yield* clock
          yield* advance("2 hours")
          strictEqual(yield* checkStatus(issued), 401)
          yield* setTime(now)
          strictEqual(yield* checkStatus(issued), 200)
        }))

      it.effect("accepts a time in every form, and years before 1970", () =>
        Effect.gen(function*() {
          const { session: { setTime } } = yield* begin
          const set = (time: DateTime.DateTime.Input) => Effect.map(setTime(time), ({ now }) => DateTime.formatIso(now))
          strictEqual(yield* set("1955-11-05"), "1955-11-05T00:00:00.000Z")
          strictEqual(yield* set("0001-01-01T00:00Z"), "0001-01-01T00:00:00.000Z")
          strictEqual(yield* set("9999-12-31T23:59:59.999Z"), "9999-12-31T23:59:59.999Z")
          strictEqual(yield* set(new Date(5)), "1970-01-01T00:00:00.005Z")
          strictEqual(yield* set({ year: 2024, month: 2, day: 29 }), "2024-02-29T00:00:00.000Z")
          strictEqual(yield* set(-1), "1969-12-31T23:59:59.999Z")
        }))

      it.effect.each<[string, Duration.DurationInput]>([
        ["a negative number", -1],
        ["a negative text", "-5 minutes"],
        ["a negative bigint", -5n],
        ["a number that is NaN", Number.NaN],
        ["an infinite duration", Duration.infinity],
        ["an infinite number", Number.POSITIVE_INFINITY],
        ["a duration past the year 9999", "3000000 days"]
      ])("rejects an advance by %s with a typed error", ([, duration]) =>
        Effect.gen(function*() {
          const { session } = yield* begin
          const before = yield* session.freeze
          deepStrictEqual(yield* refusedPaths(session.advance(duration)), ["advance"])
          deepStrictEqual(yield* session.clock, before)
        }))

      it.effect.each<[DateTime.DateTime.Input]>([
        [""],
        ["in 5 minutes"],
        ["tomorrow"],
        ["2026-02-30"],
        ["2026-02-30T12:00:00Z"],
        ["2026-01-31T12:00:00"],
        ["2026-01-31T25:00:00Z"],
        ["1/2/2026"],
        ["+010000-01-01T00:00:00Z"],
        ["0000-12-31"],
        [Number.NaN],
        [8.64e15],
        [new Date(Number.NaN)]
      ])("rejects the time %o with a typed error", ([time]) =>
        Effect.gen(function*() {
          const { session } = yield* begin
          const before = yield* session.freeze
          const error = yield* Effect.flip(session.setTime(time))
          assertInclude(error.message, "such as 2026-01-31T12:00:00Z")
          deepStrictEqual(yield* session.clock, before)
        }))

      it.effect("stops at the end of the year 9999, and the server still responds", () =>
        Effect.gen(function*() {
          const { customerId, session } = yield* begin
          yield* session.setTime("9999-12-31T23:59:59Z")
          const issued = yield* token(customerId)
          yield* TestClock.adjust("1 minute")
          const { text } = yield* check(issued)
          strictEqual(JSON.parse(text).credentials.attributes.searched_on, "9999-12-31 23:59:59")
          strictEqual(DateTime.formatIso((yield* session.clock).now), "9999-12-31T23:59:59.999Z")
          strictEqual((yield* session.journal()).entries.at(-1)?.at, "9999-12-31T23:59:59.999Z")
        }))

      it.effect("decides when a fault with a window, a ttl or a quota fires", () =>
        Effect.gen(function*() {
          const { customerId, session } = yield* begin
          const issued = yield* token(customerId)
          yield* session.freeze
          const statuses = (n: number) => Effect.replicateEffect(checkStatus(issued), n)

          yield* session.fault({
            ...unavailable,
            id: "w",
            when: { kind: "window", after: "1 minute", for: "1 minute" }
          })
          deepStrictEqual(yield* statuses(1), [200])
          yield* session.advance("1 minute")
          deepStrictEqual(yield* statuses(2), [503, 503])
          yield* session.setTime(0)
          deepStrictEqual(yield* statuses(1), [200])
          yield* session.clearFaults

          yield* session.fault({ ...unavailable, ttl: "1 minute" })
          yield* session.setTime("1950-01-01")
          deepStrictEqual(yield* statuses(1), [503])
          yield* session.setTime(60_000)
          deepStrictEqual(yield* statuses(1), [200])
          deepStrictEqual(yield* session.faults, [])

          yield* session.fault({ on: "aml", what: { kind: "quota", limit: 1, per: "1 minute" } })
          deepStrictEqual(yield* statuses(2), [200, 429])
          yield* session.setTime("1950-01-01")
          deepStrictEqual(yield* statuses(2), [200, 429])
          yield* session.advance("1 minute")
          deepStrictEqual(yield* statuses(2), [200, 429])
        }))
    })

    describe("tokens", () => {
      it.effect("that are revoked are rejected at once, and others are not", () =>
        Effect.gen(function*() {
          const { customerId, session: { revokeTokens } } = yield* begin
          const { customerId: otherId } = yield* begin
          const [one, two, three] = yield* Effect.replicateEffect(token(customerId), 3)
          const other = yield* token(otherId)
          const statuses = Effect.forEach([one ?? "", two ?? "", three ?? "", other], (token) => checkStatus(token))
          strictEqual(yield* revokeTokens(Redacted.make(two ?? "")), 1)
          deepStrictEqual(yield* statuses, [200, 401, 200, 200])
          strictEqual(yield* revokeTokens(Redacted.make(two ?? "")), 0)
          strictEqual(yield* revokeTokens(Redacted.make(other)), 0)
          strictEqual(yield* revokeTokens(), 2)
          deepStrictEqual(yield* statuses, [401, 401, 401, 200])
          strictEqual(yield* checkStatus(yield* token(customerId)), 200)
        }))
    })

    describe("faults", () => {
      it.effect("are set, counted, replaced and removed by id", () =>
        Effect.gen(function*() {
          const { customerId, session } = yield* begin
          const issued = yield* token(customerId)
          deepStrictEqual((yield* session.fault({ ...unavailable, when: { kind: "nth", n: 2 } })).id, "f1")
          yield* session.fault({ ...hang, id: "f2", on: "token", when: { kind: "nth", n: 99 } })
          strictEqual((yield* session.fault({ ...unavailable, when: { kind: "nth", n: 5 } })).id, "f3")
          deepStrictEqual(yield* Effect.replicateEffect(checkStatus(issued), 3), [200, 503, 200])
          const counts = Effect.map(session.faults, (all) => all.map(({ fired, id, seen }) => [id, seen, fired]))
          deepStrictEqual(yield* counts, [["f1", 3, 1], ["f2", 0, 0], ["f3", 3, 0]])

          yield* session.fault({ ...unavailable, id: "f1", when: { kind: "nth", n: 1 } })
          yield* session.removeFault("f3")
          deepStrictEqual(yield* counts, [["f1", 0, 0], ["f2", 0, 0]])
          strictEqual(
            (yield* Effect.flip(session.removeFault("f3"))).message,
            "There is no fault f3 in this session: list its faults for their ids"
          )
          yield* session.clearFaults
          deepStrictEqual(yield* counts, [])
        }))

      it.effect("with a probability fire independently, and the same way with the same seed", () =>
        Effect.gen(function*() {
          const { create, session } = yield* Control.Control
          const run = Effect.gen(function*() {
            const customerId = newId()
            yield* create({ customerId, seed: 7 })
            const mine = session(customerId)
            for (const id of ["one", "other"]) {
              yield* mine.fault({
                id,
                on: "token",
                when: { kind: "probability", p: 0.5 },
                what: { kind: "latency", distribution: { kind: "fixed", delay: 0 } }
              })
            }
            yield* Effect.replicateEffect(tokenRequest(customerId), 40)
            const { entries } = yield* mine.journal()
            return ["one", "other"].map((id) => entries.map(({ faults }) => faults.some((fault) => fault.id === id)))
          })
          const [[one, other], again] = [yield* run, yield* run]
          deepStrictEqual(again, [one, other])
          strictEqual(JSON.stringify(one) === JSON.stringify(other), false)
        }))
    })

    describe("the profile", () => {
      it.effect("changes by options, by a preset, and by both", () =>
        Effect.gen(function*() {
          const { customerId, session: { changeProfile, profile } } = yield* begin
          deepStrictEqual(yield* profile, Profile.defaultProfile)
          deepStrictEqual(yield* changeProfile({ tokenStatus: "201" }), {
            ...Profile.defaultProfile,
            tokenStatus: "201"
          })
          strictEqual((yield* tokenRequest(customerId)).status, 201)
          deepStrictEqual(yield* changeProfile({ nameEcho: "nfd" }), {
            ...Profile.defaultProfile,
            tokenStatus: "201",
            nameEcho: "nfd"
          })
          deepStrictEqual(yield* changeProfile({}), yield* profile)
          deepStrictEqual(yield* changeProfile({ preset: "strict", amlStatus: "203" }), {
            ...Profile.presets.strict,
            amlStatus: "203"
          })
          strictEqual((yield* tokenRequest(customerId)).status, 200)
        }))
    })

    describe("the journal", () => {
      it.effect("can be searched by each field of a pattern", () =>
        Effect.gen(function*() {
          const { customerId, session } = yield* begin
          const issued = yield* token(customerId)
          yield* session.fault({ ...unavailable, id: "mine", when: { kind: "first", n: 1 } })
          yield* checkStatus(issued)
          yield* checkStatus(issued)
          yield* tokenRequest(customerId, "wrong")
          const rules = (search?: Control.Search) =>
            Effect.map(session.journal(search), ({ entries }) => entries.map(({ rule }) => rule))
          const all = ["token.granted", "fault.status", "aml.answered", "token.credentials"]
          deepStrictEqual(yield* rules(), all)
          deepStrictEqual(yield* rules({}), all)
          deepStrictEqual(yield* rules({ operation: "aml" }), ["fault.status", "aml.answered"])
          deepStrictEqual(yield* rules({ status: 401 }), ["token.credentials"])
          deepStrictEqual(yield* rules({ rule: "aml.answered" }), ["aml.answered"])
          deepStrictEqual(yield* rules({ fault: "mine" }), ["fault.status"])
          deepStrictEqual(yield* rules({ fault: "status" }), ["fault.status"])
          deepStrictEqual(yield* rules({ unexpected: true }), ["token.credentials"])
          deepStrictEqual(yield* rules({ unexpected: false, operation: "token" }), ["token.granted"])
          deepStrictEqual(yield* rules({ rule: "a b&c=d#e" }), [])
          deepStrictEqual(yield* refusedPaths(session.journal({ status: 99 })), ["status"])
          deepStrictEqual(yield* refusedPaths(session.journal({ rule: "" })), ["rule"])

          yield* session.clearJournal
          deepStrictEqual(yield* session.journal(), { dropped: 0, entries: [] })
        }))

      it.effect("of unmatched requests has the requests that belong to no session", () =>
        Effect.gen(function*() {
          const { unmatchedRequests } = yield* Control.Control
          const tokens = Effect.map(unmatchedRequests({ operation: "token" }), ({ entries }) => entries)
          const before = yield* tokens
          yield* tokenRequest(`nobody-${newId()}`)
          yield* token(newId())
          const [entry, ...others] = (yield* tokens).slice(before.length)
          deepStrictEqual([entry?.rule, entry?.customerId, others], ["token.credentials", null, []])
          deepStrictEqual(yield* refusedPaths(unmatchedRequests({ status: 0.5 })), ["status"])
        }))

      it.effect("can be verified with each kind of expectation", () =>
        Effect.gen(function*() {
          const { customerId, session: { verify } } = yield* begin
          yield* checkStatus(yield* token(customerId))
          yield* verify({ kind: "exactly", n: 2, pattern: {} })
          yield* verify({ kind: "atLeast", n: 1, pattern: { operation: "aml", status: 200 } })
          yield* verify({ kind: "never", pattern: { status: 500 } })
          yield* verify({ kind: "inOrder", patterns: [{ operation: "token" }, { operation: "aml" }] })
          yield* verify({ kind: "nothingUnexpected" })
          yield* tokenRequest(customerId, "wrong")

          const messages = yield* Effect.forEach([
            verify({ kind: "exactly", n: 2, pattern: {} }),
            verify({ kind: "atLeast", n: 2, pattern: { operation: "aml" } }),
            verify({ kind: "never", pattern: { status: 401 } }),
            verify({ kind: "inOrder", patterns: [{ operation: "aml" }, { operation: "aml" }] }),
            verify({ kind: "nothingUnexpected" })
          ], (call) => Effect.map(Effect.flip(call), ({ _tag, message }) => `${_tag}: ${message}`))
          const starts = [
            "exactly 2 of {}",
            "at least 2 of",
            "never {\"status\":401}",
            "in order",
            "nothing unexpected"
          ]
          starts.forEach((start, index) => assertInclude(messages[index], `VerificationFailed: Expected ${start}`))
          assertInclude(messages[4], "token.credentials")
          deepStrictEqual(yield* refusedPaths(verify({ kind: "exactly", n: -1, pattern: {} })), ["n"])
        }))
    })

    it.effect("metrics count exchanges", () =>
      Effect.gen(function*() {
        const { metrics } = yield* Control.Control
        const granted = Effect.map(metrics, (text) =>
          Number(
            /^idv_mock_exchanges_total\{operation="token",status="200",rule="token.granted"\} (\d+)$/m.exec(text)?.[1]
          ))
        const { customerId } = yield* begin
        yield* token(customerId)
        const before = yield* granted
        yield* token(customerId)
        strictEqual(yield* granted, before + 1)
      }))
  })
})

describe.each(layers)("In real time, the control API %s", (_, layer) => {
  const verified = <A, E, R>(verify: Effect.Effect<A, E, R>) => Effect.timed(Effect.either(verify))

  it.live("waits until an expectation is met, and at most for the given time", () =>
    Effect.gen(function*() {
      const { customerId, session: { verify } } = yield* begin
      const twice = { kind: "exactly", n: 2, pattern: { operation: "token" }, within: "1 hour" } as const
      const awaited = yield* Effect.fork(verified(verify(twice)))
      yield* token(customerId)
      yield* Effect.sleep(20)
      strictEqual(yield* Fiber.poll(awaited), Option.none())
      yield* token(customerId)
      const [, outcome] = yield* Fiber.join(awaited)
      deepStrictEqual(outcome, Either.right(undefined))

      const [missed, outcomeOfThree] = yield* verified(Effect.mapError(verify({ ...twice, n: 3, within: 100 }), String))
      strictEqual(Duration.toMillis(missed) >= 100, true)
      assertInclude(Either.getOrElse(Either.flip(outcomeOfThree), String), "within 100ms; found 2 among 2 entries")
      const [failed] = yield* verified(verify({ ...twice, n: 1 }))
      const [never] = yield* verified(verify({ kind: "never", pattern: { operation: "token" }, within: "1 hour" }))
      for (const duration of [failed, never]) strictEqual(Duration.toMinutes(duration) < 4, true)
      const [held, right] = yield* verified(verify({ kind: "nothingUnexpected", within: 100 }))
      strictEqual(Duration.toMillis(held) >= 100, true)
      deepStrictEqual(right, Either.right(undefined))
    }).pipe(Effect.provide(layer)))

  it.live("fails a verification if the session is removed meanwhile", () =>
    Effect.gen(function*() {
      const { clock, move, waiting } = MovableClock.make()
      yield* Effect.gen(function*() {
        const { create } = yield* Control.Control
        const { customerId, session: { remove, verify } } = yield* begin
        const before = waiting()
        const quiet = yield* Effect.fork(Effect.flip(verify({ kind: "nothingUnexpected", within: "1 minute" })))
        yield* eventually("a verification that waits", waiting, (count) => count > before)
        yield* remove
        yield* create({ customerId })
        yield* move("1 minute")
        strictEqual((yield* Fiber.join(quiet))._tag, "SessionUnknown")
      }).pipe(Effect.provide(layer), Effect.withClock(clock))
    }))
})

describe("A control API", () => {
  const live = <A, E>(effect: Effect.Effect<A, E, Control.Control | MockServer.MockServer | HttpClient.HttpClient>) =>
    effect.pipe(Effect.provide(Layer.merge(MockServer.layerTest, NodeHttpClient.layerUndici)))

  it.live("works over plain HTTP: after 61 minutes the old token is expired and a new one is valid", () =>
    live(Effect.gen(function*() {
      const old = yield* token("test-curl")
      strictEqual(yield* checkStatus(old), 200)
      const moved = yield* control("POST", "/sessions/test-curl/clock", { advance: "61 minutes" })
      deepStrictEqual([moved.status, JSON.parse(moved.text).frozen], [200, false])
      const refused = yield* check(old)
      strictEqual(refused.status, 401)
      assertInclude(refused.headers["www-authenticate"], "invalid_token")
      const fresh = yield* token("test-curl")
      strictEqual(yield* checkStatus(fresh), 200)

      const revoked = yield* control("POST", "/sessions/test-curl/tokens/revoke", { token: fresh })
      deepStrictEqual([revoked.status, JSON.parse(revoked.text)], [200, { revoked: 1 }])
      strictEqual(yield* checkStatus(fresh), 401)
      yield* token("test-curl")
      deepStrictEqual(JSON.parse((yield* control("POST", "/sessions/test-curl/tokens/revoke")).text), { revoked: 1 })
      const { text } = yield* control("GET", "/sessions/test-curl/tokens")
      deepStrictEqual(JSON.parse(text).map(({ status }: { status: string }) => status), [
        "expired",
        "revoked",
        "revoked"
      ])
    })))

  it.live("lists a thousand sessions", () =>
    Effect.gen(function*() {
      const { session, sessions } = yield* Control.Control
      const { status, text } = yield* control("GET", "/sessions")
      deepStrictEqual([status, JSON.parse(text).length], [200, 1000])
      strictEqual((yield* sessions).length, 1000)
      strictEqual((yield* session("n1000").info).exchanges, 0)
    }).pipe(Effect.provide(Layer.merge(
      MockServer.layer({
        port: 0,
        customers: Arr.makeBy(1000, (index) => ({ customerId: `n${index + 1}`, customerKey: controlToken }))
      }),
      NodeHttpClient.layerUndici
    ))))

  it.effect("finds customers from code with any id", () =>
    Effect.gen(function*() {
      const { session } = yield* Control.Control
      for (const customerId of ["Zoë İSTANBUL/王 😀", "İİİ"]) {
        const { faults, info, remove } = session(customerId)
        strictEqual((yield* info).customerId, customerId)
        deepStrictEqual(yield* faults, [])
        yield* remove
      }
    }).pipe(Effect.provide(MockServer.layerHttpClientWith({
      customers: [
        { customerId: "Zoë İSTANBUL/王 😀", customerKey: controlToken },
        { customerId: "İİİ", customerKey: controlToken }
      ]
    }))))

  const reason = (options: Control.Options, headers = {}) =>
    Control.make(options).pipe(
      Effect.updateService(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.setHeaders(headers))),
      Effect.flatMap(({ sessions }) => Effect.flip(sessions)),
      Effect.provide(NodeHttpClient.layerUndici),
      Effect.map(({ _tag, message, reason, url }) => {
        assertInclude(message, url)
        return [_tag, reason]
      })
    )

  it.live("that is not available reports why, without the response", () =>
    Effect.gen(function*() {
      const { url } = yield* MockServer.MockServer
      const unavailable = (reason: Control.ControlUnavailable["reason"]) => ["ControlUnavailable", reason]
      deepStrictEqual(yield* reason({ url: "http://127.0.0.1:1" }), unavailable("transport"))
      deepStrictEqual(yield* reason({ url: "no address" }), unavailable("transport"))
      deepStrictEqual(yield* reason({ url }), unavailable("unauthorized"))
      deepStrictEqual(yield* reason({ url, token: Redacted.make("canary") }), unavailable("unauthorized"))
      deepStrictEqual(yield* reason({ url: `${url}/api`, token: controlToken }), unavailable("answer"))
      deepStrictEqual(
        yield* reason({ url, token: controlToken }, { host: "evil.example" }),
        unavailable("forbidden")
      )
    }).pipe(Effect.provide(MockServer.layer({ port: 0, controlToken }))))
})

describe("unexpected: \"fail\"", () => {
  type Use = Effect.Effect<void, unknown, Control.Control | MockServer.MockServer | HttpClient.HttpClient>

  const closing = (use: Use, options: MockServer.InProcessOptions = { unexpected: "fail" }) =>
    Effect.exit(Effect.provide(use, MockServer.layerHttpClientWith(options)))

  const defect = (exit: Exit.Exit<void, unknown>) =>
    Exit.isFailure(exit) ? Array.from(Cause.defects(exit.cause), String).join() : assert.fail("The scope closed")

  const broken = Effect.asVoid(tokenRequest("demo-customer", "wrong"))

  it.effect("makes closing the scope die and lists the entries", () =>
    Effect.gen(function*() {
      const message = defect(yield* closing(Effect.zipRight(token("test-a"), broken)))
      assertInclude(
        message,
        "Expected nothing unexpected; found 1 among 2 entries; nearest: #2 token.credentials 401 ("
      )
      assertInclude(message, "the key is wrong")
    }))

  it.live("works on a socket too", () =>
    Effect.gen(function*() {
      const exit = yield* broken.pipe(
        Effect.provide(
          Layer.merge(MockServer.layer({ port: 0, unexpected: "fail" }), NodeHttpClient.layerUndici)
        ),
        Effect.exit
      )
      assertInclude(defect(exit), "#1 token.credentials")
    }))

  it.effect.each<[string, Use]>([
    ["that belongs to no session", Effect.asVoid(tokenRequest("nobody"))],
    [
      "whose journal was cleared",
      Effect.gen(function*() {
        const { session } = yield* Control.Control
        yield* broken
        yield* session("demo-customer").clearJournal
      })
    ],
    [
      "whose session was removed",
      Effect.gen(function*() {
        const { session } = yield* Control.Control
        yield* broken
        yield* session("demo-customer").remove
      })
    ]
  ])("finds a request %s", ([, use]) =>
    Effect.gen(function*() {
      assertInclude(defect(yield* closing(use)), "nearest: #1 token.credentials 401 (")
    }))

  it.effect("accepts more correct requests than a journal keeps", () =>
    Effect.gen(function*() {
      const exit = yield* closing(Effect.replicateEffect(token("test-a"), 1001, { discard: true }))
      strictEqual(Exit.isSuccess(exit), true)
    }))

  it.effect("accepts requests that met a fault, or an expired or revoked token", () =>
    Effect.gen(function*() {
      const use = Effect.gen(function*() {
        const { session } = yield* Control.Control
        const mine = session("test-a")
        const issued = yield* token("test-a")
        strictEqual(yield* checkStatus(issued, "A Test500"), 500)
        yield* mine.fault({ ...unavailable, when: { kind: "nth", n: 1 } })
        strictEqual(yield* checkStatus(issued), 503)
        yield* mine.clearFaults
        yield* mine.fault({ on: "aml", what: { kind: "quota", limit: 1, per: "1 hour" } })
        deepStrictEqual([yield* checkStatus(issued), yield* checkStatus(issued)], [200, 429])
        yield* mine.clearFaults
        yield* mine.advance("2 hours")
        strictEqual(yield* checkStatus(issued), 401)
        const next = yield* token("test-a")
        yield* mine.revokeTokens()
        strictEqual(yield* checkStatus(next), 401)
        const last = yield* token("test-a")
        yield* mine.fault({ on: "aml", what: { kind: "tokenRevocation" } })
        strictEqual(yield* checkStatus(last), 401)
        yield* mine.verify({ kind: "nothingUnexpected" })
      })
      const exit = yield* closing(use)
      strictEqual(Exit.isSuccess(exit), true, String(exit))
    }))

  it.effect("is off by default", () =>
    Effect.gen(function*() {
      for (const options of [{}, { unexpected: "ignore" } as const]) {
        strictEqual(Exit.isSuccess(yield* closing(broken, options)), true)
      }
    }))
})
