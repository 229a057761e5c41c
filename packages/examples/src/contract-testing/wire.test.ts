/** What only a socket can break, with the HTTP client of production; and waits, in no time at all. */
import type { Fault } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect } from "effect"
import * as Bank from "./bank.ts"
import { Answer, type Entry } from "./onboard.ts"

type What = (typeof Fault.Fault.Encoded)["what"]

const broken: ReadonlyArray<readonly [string, What, Pick<Entry, "because" | "next">]> = [
  ["reset before the answer", { kind: "reset", at: "headers" }, { next: "reconcile", because: "AmlUnavailable" }],
  ["reset in the answer", { kind: "reset", at: "body" }, { next: "retry", because: "AmlUnavailable" }],
  ["closed before the answer", { kind: "fin", at: "headers" }, { next: "reconcile", because: "AmlUnavailable" }],
  ["closed in the answer", { kind: "truncation" }, { next: "retry", because: "AmlUnavailable" }],
  ["silent", { kind: "hang" }, { next: "reconcile", because: "AmlTimeout" }],
  ["no HTTP", { kind: "randomBytes" }, { next: "reconcile", because: "AmlUnavailable" }]
]

describe("Of a listed person, nobody takes a connection for a No that is", () => {
  it.live.each(broken)("%s", ([, what, { because, next }]) =>
    Effect.gen(function*() {
      const { fault, verify } = yield* Bank.session
      yield* fault({ on: "aml", what })
      const { answer, entry, others } = yield* Bank.onboarded(Bank.applicant("Testpep"))
      deepStrictEqual(answer, Answer.Pending())
      deepStrictEqual({ because: entry?.because, next: entry?.next }, { because, next })
      deepStrictEqual(others, [])
      // It may have been performed, and billed: it is not sent again.
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "aml" } })
    }).pipe(Effect.provide(Bank.layerOnSocket({ deadline: what.kind === "hang" ? "3 seconds" : "30 seconds" }))))

  it.live("refused: the service is not there", () =>
    Effect.gen(function*() {
      const { entry } = yield* Bank.onboarded(Bank.applicant("Testpep"))
      deepStrictEqual(entry, { reference: "Testpep", next: "retry", because: "TokenEndpointUnavailable" })
    }).pipe(
      Effect.provide(
        Bank.layerOnSocket({
          authUrl: "http://127.0.0.1:1",
          baseUrl: "http://127.0.0.1:1"
        })
      )
    ))
})

describe("A service with too many requests", () => {
  const limited = (seconds: number): typeof Fault.Fault.Encoded => ({
    on: "aml",
    when: { kind: "first", n: 1 },
    what: { kind: "status", status: 429, retryAfter: { kind: "seconds", seconds } }
  })

  it.effect("is asked again after the time that it asked for, and not before", () =>
    Effect.gen(function*() {
      yield* Bank.today
      const { fault, verify } = yield* Bank.session
      yield* fault(limited(7))
      const begun = yield* Clock.currentTimeMillis
      const { answer } = yield* Bank.inTime(Bank.onboarded(Bank.applicant("Testclear")))
      deepStrictEqual(answer, Answer.Welcome())
      strictEqual((yield* Clock.currentTimeMillis) - begun >= 7000, true)
      yield* verify({ kind: "exactly", n: 2, pattern: { operation: "aml" } })
    }).pipe(Effect.provide(Bank.layerInProcess())))

  it.effect("is not waited for longer than a check may take", () =>
    Effect.gen(function*() {
      yield* Bank.today
      const { fault, verify } = yield* Bank.session
      yield* fault(limited(120))
      const { answer, entry } = yield* Bank.inTime(Bank.onboarded(Bank.applicant("Testclear")))
      deepStrictEqual(answer, Answer.Pending())
      deepStrictEqual(entry, { reference: "Testclear", next: "retry", because: "AmlRateLimited" })
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "aml" } })
    }).pipe(Effect.provide(Bank.layerInProcess())))
})
