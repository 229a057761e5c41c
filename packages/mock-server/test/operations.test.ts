/**
 * Every operation and every option of a session, through every door: in process, over HTTP, on the command line, as a
 * tool for agents and on the page. Each door sets, shows, resets and refuses alike.
 */
import { Control, type ControlApi, Fault, MockServer, Profile } from "@effect-idv/mock-server"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { describe, it, layer } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, DateTime, Effect, Layer, Redacted, Struct } from "effect"
import * as SessionOptions from "../src/internal/operations/sessionOptions.ts"
import * as Doors from "./support/doors.ts"
import { check, tokenRequest } from "./support/plain.ts"

/** What an operation may change, by a reading that does not use the door under test. */
interface State {
  readonly now: string
  readonly info: Omit<ControlApi.SessionInfo, "clock" | "customerId"> & { readonly frozen: boolean }
  readonly faults: ReadonlyArray<{ readonly id: string; readonly fault: unknown }>
  readonly testPersons: number
  readonly rules: ReadonlyArray<string>
}

interface Row {
  readonly operation: string
  readonly input?: unknown
  /** What differs afterwards. */
  readonly changes: (before: State) => Partial<State>
  /** What the door shows then. */
  readonly shown?: { readonly operation: string; readonly text: string }
}

const withInfo = (change: Partial<State["info"]>) => ({ info }: State): Partial<State> => ({
  info: { ...info, ...change }
})

const time = (now: string) => (): Partial<State> => ({ now })

const armed = (id: string, input: typeof Fault.Fault.Encoded) => ({
  id,
  fault: Fault.make(input).pipe((made) => made._tag === "Right" ? Fault.encode(made.right) : made.left)
})

const addingFault = (input: typeof Fault.Fault.Encoded) => (before: State): Partial<State> => ({
  ...withInfo({ faults: 2 })(before),
  faults: [...before.faults, armed("f2", input)]
})

const unavailable = { on: "aml", what: { kind: "status", status: 503 }, when: { kind: "nth", n: 2 } } as const
const person = { match: { nameLast: "Sample" }, response: "Potential match" } as const

const clock = { operation: "clock.read" } as const
const info = { operation: "sessions.get" } as const

/** The session begins with the clock stopped in 2030, the fault f1, a token, and one exchange. */
const rows: ReadonlyArray<Row> = [
  {
    operation: "clock.change",
    input: { set: "2031-02-01" },
    changes: time("2031-02-01T00:00:00.000Z"),
    shown: { ...info, text: "2031-02-01" }
  },
  {
    operation: "clock.change",
    input: { advance: "61 minutes" },
    changes: time("2030-01-31T13:01:00.000Z"),
    shown: { ...clock, text: "13:01:00" }
  },
  { operation: "clock.change", input: { advance: 1500 }, changes: time("2030-01-31T12:00:01.500Z") },
  { operation: "clock.change", input: { frozen: true }, changes: () => ({}), shown: { ...clock, text: "frozen" } },
  { operation: "clock.change", input: { frozen: false }, changes: withInfo({ frozen: false }) },
  {
    operation: "clock.change",
    input: { real: true },
    changes: (before) => ({ ...withInfo({ frozen: false })(before), now: "real" })
  },
  {
    operation: "sessions.change",
    input: { clockSkew: "-5 minutes" },
    changes: withInfo({ clockSkew: -300_000 }),
    shown: { ...info, text: "-300000" }
  },
  { operation: "sessions.change", input: { clockSkew: 1500 }, changes: withInfo({ clockSkew: 1500 }) },
  {
    operation: "sessions.change",
    input: { profile: { preset: "strict", tokenStatus: "201" } },
    changes: withInfo({ profile: { ...Profile.presets.strict, tokenStatus: "201" } }),
    shown: { ...info, text: "tokenStatus" }
  },
  {
    operation: "sessions.change",
    input: { faults: ["token:hang", unavailable] },
    changes: (before) => ({
      ...withInfo({ faults: 2 })(before),
      faults: [armed("f2", "token:hang"), armed("f3", unavailable)]
    }),
    shown: { operation: "faults.list", text: "hang" }
  },
  {
    operation: "sessions.change",
    input: { testPersons: [person] },
    changes: (before) => ({ ...withInfo({ testPersons: 1 })(before), testPersons: 1 }),
    shown: { operation: "testPersons.list", text: "nameLast" }
  },
  {
    operation: "profile.change",
    input: { nameEcho: "nfd" },
    changes: withInfo({ profile: { ...Profile.defaultProfile, nameEcho: "nfd" } }),
    shown: { operation: "profile.get", text: "nfd" }
  },
  {
    operation: "profile.change",
    input: { preset: "hostile" },
    changes: withInfo({ profile: Profile.presets.hostile })
  },
  {
    operation: "faults.set",
    input: "aml:status=503:nth=2",
    changes: addingFault(unavailable),
    shown: { operation: "faults.list", text: "nth" }
  },
  { operation: "faults.set", input: unavailable, changes: addingFault(unavailable) },
  {
    operation: "faults.remove",
    input: { faultId: "f1" },
    changes: (before) => ({ ...withInfo({ faults: 0 })(before), faults: [] })
  },
  { operation: "faults.clear", changes: (before) => ({ ...withInfo({ faults: 0 })(before), faults: [] }) },
  {
    operation: "testPersons.set",
    input: [person, person],
    changes: (before) => ({ ...withInfo({ testPersons: 2 })(before), testPersons: 2 }),
    shown: { operation: "testPersons.list", text: "nameLast" }
  },
  { operation: "journal.clear", changes: (before) => ({ ...withInfo({ exchanges: 0 })(before), rules: [] }) }
]

