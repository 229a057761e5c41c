import { DateOfBirth } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { assertLeft, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Exit, Schema, TestClock } from "effect"
import { inspect } from "node:util"

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
    ["2027-01-01", "in_future"],
    ["9999-01-01", "in_future"],
    ["0001-01-01", "too_long_ago"],
    ["1896-11-19", "too_long_ago"],
    ["1896-11-20", "accepted"]
  ]
  it.effect.each(cases)("of %o is %s", ([input, expected]) =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      strictEqual(yield* codeOf(input), expected)
    }))

  it.effect("accepts a day as soon as it has begun at UTC+14, and not before", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T09:59:59Z")
      strictEqual(yield* codeOf("2026-11-21"), "in_future")
      yield* at("2026-11-20T10:00:00Z")
      strictEqual(yield* codeOf("2026-11-21"), "accepted")
    }))

  it.effect("is dd-mm-yyyy on the wire, in both directions", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const date = yield* DateOfBirth.make("1957-03-04")
      strictEqual(yield* Schema.encode(DateOfBirth.FromWire)(date), "04-03-1957")
      deepStrictEqual(yield* Schema.decode(DateOfBirth.FromWire)("04-03-1957"), date)
    }))

  it("refuses on the wire what is no day in that form", () => {
    for (const text of ["31-02-1990", "1990-02-01", "1-2-1990", "29-02-1900", "", "00-01-1990"]) {
      strictEqual(Either.isLeft(Schema.decodeEither(DateOfBirth.FromWire)(text)), true, text)
    }
  })

  it("says what it expects on the wire and not what was there, even in a ParseError", () => {
    const result = Schema.decodeEither(DateOfBirth.FromWire)("31-02-1990")
    strictEqual(String(Either.getOrThrow(Either.flip(result))), "Expected a date that exists, as dd-mm-yyyy")
  })

  it.effect("does not print itself", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const date = yield* DateOfBirth.make("1957-03-14")
      const printed = [String(date), JSON.stringify(date), inspect(date), inspect({ date }, { showHidden: true })]
        .join()
      strictEqual(/1957|14/.test(printed), false, printed)
    }))

  it.effect("stays assumed when it is made again, also from a copy", () =>
    Effect.gen(function*() {
      yield* at("2026-11-20T00:00:00Z")
      const assumed = yield* DateOfBirth.assumed(1957)
      deepStrictEqual(
        (yield* Effect.all([DateOfBirth.make(assumed), DateOfBirth.make({ ...assumed })])).map(({ known }) => known),
        ["year", "year"]
      )
    }))

  it.effect("reports one issue, of the field dateOfBirth", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(DateOfBirth.make("never"))
      strictEqual(Exit.isFailure(exit), true)
      const result = yield* Effect.either(DateOfBirth.make("never"))
      assertLeft(Either.mapLeft(result, ({ issues }) => issues.map(({ code, field }) => [field, code])), [
        ["dateOfBirth", "format"]
      ])
    }))
})
