import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { Message } from "./onboard.ts"
import * as TestEnvironment from "./testEnvironment.ts"

describe("The message to an applicant", () => {
  it.effect("is a welcome if the service returned No", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      const { entry, message, otherEntries } = yield* TestEnvironment.onboardAndReadCase(
        TestEnvironment.applicant("Testclear")
      )
      deepStrictEqual(message, Message.Welcome())
      strictEqual(entry?.next, "open")
      assertTrue(entry?.checkId !== undefined)
      deepStrictEqual(otherEntries, [])
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))

  it.effect.each(["Testclear, Zoë", "Zo\u00c3\u00ab Testclear"])(
    "is to wait for %s: the service returned No, but the name looks damaged and goes to review",
    (name) =>
      Effect.gen(function*() {
        yield* TestEnvironment.setClock
        const { entry, message } = yield* TestEnvironment.onboardAndReadCase({
          ...TestEnvironment.applicant("Testclear"),
          name
        })
        deepStrictEqual(message, Message.Pending())
        deepStrictEqual([entry?.next, entry?.reason], ["review", "DoubtfulNo"])
      }).pipe(Effect.provide(TestEnvironment.layerInProcess()))
  )

  it.effect.each(["Testpep", "Testsanc"])(
    "is to wait for %s, who is a potential match and goes to review",
    (lastName) =>
      Effect.gen(function*() {
        yield* TestEnvironment.setClock
        const { entry, message } = yield* TestEnvironment.onboardAndReadCase(TestEnvironment.applicant(lastName))
        deepStrictEqual(message, Message.Pending())
        strictEqual(entry?.next, "review")
      }).pipe(Effect.provide(TestEnvironment.layerInProcess()))
  )

  it.effect("is byte-identical for a potential match and for an outage of the service", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      const match = yield* TestEnvironment.onboardAndReadCase(TestEnvironment.applicant("Testpep"))
      const outage = yield* TestEnvironment.runWithClock(
        TestEnvironment.onboardAndReadCase(TestEnvironment.applicant("Test500"))
      )
      strictEqual(JSON.stringify(match.message), JSON.stringify(outage.message))
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))

  it.effect("lists the fields to correct if the input is invalid, and the consumer sends no request", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      const { entry, message } = yield* TestEnvironment.onboardAndReadCase({
        reference: "typo",
        name: "N/A",
        dateOfBirth: "1990-02-31"
      })
      deepStrictEqual(
        Message.$is("Correction")(message) ? message.issues.map(({ code, field }) => [field, code]) : message,
        [["name", "placeholder"], ["dateOfBirth", "no_such_date"]]
      )
      deepStrictEqual(entry, { reference: "typo", next: "correct", reason: "AmlInputRejected" })
      yield* Effect.flatMap(TestEnvironment.session, ({ verify }) => verify({ kind: "never", pattern: {} }))
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))
})

describe("The case file", () => {
  it.effect("contains neither names nor dates of birth", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      for (const lastName of ["Testclear", "Testpep", "Testecho", "Testunknown", "Test500"]) {
        yield* TestEnvironment.runWithClock(
          TestEnvironment.onboardAndReadCase({ ...TestEnvironment.applicant(lastName), reference: "case" })
        )
      }
      const entries = yield* Effect.flatten(TestEnvironment.Entries)
      strictEqual(entries.length, 5)
      const text = JSON.stringify(entries)
      deepStrictEqual(["Zoë", "Test", "1957", "03-14", "14-03"].filter((canary) => text.includes(canary)), [])
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))
})