/** Operations that show something, and what. */
const readings: ReadonlyArray<readonly [operation: string, input: unknown, text: string]> = [
  ["sessions.list", undefined, "demo-customer"],
  ["sessions.get", undefined, "2030-01-31"],
  ["clock.read", undefined, "2030-01-31"],
  ["faults.list", undefined, "f1"],
  ["testPersons.list", undefined, "[]"],
  ["profile.get", undefined, "tokenStatus"],
  ["tokens.list", undefined, "issuedAt"],
  ["journal.search", { operation: "token", status: 200 }, "/oauth/service"],
  ["journal.unmatched", { status: 401 }, "/oauth/service"],
  ["server.live", undefined, "true"],
  ["server.ready", undefined, "true"],
  ["server.metrics", undefined, "idv_mock_exchanges_total"],
  ["journal.verify", { kind: "exactly", n: 1, pattern: { operation: "token" } }, ""],
  ["journal.verifyUnmatched", { kind: "never", pattern: { status: 500 } }, ""]
]

const duration = "expected a number of milliseconds from 0, or a text such as \"2 seconds\""
const signed = "expected a number of milliseconds, or a text such as \"-2 seconds\""
const instant = "expected a time of the years 1 to 9999, such as 2026-01-31T12:00:00Z"
const changeable = SessionOptions.changeable.map(({ name }) => name).join(", ")

