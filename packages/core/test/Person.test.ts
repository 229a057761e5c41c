import { Person, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { assertLeft, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Equal, Schema, TestClock } from "effect"

const encode = Schema.encode(Schema.parseJson(Person.RequestBody))
const decode = Violation.decodeUnknown(Person.RequestBody, { onExcessProperty: "error" })

describe("Person", () => {
  it.effect("is sent as exactly the three documented fields, in UTF-8", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-11-20"))
      const person = yield* Person.make({ name: " Zoë  Testpep", dateOfBirth: "1957-03-14" })
      strictEqual(
        yield* encode(Person.toRequestBody(person)),
        "{\"entity_type\":\"person\",\"name\":\"Zoë Testpep\",\"dob\":\"14-03-1957\"}"
      )
    }))

  it.effect("reports the issues of both fields at once", () =>
    Effect.gen(function*() {
      const result = yield* Effect.either(Person.make({ name: "A\u0000d\u200ba\n", dateOfBirth: "31-02-1990" }))
      assertLeft(Either.mapLeft(result, ({ issues }) => issues.map(String)), [
        "name at 1: a control character or line break (control_character)",
        "name at 3: an invisible character (invisible_character)",
        "dateOfBirth: it is not in the form year-month-day, such as 1990-02-01 (format)"
      ])
    }))

  it.effect("reports the only invalid field", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-11-20"))
      const codes = (name: string, dateOfBirth: string) =>
        Person.make({ name, dateOfBirth }).pipe(
          Effect.match({ onFailure: ({ issues }) => issues.map(({ code }) => code), onSuccess: () => [] })
        )
      deepStrictEqual(yield* codes("", "1990-02-01"), ["empty"])
      deepStrictEqual(yield* codes("Ada", "1990-02-30"), ["no_such_date"])
      deepStrictEqual(yield* codes("Ada", "1990-02-01"), [])
    }))

  it.effect("is equal to the same person", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-11-20"))
      const a = yield* Person.make({ name: "Ada", dateOfBirth: "1990-02-01" })
      const b = yield* Person.make({ name: "Ada ", dateOfBirth: { year: 1990, month: 2, day: 1 } })
      strictEqual(Equal.equals(a, b), true)
    }))

  it("is rejected on the wire with paths and expectations only", () => {
    const result = decode({ entity_type: "company", name: " ", dob: "canary", canary: 1 })
    assertLeft(Either.mapLeft(result, (violations) => violations.map(String)), [
      "canary is unexpected: expected no such field",
      "entity_type is invalid: expected \"person\"",
      "name is invalid: expected a full name",
      "dob is invalid: expected a date that exists, as dd-mm-yyyy"
    ])
  })
})
