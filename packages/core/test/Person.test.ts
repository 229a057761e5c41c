import { Person, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertLeft, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Arbitrary, Effect, Either, Equal, FastCheck, Hash, JSONSchema, Schema, TestClock } from "effect"

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
      strictEqual(Hash.hash(a), Hash.hash(b))
    }))

  it.effect("is not equal to a person of another name or date, nor to a copy", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-11-20"))
      const person = yield* Person.make({ name: "Ada", dateOfBirth: "1990-02-01" })
      const ofOtherName = yield* Person.make({ name: "Eva", dateOfBirth: "1990-02-01" })
      const ofOtherDate = yield* Person.make({ name: "Ada", dateOfBirth: "1990-02-02" })
      for (const other of [ofOtherName, ofOtherDate]) {
        strictEqual(person[Equal.symbol](other), false)
        strictEqual(Hash.hash(person) === Hash.hash(other), false)
      }
      strictEqual(person[Equal.symbol]({ ...person }), false)
    }))

  it.effect("has the changes and the warnings of both fields", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-11-20"))
      const person = yield* Person.make({ name: " FNU Singh", dateOfBirth: "1900-02-03" })
      deepStrictEqual(person.changes.map(({ code, field }) => [field, code]), [["name", "blanks_folded"]])
      deepStrictEqual(person.warnings.map(({ code, field }) => [field, code]), [
        ["name", "unknown_part"],
        ["dateOfBirth", "very_old"]
      ])
    }))

  it("is generated without changes and warnings", () => {
    for (const person of FastCheck.sample(Arbitrary.make(Person.Person), 20)) {
      deepStrictEqual([person.changes, person.warnings], [[], []])
    }
  })

  it("of invalid JSON input is reported by the messages of its fields", () => {
    const messageOf = (input: unknown) =>
      Either.match(Effect.runSync(Effect.either(Schema.decodeUnknown(Person.FromInput)(input))), {
        onLeft: ({ message }) => message,
        onRight: () => "decoded"
      })
    const message = messageOf({ name: 5 })
    assertInclude(message, "<-> Person)")
    assertInclude(message, "name: it is not text (not_text)")
    assertInclude(message, "dateOfBirth: it is not text (not_text)")
    assertInclude(messageOf("Ada"), "Expected a person, as { name, dateOfBirth }")
  })

  it("of invalid JSON input is described by what each field should be", () => {
    const violationsOf = <A, I>(schema: Schema.Schema<A, I>, input: unknown) =>
      Either.match(Violation.decodeUnknown(schema)(input), {
        onLeft: (violations) => violations.map(String),
        onRight: () => []
      })
    const invalid = [
      "name is invalid: expected a full name that can be screened",
      "dateOfBirth is invalid: expected a date of birth that can be screened, as yyyy-mm-dd"
    ]
    deepStrictEqual(violationsOf(Person.FromInput, { name: "?", dateOfBirth: "31.12.1990" }), invalid)
    deepStrictEqual(violationsOf(Person.FromInput, { name: 5, dateOfBirth: 5 }), invalid)
    deepStrictEqual(violationsOf(Person.FromInput, "Ada"), [
      "the value is invalid: expected a person, as { name, dateOfBirth }"
    ])
    deepStrictEqual(violationsOf(Person.Person, "Ada"), [
      "the value is invalid: expected a person that can be screened"
    ])
    const document = JSON.stringify(JSONSchema.make(Person.FromInput))
    for (const description of ["a person, as { name, dateOfBirth }", "a full name that can be screened"]) {
      assertInclude(document, description)
    }
  })

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