/** What no door accepts, and the sentence with which each refuses it. None repeats the value. */
const refusals: ReadonlyArray<readonly [operation: string, input: unknown, sentence: string]> = [
  ["clock.change", { set: "canary" }, `set is invalid: ${instant}`],
  ["clock.change", { set: "2026-02-30" }, `set is invalid: ${instant}`],
  ["clock.change", { advance: "-5 minutes" }, `advance is invalid: ${duration}`],
  ["clock.change", { advance: -5 }, `advance is invalid: ${duration}`],
  ["clock.change", { advance: "5 canaries" }, `advance is invalid: ${duration}`],
  ["clock.change", { advance: "infinity" }, `advance is invalid: ${duration}`],
  [
    "clock.change",
    { advance: "3000000 days" },
    "advance is invalid: expected a duration that ends before the year 10000"
  ],
  ["sessions.change", { clockSkew: "canary" }, `clockSkew is invalid: ${signed}`],
  ["sessions.change", { clockSkew: "-infinity" }, `clockSkew is invalid: ${signed}`],
  ["sessions.change", {}, `the value is invalid: expected an object with one or more of ${changeable}`],
  [
    "sessions.change",
    { profile: { tokenStatus: "canary" } },
    "profile.tokenStatus is invalid: expected one of \"200\""
  ],
  ["sessions.change", { faults: ["aml:hang", "aml:canary"] }, "faults.1.what.kind is invalid: expected one of latency"],
  ["sessions.change", { faults: "canary" }, "faults is invalid: expected a list of faults"],
  [
    "sessions.change",
    { faults: ["a", "b", "a"].map((id) => ({ id, on: "aml", what: { kind: "hang" } })) },
    "faults.2.id is invalid: expected an id that no earlier entry of the list has"
  ],
  ["sessions.change", { testPersons: "canary" }, "testPersons is invalid: expected a list of test persons"],
  ["sessions.change", { seed: 5 }, `seed is unexpected: expected one of ${changeable}`],
  ["profile.change", { tokenStatus: "canary" }, "tokenStatus is invalid: expected one of \"200\""],
  ["profile.change", { tokenstatus: "200" }, "tokenstatus is unexpected: expected one of preset, tokenField"],
  ["profile.change", { preset: "canary" }, "preset is invalid: expected one of \"default\", \"strict\", \"hostile\""],
  ["faults.set", "canary", "the value is invalid: expected on:what[=value][:when[=value]], such as aml:hang"],
  ["faults.set", "aml:canary", "what.kind is invalid: expected one of latency, status"],
  ["faults.set", "aml:status=99", "what.status is invalid: expected a whole number from 200 to 599"],
  [
    "faults.set",
    "aml:latency=99999999999 days",
    "what.distribution.delay is invalid: expected a number of milliseconds from 0 to"
  ],
  ["faults.set", { on: "canary", what: { kind: "hang" } }, "on is invalid: expected one of token, aml, both"],
  ["faults.set", { on: "token", what: { kind: "unknownMatch" } }, "on is invalid: expected aml for unknownMatch"],
  ["faults.set", { on: "aml", what: {} }, "what.kind is missing: expected one of latency"],
  [
    "faults.set",
    { on: "aml", what: { kind: "drip", evry: "canary" } },
    "what.evry is unexpected: expected one of kind, bytes, every"
  ],
  ["faults.set", { on: "aml", when: { kind: "nth", m: 1, n: 1 }, what: { kind: "hang" } }, "when.m is unexpected"],
  ["faults.set", { id: "a/canary", on: "aml", what: { kind: "hang" } }, "id is invalid: expected 1 to 64 letters"],
  ["faults.remove", { faultId: "f9" }, "There is no fault f9 in this session: list its faults for their ids"],
  ["testPersons.set", "canary", "expected a list of test persons"],
  [
    "testPersons.set",
    [{ match: { nameLast: "Testpep" }, response: "No" }],
    "0.match.nameLast is invalid: expected a last word that is not a reserved name"
  ],
  ["tokens.revoke", { token: ["canary"] }, "token is invalid: expected a token, as text"],
  ["tokens.revoke", { tokens: "canary" }, "tokens is unexpected: expected one of token"],
  ["journal.search", { status: "canary" }, "status is invalid: expected a status, a whole number from 100 to 599"],
  ["journal.search", { status: 99 }, "status is invalid: expected a status, a whole number from 100 to 599"],
  ["journal.search", { status: 600 }, "status is invalid: expected a status, a whole number from 100 to 599"],
  ["journal.search", { operation: "canary" }, "operation is invalid: expected one of token, aml, other"],
  [
    "journal.search",
    { stauts: 401 },
    "stauts is unexpected: expected one of operation, status, rule, fault, unexpected"
  ],
  ["journal.unmatched", { unexpected: "canary" }, "unexpected is invalid: expected true or false"],
  ["journal.verify", { kind: "canary" }, "kind is invalid: expected one of exactly, atLeast, never, inOrder"],
  ["journal.verify", { kind: "exactly", n: -1, pattern: {} }, "n is invalid: expected a whole number from 0"],
  [
    "journal.verify",
    { kind: "never", pattern: { rul: "canary" } },
    "pattern.rul is unexpected: expected one of operation"
  ],
  [
    "journal.verify",
    { kind: "never", pattern: {}, within: "canary" },
    "within is invalid: expected a number of milliseconds"
  ],
  ["journal.verifyUnmatched", {}, "kind is missing: expected one of exactly"],
  ["sessions.create", { customerId: "a:canary" }, "customerId is invalid: expected 1 to 128 visible characters"],
  ["sessions.create", { customerId: "x", seed: -1 }, "seed is invalid: expected a whole number from 0 to 4294967295"],
  [
    "sessions.create",
    { customerId: "x", sed: "canary" },
    "sed is unexpected: expected one of customerId, customerKey, seed"
  ],
  [
    "sessions.create",
    { customerId: "x", customerKey: "canary\n" },
    "customerKey is invalid: expected 1 to 256 characters"
  ]
]

