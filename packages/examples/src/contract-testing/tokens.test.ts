import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, TestClock } from "effect"
import * as Bank from "./bank.ts"
import { Answer } from "./onboard.ts"

const onboard = (lastWord: string) => Effect.map(Bank.onboarded(Bank.applicant(lastWord)), ({ answer }) => answer)

/** How many of each the service was asked for, so far. */
const expectAsked = Effect.fn(function*(asked: { readonly tokens: number; readonly checks: number }) {
  const { verify } = yield* Bank.session
  yield* verify({ kind: "exactly", n: asked.tokens, pattern: { operation: "token" } })
  yield* verify({ kind: "exactly", n: asked.checks, pattern: { operation: "aml" } })
})

describe("The access token", () => {
  it.effect("is one, for a hundred applicants at once", () =>
    Effect.gen(function*() {
      yield* Bank.today
      const answers = yield* Effect.all(Arr.makeBy(100, (n) => onboard(n % 2 === 0 ? "Testclear" : "Testpep")), {
        concurrency: "unbounded"
      })
      deepStrictEqual(answers, Arr.makeBy(100, (n) => n % 2 === 0 ? Answer.Welcome() : Answer.Pending()))
      yield* expectAsked({ tokens: 1, checks: 100 })
    }).pipe(Effect.provide(Bank.layerInProcess())))

  it.effect("is another one after an hour, and no check meets the old one", () =>
    Effect.gen(function*() {
      yield* Bank.today
      yield* onboard("Testclear")
      yield* TestClock.adjust("61 minutes")
      deepStrictEqual(yield* onboard("Testclear"), Answer.Welcome())
      yield* expectAsked({ tokens: 2, checks: 2 })
    }).pipe(Effect.provide(Bank.layerInProcess())))

  it.effect("is renewed, and the check sent once more, if it is too old by the clock of the service alone", () =>
    Effect.gen(function*() {
      yield* Bank.today
      yield* onboard("Testclear")
      const { advance, verify } = yield* Bank.session
      yield* advance("61 minutes")
      deepStrictEqual(yield* onboard("Testclear"), Answer.Welcome())
      yield* expectAsked({ tokens: 2, checks: 3 })
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "aml", status: 401 } })
    }).pipe(Effect.provide(Bank.layerInProcess())))

  it.effect("is renewed once for all who met one that was revoked", () =>
    Effect.gen(function*() {
      yield* Bank.today
      yield* onboard("Testclear")
      const { revokeTokens } = yield* Bank.session
      yield* revokeTokens()
      const answers = yield* Effect.all(Arr.replicate(onboard("Testclear"), 10), { concurrency: "unbounded" })
      deepStrictEqual(answers, Arr.replicate(Answer.Welcome(), 10))
      yield* Effect.flatMap(Bank.session, ({ verify }) =>
        verify({ kind: "exactly", n: 2, pattern: { operation: "token" } }))
    }).pipe(Effect.provide(Bank.layerInProcess())))
})
