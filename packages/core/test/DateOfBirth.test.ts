import { DateOfBirth, Person, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { assertLeft, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Arbitrary, Effect, Either, Exit, FastCheck, Schema, TestClock } from "effect"
import { inspect } from "node:util"
import * as Ada from "./support/ada.ts"

const codeOf = (input: DateOfBirth.Input) =>
  DateOfBirth.make(input).pipe(
    Effect.match({ onFailure: ({ issues }) => issues[0].code, onSuccess: () => "accepted" })
  )

const at = (iso: string) => TestClock.setTime(Date.parse(iso))

describe("DateOfBirth", () => {
  const cases: ReadonlyArray<readonly [DateOfBirth.Input, string]> = [
    ["1990-02-01", "accepted"],
    [{ year: 1990, month: 2, day: 1 }, "accepted"],
    ["2000-02-29", "accepted"],
    ["1900-02-29", "no_such_date"],
    ["1904-02-29", "accepted"],
    ["2023-02-29", "no_such_date"],
    ["1990-02-31", "no_such_date"],
    ["1990-04-31", "no_such_date"],
    ["1990-12-31", "accepted"],
    ["1990-13-01", "no_such_date"],
    ["1990-00-10", "incomplete"],
    ["1990-01-00", "incomplete"],
    [{ year: 1990, month: 2.5, day: 1 }, "format"],
    [{ year: Number.NaN, month: 2, day: 1 }, "format"],
    ["03/04/1980", "format"],
    ["01-02-1990", "format"],
    ["1990-2-1", "format"],
    [" 1990-02-01", "format"],
    ["1990-02-01T00:00:00Z", "format"],
    ["19900201", "format"],
    ["", "format"],
    ["1369-05-20", "other_calendar"],
    ["1403-02-30", "other_calendar"],
    ["2433-01-01", "other_calendar"],
    ["2533-01-01", "other_calendar"],
    ["2026-10-25", "accepted"],
    ["2026-12-01", "in_future"],
    ["2027-01-01", "in_future"],
    ["9999-01-01", "in_future"],
    ["0001-01-01", "too_long_ago"],
    ["1896-11-19", "too_long_ago"],
    ["1299-12-31", "too_long_ago"],
    ["1300-01-01", "other_calendar"],
    ["1499-12-31", "other_calendar"],
    ["1500-01-01", "too_long_ago"],
    ["2399-12-31", "in_future"],
    ["2400-01-01", "other_calendar"],
    ["2599-12-31", "other_calendar"],
    ["2600-01-01", "in_future"],
    ["1990", "incomplete"],
    ["1990-02", "incomplete"],
    ["1990-00-00", "incomplete"],
    ["1990-xx-01", "incomplete"],
    ["1990-XX-??", "incomplete"],
    ["1990-02-??", "incomplete"],
    ["1990-??-XX", "incomplete"],
    ["x1990", "format"],
    ["1990-02-011", "format"],
    ["11990-02-01", "format"],
    ["1990-0-01", "format"],
    [{ year: 1990, month: 0, day: 1 }, "incomplete"],
    [{ year: 1990, month: 1, day: 0 }, "incomplete"],
    [{ year: 1990, month: -1, day: 1 }, "no_such_date"],
    [{ year: 1990, month: 1, day: -1 }, "no_such_date"],
    [{ year: 1990, month: 1, day: 1.5 }, "format"],
    [{ year: 10_000, month: 1, day: 1 }, "no_such_date"],
    ["1896-11-20", "accepted"]
  ]
  it.effect.each(cases)("of %o is %s", ([input, expected]) =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      strictEqual(yield* codeOf(input), expected)
    }))

  const lastDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  it.effect.each(lastDays.map((last, index) => [index + 1, last] as const))(
    "month %d ends on day %d",
    ([month, last]) =>
      Effect.gen(function*() {
        yield* at("2026-11-20T00:00:00Z")
        strictEqual(yield* codeOf({ year: 1990, month, day: last }), "accepted")
        strictEqual(yield* codeOf({ year: 1990, month, day: last + 1 }), "no_such_date")
      })
  )

  it.effect("of more than 110 years ago is accepted with a warning", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const codes = (iso: string) =>
        Effect.map(Effect.flatMap(DateOfBirth.make(iso), DateOfBirth.warnings), (warnings) => warnings.map(String))
      deepStrictEqual(yield* codes("1916-11-19"), ["dateOfBirth: the date is more than 110 years ago (very_old)"])
      deepStrictEqual(yield* codes("1916-11-20"), [])
    }))

  it.effect("with only a known year cannot be encoded as ISO, and the error says why", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const encode = Schema.encode(DateOfBirth.FromIso)
      strictEqual(yield* encode(yield* DateOfBirth.make("1957-03-04")), "1957-03-04")
      const error = yield* Effect.flip(encode(yield* DateOfBirth.assumed(1957)))
      strictEqual(error.message, "Expected a date whose day and month are known")
      const decoded = yield* Effect.flip(Schema.decode(DateOfBirth.FromIso)("1957-02-30"))
      strictEqual(decoded.message, "Expected a date of birth that can be screened, as yyyy-mm-dd")
    }))

  it.effect("without a day or a month is incomplete, and text around an incomplete date is not", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      for (const parts of ["{\"year\":1990,\"month\":2}", "{\"year\":1990,\"day\":2}"]) {
        strictEqual(yield* codeOf(JSON.parse(parts)), "incomplete")
      }
      deepStrictEqual(
        yield* Effect.forEach(["1990-02-00", "11990-02-00", "1990-02-000", "1990-00-01x"], codeOf),
        ["incomplete", "format", "format", "format"]
      )
    }))

  it("that is invalid is described by its schema", () => {
    const violationsOf = <A, I>(schema: Schema.Schema<A, I>, input: unknown) =>
      Either.match(Violation.decodeUnknown(schema)(input), {
        onLeft: (violations) => violations.map(({ expected }) => expected),
        onRight: () => []
      })
    strictEqual(String(DateOfBirth.DateOfBirth), "DateOfBirth")
    const ofNumber = Either.flip(Schema.decodeUnknownEither(DateOfBirth.FromIso)(19310729))
    strictEqual(Either.getOrThrow(ofNumber).message, "Expected a date of birth that can be screened, as yyyy-mm-dd")
    deepStrictEqual(violationsOf(DateOfBirth.DateOfBirth, "x"), ["a date of birth"])
    deepStrictEqual(violationsOf(DateOfBirth.FromIso, "1990-02-30"), [
      "a date of birth that can be screened, as yyyy-mm-dd"
    ])
    deepStrictEqual(violationsOf(DateOfBirth.FromWire, "01-02-19900"), ["a date that exists, as dd-mm-yyyy"])
  })

  it("has an Arbitrary of existing days of living people", () => {
    FastCheck.assert(FastCheck.property(Arbitrary.make(DateOfBirth.DateOfBirth), (date) => {
      const { day, known, month, year } = date
      const wire = Schema.encodeSync(DateOfBirth.FromWire)(date)
      deepStrictEqual(Schema.decodeSync(DateOfBirth.FromWire)(wire), date)
      strictEqual(year >= 1920 && year <= 2024 && month >= 1 && day >= 1 && known === "day", true)
    }))
  })

  it.effect("accepts a day as soon as it has started at UTC+14, and not before", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T09:59:59Z")
      strictEqual(yield* codeOf("2026-11-21"), "in_future")
      yield* at("2026-11-20T10:00:00Z")
      strictEqual(yield* codeOf("2026-11-21"), "accepted")
    }))

  it.effect("is encoded and decoded as dd-mm-yyyy", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const date = yield* DateOfBirth.make("1957-03-04")
      strictEqual(yield* Schema.encode(DateOfBirth.FromWire)(date), "04-03-1957")
      deepStrictEqual(yield* Schema.decode(DateOfBirth.FromWire)("04-03-1957"), date)
    }))

  it("rejects other formats and days that do not exist on the wire", () => {
    for (
      const text of [
        "31-02-1990",
        "1990-02-01",
        "1-2-1990",
        "29-02-1900",
        "",
        "00-01-1990",
        "01-01-0000",
        "x01-01-1990"
      ]
    ) {
      strictEqual(Either.isLeft(Schema.decodeEither(DateOfBirth.FromWire)(text)), true, text)
    }
  })

  it("reports what it expects on the wire and not the value, even in a ParseError", () => {
    const result = Schema.decodeEither(DateOfBirth.FromWire)("31-02-1990")
    strictEqual(String(Either.getOrThrow(Either.flip(result))), "Expected a date that exists, as dd-mm-yyyy")
  })

  it.effect("is redacted when printed", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const date = yield* DateOfBirth.make("1957-03-14")
      deepStrictEqual([String(date), JSON.stringify(date), inspect(date)], [
        "DateOfBirth(<redacted>)",
        "\"<redacted>\"",
        "DateOfBirth(<redacted>)"
      ])
      const printed = inspect({ date }, { showHidden: true })
      strictEqual(/1957|14/.test(printed), false, printed)
    }))

  it.effect("keeps known: year when it is made again, also from a copy", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const assumed = yield* DateOfBirth.assumed(1957)
      deepStrictEqual(
        (yield* Effect.all([DateOfBirth.make(assumed), DateOfBirth.make({ ...assumed })])).map(({ known }) => known),
        ["year", "year"]
      )
    }))

  const contradictions: ReadonlyArray<DateOfBirth.Parts> = [
    { year: 1957, month: 3, day: 14, known: "year" },
    { year: 1957, month: 1, day: 14, known: "year" },
    { year: 1957, month: 3, day: 1, known: "year" },
    { year: 1957, month: 2, day: 30, known: "year" }
  ]
  it.effect.each(contradictions)(
    "%o is contradictory, because a date with only a known year is sent as 1 January",
    (parts) =>
      Effect.gen(function*() {
        yield* at("2026-11-20T00:00:00Z")
        strictEqual(yield* codeOf(parts), "contradictory")
        const error = yield* Effect.flip(Person.make({ ...Ada.input, dateOfBirth: parts }))
        deepStrictEqual(error.issues.map(String), [
          "dateOfBirth: the day and the month are marked as unknown, but are not 1 January (contradictory)"
        ])
      })
  )

  it.effect.each(["Year", "month", "", 0, true, null])(
    "a date with known: %o has an invalid format",
    (known) =>
      Effect.gen(function*() {
        yield* at("2026-11-20T00:00:00Z")
        strictEqual(yield* codeOf(JSON.parse(JSON.stringify({ year: 1957, month: 1, day: 1, known }))), "format")
      })
  )

  it.effect("with null as a part is incomplete", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      for (const part of ["month", "day"]) {
        const parts = { year: 1957, month: 1, day: 1, [part]: null }
        strictEqual(yield* codeOf(JSON.parse(JSON.stringify(parts))), "incomplete")
      }
    }))

  it.effect("has the change assumed exactly if only its year is known", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const inputs: ReadonlyArray<DateOfBirth.Input> = [
        { year: 1957, month: 1, day: 1, known: "year" },
        { year: 1957, month: 1, day: 1, known: "day" },
        { year: 1957, month: 3, day: 14, known: "day" },
        "1957-01-01",
        yield* DateOfBirth.assumed(1957)
      ]
      const people = yield* Effect.forEach(inputs, (dateOfBirth) => Person.make({ name: "Ada", dateOfBirth }))
      deepStrictEqual(
        people.map((person) => [
          Schema.encodeSync(Person.RequestBody)(Person.toRequestBody(person)).dob,
          person.changes.map(({ code }) => code)
        ]),
        [
          ["01-01-1957", ["assumed"]],
          ["01-01-1957", []],
          ["14-03-1957", []],
          ["01-01-1957", []],
          ["01-01-1957", ["assumed"]]
        ]
      )
    }))

  it.effect("reads each part once", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      let readings = 0
      const parts = {
        year: 1957,
        month: 1,
        known: "year" as const,
        get day() {
          return ++readings === 1 ? 1 : 14
        }
      }
      const person = yield* Person.make({ name: "Ada", dateOfBirth: parts })
      deepStrictEqual([person.dateOfBirth.day, person.changes.map(({ code }) => code)], [1, ["assumed"]])
    }))

  it.effect("reports one issue for the field dateOfBirth", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(DateOfBirth.make("never"))
      strictEqual(Exit.isFailure(exit), true)
      const result = yield* Effect.either(DateOfBirth.make("never"))
      assertLeft(Either.mapLeft(result, ({ issues }) => issues.map(({ code, field }) => [field, code])), [
        ["dateOfBirth", "format"]
      ])
    }))
})