const particular: ReadonlyArray<readonly [door: string, operation: string, input: string]> = [
  ["Control in process", "tokens.revoke", "tokens is unexpected"],
  ["Control over HTTP", "tokens.revoke", "tokens is unexpected"],
  ["the command line", "sessions.change", "faults is invalid"],
  ["the command line", "sessions.change", "testPersons is invalid"],
  ["the command line", "sessions.change", "seed is unexpected"],
  ["the command line", "profile.change", "tokenstatus is unexpected"],
  ["the command line", "journal.search", "stauts is unexpected"],
  ["the command line", "journal.unmatched", "unexpected is invalid"],
  ["the page", "sessions.change", "profile.tokenStatus"],
  ["the page", "sessions.change", "faults"],
  ["the page", "sessions.change", "testPersons"]
]

/** Rows that a door cannot express: a form or a flag has no lists, and no fields of its own choice. */
const isExpressible = (door: string, operation: string, input: unknown, sentence = ""): boolean =>
  !particular.some(([name, other, start]) => name === door && other === operation && sentence.startsWith(start)) &&
  !(door === "the command line" && JSON.stringify(input)?.includes("testPersons")) &&
  !(door === "the page" && operation === "sessions.change" && /profile|faults|testPersons/.test(JSON.stringify(input)))

const canary = /canary|canaries/

