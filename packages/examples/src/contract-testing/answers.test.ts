import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Bank from "./bank.ts"
import { Answer } from "./onboard.ts"

describe("What an applicant is told", () => {
  it.effect("is that they are welcome, if the service said No", () =>
    Effect.gen(function*() {
      yield* Bank.today
      const { answer, entry, others } = yield* Bank.onboarded(Bank.applicant("Testclear"))
      deepStrictEqual(answer, Answer.Welcome())
      strictEqual(entry?.next, "open")
      assertTrue(entry?.checkId !== undefined)
      deepStrictEqual(others, [])
    }).pipe(Effect.provide(Bank.layerInProcess())))

  it.effect.each(["Testclear, Zoë", "Zo\u00c3\u00ab Testclear"])(
    "is to wait, for %s, although the service said No: the name looks damaged, and a person reviews it",
    (name) =>
      Effect.gen(function*() {
        yield* Bank.today
        const { answer, entry } = yield* Bank.onboarded({ ...Bank.applicant("Testclear"), name })
        deepStrictEqual(answer, Answer.Pending())
        deepStrictEqual([entry?.next, entry?.because], ["review", "DoubtfulName"])
      }).pipe(Effect.provide(Bank.layerInProcess()))
  )

  it.effect.each(["Testpep", "Testsanc"])(
    "is to wait, for %s, who is a potential match and goes to review",
    (word) =>
      Effect.gen(function*() {
        yield* Bank.today
        const { answer, entry } = yield* Bank.onboarded(Bank.applicant(word))
        deepStrictEqual(answer, Answer.Pending())
        strictEqual(entry?.next, "review")
      }).pipe(Effect.provide(Bank.layerInProcess()))
  )

  it.effect("is the same, to the byte, for a potential match as for a service that is down", () =>
    Effect.gen(function*() {
      yield* Bank.today
      const listed = yield* Bank.onboarded(Bank.applicant("Testpep"))
      const down = yield* Bank.inTime(Bank.onboarded(Bank.applicant("Test500")))
      strictEqual(JSON.stringify(listed.answer), JSON.stringify(down.answer))
    }).pipe(Effect.provide(Bank.layerInProcess())))

  it.effect("is what to correct, if the service cannot be asked about them; it is not asked, nor for a token", () =>
    Effect.gen(function*() {
      yield* Bank.today
      const { answer, entry } = yield* Bank.onboarded({ reference: "typo", name: "N/A", dateOfBirth: "1990-02-31" })
      deepStrictEqual(
        Answer.$is("Correction")(answer) ? answer.issues.map(({ code, field }) => [field, code]) : answer,
        [["name", "placeholder"], ["dateOfBirth", "no_such_date"]]
      )
      deepStrictEqual(entry, { reference: "typo", next: "correct", because: "AmlInputRejected" })
      yield* Effect.flatMap(Bank.session, ({ verify }) => verify({ kind: "never", pattern: {} }))
    }).pipe(Effect.provide(Bank.layerInProcess())))
})

describe("The case file", () => {
  it.effect("has neither the name nor the date of birth", () =>
    Effect.gen(function*() {
      yield* Bank.today
      for (const word of ["Testclear", "Testpep", "Testecho", "Testunknown", "Test500"]) {
        yield* Bank.inTime(Bank.onboarded({ ...Bank.applicant(word), reference: "case" }))
      }
      const cases = yield* Effect.flatten(Bank.Cases)
      strictEqual(cases.length, 5)
      const text = JSON.stringify(cases)
      deepStrictEqual(["Zoë", "Test", "1957", "03-14", "14-03"].filter((canary) => text.includes(canary)), [])
    }).pipe(Effect.provide(Bank.layerInProcess())))
})
