import { Conformance, Contract } from "@effect-idv/contract"
import { Violation } from "@effect-idv/core"
import { Control, Fault, MockServer, Session, Verification } from "@effect-idv/mock-server"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Effect, Either, Layer } from "effect"
import * as Settings from "../src/internal/command/settings.ts"

/** The first duration, in milliseconds, that a timer cannot wait. */
const tooLong = 2 ** 31

const range = (least: number) => `from ${least} to 2147483647`

describe("A duration that a timer cannot wait", () => {
  const start = (options: MockServer.Options) =>
    Effect.scoped(Layer.build(MockServer.layer({ port: 0, ...options }))).pipe(
      Effect.match({ onFailure: ({ message }) => message, onSuccess: () => "started" })
    )

  it.live.each<[MockServer.Options, string]>([
    [{ gracePeriod: tooLong }, `gracePeriod should be a duration ${range(0)} ms (24.8 days)`],
    [{ gracePeriod: Infinity }, "gracePeriod should be"],
    [{ gracePeriod: -1 }, "gracePeriod should be"],
    [{ requestTimeout: "25 days" }, `requestTimeout should be a duration ${range(1)} ms (24.8 days)`],
    [{ requestTimeout: Infinity }, "requestTimeout should be"],
    [{ requestTimeout: 0 }, "requestTimeout should be"],
    [{ requestTimeout: "-5 seconds" }, "requestTimeout should be"],
    [{ gracePeriod: tooLong - 1, requestTimeout: "24 days" }, "started"]
  ])("is refused by the server: %o", ([options, expected]) =>
    Effect.gen(function*() {
      assert.include(yield* start(options), expected)
    }))

  it.each(["gracePeriod", "requestTimeout"])("is refused as %s of the command line", (field) => {
    const decode = Violation.decodeUnknown(Settings.Settings)
    strictEqual(Either.isRight(decode({ [field]: tooLong - 1 })), true)
    for (const wait of [tooLong, "25 days", Infinity, "60 days"]) {
      const refused = decode({ [field]: wait })
      assert(Either.isLeft(refused))
      strictEqual(refused.left[0].path, field)
    }
  })

  it("is refused in a drip fault and in an expectation", () => {
    const isDrip = (every: unknown) =>
      Either.isRight(Violation.decodeUnknown(Fault.Fault)({ on: "aml", what: { kind: "drip", every } }))
    const isExpectation = (within: unknown) =>
      Either.isRight(Violation.decodeUnknown(Verification.Expectation)({ kind: "exactly", n: 1, pattern: {}, within }))
    for (const isTaken of [isDrip, isExpectation]) {
      deepStrictEqual([tooLong - 1, tooLong, "24 days", "25 days"].map(isTaken), [true, false, true, false])
    }
  })

  it.effect.each<[Partial<Conformance.Target>, string]>([
    [{ deadline: tooLong }, `deadline should be a duration ${range(1)} ms`],
    [{ deadline: Infinity }, "deadline should be"],
    [{ deadline: 0 }, "deadline should be"],
    [{ spacing: "25 days" }, `spacing should be a duration ${range(0)} ms`]
  ])(
    "is a defect of a conformance run that names it, before anything is sent: %o",
    ([options, expected]) =>
      Effect.gen(function*() {
        const { options: addresses } = yield* MockServer.MockServer
        const target: Conformance.Target = { kind: "mock", ...addresses, ...options }
        const reference = yield* Contract.load()
        for (const run of [Conformance.requireMockServer(target), Conformance.verify(target, reference)]) {
          assert.include(Cause.pretty(yield* Effect.flip(Effect.sandbox(run))), `TypeError: ${expected}`)
        }
      }).pipe(Effect.provide(Layer.merge(MockServer.layerHttpClient, NodeFileSystem.layer)))
  )

  it.effect("is accepted as a span of a session's time, whose clock can be moved", () =>
    Effect.gen(function*() {
      const { customerId } = Session.testCustomer("test-sixty-days")
      const { create, session } = yield* Control.Control
      yield* create({ customerId })
      const { advance, fault } = session(customerId)
      yield* fault({ on: "aml", what: { kind: "empty" }, when: { kind: "window", for: "60 days" }, ttl: "90 days" })
      const { now } = yield* advance("60 days")
      assert(now !== undefined)
    }).pipe(Effect.provide(Layer.merge(MockServer.layerHttpClient, NodeFileSystem.layer))))
})
