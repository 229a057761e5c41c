/** Broken connections, with the production HTTP client on a socket, and 429 responses, with the TestClock. */
import type { Fault } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect } from "effect"
import { type Entry, Message } from "./onboard.ts"
import * as TestEnvironment from "./testEnvironment.ts"

type FaultKind = typeof Fault.What.Encoded

const brokenConnections: ReadonlyArray<readonly [string, FaultKind, Pick<Entry, "next" | "reason">]> = [
  ["reset before the response", { kind: "reset", at: "headers" }, { next: "reconcile", reason: "AmlUnavailable" }],
  ["reset in the response", { kind: "reset", at: "body" }, { next: "retry", reason: "AmlUnavailable" }],
  ["closed before the response", { kind: "fin", at: "headers" }, { next: "reconcile", reason: "AmlUnavailable" }],
  ["closed in the response", { kind: "truncation" }, { next: "retry", reason: "AmlUnavailable" }],
  ["without a response", { kind: "hang" }, { next: "reconcile", reason: "AmlTimeout" }],
  ["with a response that is not HTTP", { kind: "randomBytes" }, { next: "reconcile", reason: "AmlUnavailable" }]
]

describe("A potential match never becomes a No over a connection that is", () => {
  it.live.each(brokenConnections)("%s", ([, what, { next, reason }]) =>
    Effect.gen(function*() {
      const { fault, verify } = yield* TestEnvironment.session
      yield* fault({ on: "aml", what })
      const { entry, message, otherEntries } = yield* TestEnvironment.onboardAndReadCase(
        TestEnvironment.applicant("Testpep")
      )
      deepStrictEqual(message, Message.Pending())
      deepStrictEqual({ next: entry?.next, reason: entry?.reason }, { next, reason })
      deepStrictEqual(otherEntries, [])
      // The service may have performed and billed the check, so the client does not send it again.
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "aml" } })
    }).pipe(
      Effect.provide(TestEnvironment.layerOnSocket({ deadline: what.kind === "hang" ? "3 seconds" : "30 seconds" }))
    ))

  it.live("refused", () =>
    Effect.gen(function*() {
      const { entry } = yield* TestEnvironment.onboardAndReadCase(TestEnvironment.applicant("Testpep"))
      deepStrictEqual(entry, { reference: "Testpep", next: "retry", reason: "TokenEndpointUnavailable" })
    }).pipe(
      Effect.provide(
        TestEnvironment.layerOnSocket({
          authUrl: "http://127.0.0.1:1",
          baseUrl: "http://127.0.0.1:1"
        })
      )
    ))
})

describe("After a 429, the client", () => {
  const limited = (seconds: number): typeof Fault.Fault.Encoded => ({
    on: "aml",
    when: { kind: "first", n: 1 },
    what: { kind: "status", status: 429, retryAfter: { kind: "seconds", seconds } }
  })

  it.effect("retries once the time in Retry-After has passed, and not earlier", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      const { fault, verify } = yield* TestEnvironment.session
      yield* fault(limited(7))
      const startedAt = yield* Clock.currentTimeMillis
      const { message } = yield* TestEnvironment.runWithClock(
        TestEnvironment.onboardAndReadCase(TestEnvironment.applicant("Testclear"))
      )
      deepStrictEqual(message, Message.Welcome())
      strictEqual((yield* Clock.currentTimeMillis) - startedAt >= 7000, true)
      yield* verify({ kind: "exactly", n: 2, pattern: { operation: "aml" } })
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))

  it.effect("fails at once if the wait would exceed the deadline", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      const { fault, verify } = yield* TestEnvironment.session
      yield* fault(limited(120))
      const { entry, message } = yield* TestEnvironment.runWithClock(
        TestEnvironment.onboardAndReadCase(TestEnvironment.applicant("Testclear"))
      )
      deepStrictEqual(message, Message.Pending())
      deepStrictEqual(entry, { reference: "Testclear", next: "retry", reason: "AmlRateLimited" })
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "aml" } })
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))
})