describe("Every door", () => {
  layer(MockServer.layer({ port: 0, seed: 7 }), { excludeTestServices: true })((it) => {
    const doors = Effect.gen(function*() {
      const server = yield* MockServer.MockServer
      const remote = yield* Effect.provide(Control.make({ url: server.url }), FetchHttpClient.layer)
      return [
        Doors.ofControl("Control in process", yield* Control.Control),
        Doors.ofControl("Control over HTTP", remote),
        Doors.http(server),
        Doors.command(server),
        Doors.mcp(server),
        Doors.page(server)
      ]
    })

    let sessions = 0

    /** Begins a session with the state of the table. */
    const begin = Effect.gen(function*() {
      const customerId = `test-doors-${++sessions}`
      const mine = (yield* Control.Control).session(customerId)
      yield* Effect.provide(tokenRequest(customerId), FetchHttpClient.layer)
      yield* Effect.provide(tokenRequest(`nobody-${sessions}`), FetchHttpClient.layer)
      yield* mine.freeze
      yield* mine.setTime("2030-01-31T12:00:00Z")
      yield* mine.fault({ on: "token", what: { kind: "html" }, when: { kind: "nth", n: 99 } })
      return { customerId, mine }
    })

    const stateOf = (
      session: Control.SessionControl
    ): Effect.Effect<State, Control.ControlUnavailable | ControlApi.ControlRefused | ControlApi.SessionUnknown> =>
      Effect.gen(function*() {
        const { clock: { frozen, now }, ...state } = yield* session.info
        const info = Struct.omit(state, "customerId")
        const faults = yield* session.faults
        return {
          now: frozen ? DateTime.formatIso(now) : DateTime.toPartsUtc(now).year === 2030 ? "2030, running" : "real",
          info: { ...info, frozen },
          faults: faults.map(({ fault, id }) => ({ id, fault: Fault.encode(fault) })),
          testPersons: (yield* session.testPersons).length,
          rules: (yield* session.journal()).entries.map(({ rule }) => rule)
        }
      })

    it.effect("has each operation, or is known not to have it", () =>
      Effect.gen(function*() {
        for (const { absent, name } of yield* doors) {
          deepStrictEqual(absent.filter((operation) => !Doors.names.includes(operation)), [], name)
        }
        const tested = [
          ...rows.map(({ operation }) => operation),
          ...readings.map(([operation]) => operation),
          "sessions.create",
          "sessions.reset",
          "sessions.remove",
          "tokens.revoke"
        ]
        deepStrictEqual(Doors.names.filter((name) => !tested.includes(name)), [])
        const changed = rows.filter(({ operation, shown }) => operation === "sessions.change" && shown !== undefined)
          .flatMap(({ input }) => Object.keys(Object(input)))
        deepStrictEqual(SessionOptions.changeable.map(({ name }) => name).filter((name) => !changed.includes(name)), [])
      }))

    it.effect.each(rows.map((row) => [`${row.operation} ${JSON.stringify(row.input) ?? ""}`, row] as const))(
      "sets, shows and resets alike: %s",
      ([, { changes, input, operation, shown }]) =>
        Effect.gen(function*() {
          for (const door of yield* doors) {
            if (door.absent.includes(operation) || !isExpressible(door.name, operation, input)) continue
            const { customerId, mine } = yield* begin
            const before = yield* stateOf(mine)
            const outcome = yield* door.call({ operation, customerId, input })
            strictEqual(outcome._tag, "Done", `${door.name}: ${JSON.stringify(outcome)}`)
            const expected = { ...before, ...changes(before) }
            deepStrictEqual(
              yield* stateOf(mine),
              expected.info.frozen || expected.now === "real" ? expected : { ...expected, now: "2030, running" },
              door.name
            )
            if (shown !== undefined && !door.absent.includes(shown.operation)) {
              const seen = yield* door.call({ operation: shown.operation, customerId })
              assertInclude(JSON.stringify(seen), shown.text)
            }
            const reset = yield* door.call({ operation: "sessions.reset", customerId })
            strictEqual(reset._tag, "Done", `${door.name}: ${JSON.stringify(reset)}`)
            const initial = yield* stateOf(mine)
            deepStrictEqual(initial, {
              now: "real",
              info: {
                seed: 7,
                clockSkew: 0,
                profile: Profile.defaultProfile,
                faults: 0,
                testPersons: 0,
                exchanges: 0,
                frozen: false
              },
              faults: [],
              testPersons: 0,
              rules: []
            }, door.name)
          }
        })
    )

    it.effect.each(readings)("shows alike: %s", ([operation, input, text]) =>
      Effect.gen(function*() {
        const { customerId } = yield* begin
        for (const door of yield* doors) {
          if (door.absent.includes(operation)) continue
          const outcome = yield* door.call({ operation, customerId, input })
          strictEqual(outcome._tag, "Done", `${door.name}: ${JSON.stringify(outcome)}`)
          assertInclude(JSON.stringify(outcome), text)
        }
      }))

    it.effect.each(refusals.map((refusal) => [refusal[0], JSON.stringify(refusal[1]), refusal] as const))(
      "refuses with the same sentence, and changes nothing: %s %s",
      ([, , [operation, input, sentence]]) =>
        Effect.gen(function*() {
          const { customerId, mine } = yield* begin
          const before = yield* stateOf(mine)
          for (const door of yield* doors) {
            if (door.absent.includes(operation) || !isExpressible(door.name, operation, input, sentence)) continue
            const outcome = yield* door.call({ operation, customerId, input })
            const text = outcome._tag === "Refused" ? outcome.sentence : "accepted"
            assertInclude(`${door.name}: ${text}`, sentence)
            strictEqual(canary.test(text), false, `${door.name}: ${text}`)
            deepStrictEqual(yield* stateOf(mine), before, door.name)
          }
        })
    )

    it.effect("says alike that a session does not exist, and begins none", () =>
      Effect.gen(function*() {
        const sentence = "There is no session of nobody: create it, or"
        const inputs = new Map<string, unknown>(
          [...readings.map(([operation, input]) => ({ operation, input })), ...rows.toReversed()]
            .map(({ input, operation }) => [operation, input])
        )
        for (const door of yield* doors) {
          if (door.name === "the page") continue
          for (const operation of Doors.names) {
            const isOfServer = /^server|sessions\.(list|create)|nmatched/.test(operation)
            if (isOfServer || door.absent.includes(operation)) continue
            const outcome = yield* door.call({ operation, customerId: "nobody", input: inputs.get(operation) })
            assertInclude(
              `${door.name} ${operation}: ${outcome._tag === "Refused" ? outcome.sentence : "accepted"}`,
              sentence
            )
          }
        }
      }))

    it.effect("creates and removes sessions, and revokes tokens", () =>
      Effect.gen(function*() {
        const control = yield* Control.Control
        for (const door of yield* doors) {
          if (door.absent.includes("sessions.create")) continue
          const customerId = `made-${++sessions}`
          const input = { customerId, customerKey: "a key", seed: 9, clockSkew: -5, profile: { tokenStatus: "201" } }
          assertInclude(JSON.stringify(yield* door.call({ operation: "sessions.create", customerId, input })), "-5")
          const { clockSkew, profile, seed } = yield* control.session(customerId).info
          deepStrictEqual([seed, clockSkew, profile.tokenStatus], [9, -5, "201"])
          const ask = Effect.map(
            Effect.provide(tokenRequest(customerId, "a key"), FetchHttpClient.layer),
            ({ status }) => status
          )
          strictEqual(yield* ask, 201)
          assertInclude(JSON.stringify(yield* door.call({ operation: "tokens.revoke", customerId, input: {} })), "1")
          strictEqual(yield* control.session(customerId).revokeTokens(Redacted.make("none")), 0)
          strictEqual(yield* control.session(customerId).revokeTokens(), 0)
          yield* door.call({ operation: "sessions.remove", customerId })
          strictEqual((yield* Effect.flip(control.session(customerId).info))._tag, "SessionUnknown")
        }
      }))
  })
})

describe("The clock skew of a session", () => {
  it.scopedLive("is set by the options, and shifts searched_on and the Date header, but no token", () =>
    Effect.gen(function*() {
      const services = yield* Layer.build(MockServer.layer({ port: 0, clockSkew: 86_400_000 }))
      const server = Context.get(services, MockServer.MockServer)
      const { session } = Context.get(services, Control.Control)
      const mine = session("test-skew")
      yield* mine.freeze
      yield* mine.setTime("2030-01-31T12:00:00Z")
      const at = <A, E>(effect: Effect.Effect<A, E, MockServer.MockServer | HttpClient.HttpClient>) =>
        effect.pipe(Effect.provideService(MockServer.MockServer, server), Effect.provide(FetchHttpClient.layer))
      const issued = yield* at(tokenRequest("test-skew"))
      strictEqual(issued.headers["date"], "Fri, 01 Feb 2030 12:00:00 GMT")
      const token: string = JSON.parse(issued.text).access_token
      const shown = Effect.map(at(check(token)), ({ headers, status, text }) => [
        status,
        headers["date"],
        status === 200 ? JSON.parse(text).credentials.attributes.searched_on : ""
      ])
      deepStrictEqual(yield* shown, [200, "Fri, 01 Feb 2030 12:00:00 GMT", "2030-02-01 12:00:00"])
      yield* mine.change({ clockSkew: "-1 hour" })
      deepStrictEqual(yield* shown, [200, "Thu, 31 Jan 2030 11:00:00 GMT", "2030-01-31 11:00:00"])
      yield* mine.advance("59 minutes")
      strictEqual((yield* shown)[0], 200)
      yield* mine.advance("1 minute")
      deepStrictEqual(yield* shown, [401, "Thu, 31 Jan 2030 12:00:00 GMT", ""])
    }))
})
