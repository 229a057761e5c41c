import { Failure } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, TestClock } from "effect"
import * as RetryAfter from "../src/internal/wire/retryAfter.ts"
import { asksToWait, failsAfter, good, scripted } from "./support/scripted.ts"
import * as Service from "./support/service.ts"
import { get, provide, status } from "./support/tokens.ts"

/** A Friday. */
const now = Date.parse("2026-11-20T12:00:00Z")

const longest = 2 ** 31

describe("Retry-After on Fri, 20 Nov 2026 12:00:00 GMT", () => {
  it.effect.each<[string, number | undefined]>([
    // Seconds, with any number of digits.
    ["0", 0],
    ["7", 7],
    ["007", 7],
    ["86400", 86_400],
    ["2147483648", longest],
    ["2147483649", longest],
    ["99999999999", longest],
    ["-5", 0],
    // The preferred form of a date.
    ["Fri, 20 Nov 2026 12:00:30 GMT", 30],
    ["Sat, 21 Nov 2026 00:00:00 GMT", 43_200],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", longest],
    ["Thu, 31 Dec 2026 23:59:60 GMT", 41 * 86_400 + 43_200],
    // The form with a two-digit year.
    ["Friday, 20-Nov-26 12:00:30 GMT", 30],
    ["Saturday, 21-Nov-26 00:00:00 GMT", 43_200],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    ["Friday, 20-Nov-76 12:00:00 GMT", (Date.UTC(2076, 10, 20, 12) - now) / 1000],
    ["Friday, 20-Nov-76 12:00:01 GMT", 0],
    // The form of asctime, with a day of one digit after a blank.
    ["Fri Nov 20 12:00:30 2026", 30],
    ["Tue Dec  1 12:00:00 2026", 11 * 86_400],
    ["Sun Nov  6 08:49:37 1994", 0],
    // Another weekday than that of the date.
    ["Mon, 20 Nov 2026 12:00:30 GMT", 30],
    ["Monday, 20-Nov-26 12:00:30 GMT", 30],
    ["Mon Nov 20 12:00:30 2026", 30],
    // Days and times that do not exist.
    ["Wed, 31 Feb 2027 00:00:00 GMT", undefined],
    ["Wednesday, 31-Feb-27 00:00:00 GMT", undefined],
    ["Wed Feb 31 00:00:00 2027", undefined],
    ["Mon, 29 Feb 2027 00:00:00 GMT", undefined],
    ["Sat, 00 Nov 2026 12:00:30 GMT", undefined],
    ["Tue Dec  0 12:00:00 2026", undefined],
    ["Sat, 21 Nov 2026 24:00:00 GMT", undefined],
    ["Sat, 21 Nov 2026 12:60:00 GMT", undefined],
    ["Sat, 21 Nov 2026 12:00:61 GMT", undefined],
    // Anything else.
    ["", undefined],
    ["soon", undefined],
    ["1.5", undefined],
    ["+5", undefined],
    ["1e3", undefined],
    ["0x10", undefined],
    ["5 s", undefined],
    ["5, 10", undefined],
    ["Infinity", undefined],
    ["fri, 20 nov 2026 12:00:30 gmt", undefined],
    ["Fri, 20 Nov 2026 12:00:30 UTC", undefined],
    ["Fri, 20 Nov 2026 12:00:30 +0000", undefined],
    ["Fri, 20 Nov 2026 12:00:30", undefined],
    ["Fri, 20 Nov 26 12:00:30 GMT", undefined],
    ["Fri, 20-Nov-26 12:00:30 GMT", undefined],
    ["Friday, 20-Nov-2026 12:00:30 GMT", undefined],
    ["Fri Nov 20 12:00:30 2026 GMT", undefined],
    ["Tue Dec 1 12:00:00 2026", undefined],
    ["2026-11-20T12:00:30Z", undefined],
    ["Fri, 20 Nov 2026 12:00:30 GMT, 5", undefined]
  ])("%j asks to wait for %d seconds", ([header, seconds]) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      deepStrictEqual(
        yield* RetryAfter.parse(header),
        seconds === undefined ? undefined : Duration.seconds(seconds)
      )
    }))

  it.effect("can have more digits than a number", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* RetryAfter.parse("9".repeat(400)), Duration.seconds(longest))
      deepStrictEqual(yield* RetryAfter.parse(`-${"9".repeat(400)}`), Duration.zero)
    }))

  it.effect("is optional", () =>
    Effect.gen(function*() {
      strictEqual(yield* RetryAfter.parse(undefined), undefined)
    }))
})

describe("A two-digit year", () => {
  it.effect.each<[string, string, number]>([
    ["2099-12-31T23:59:00Z", "Friday, 01-Jan-00 00:00:00 GMT", 60],
    ["2000-01-01T00:00:00Z", "Friday, 31-Dec-99 23:59:00 GMT", 0],
    ["2049-06-01T00:00:00Z", "Monday, 01-Jun-98 00:00:00 GMT", (Date.UTC(2098, 5, 1) - Date.UTC(2049, 5, 1)) / 1000],
    ["2024-02-29T00:00:00Z", "Tuesday, 29-Feb-28 00:00:00 GMT", 4 * 365.25 * 86_400]
  ])("at %s, %j asks to wait for %d seconds", ([today, header, seconds]) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse(today))
      deepStrictEqual(yield* RetryAfter.parse(header), Duration.seconds(seconds))
    }))
})

describe("Retry-After from both endpoints", () => {
  const headers = ["Friday, 20-Nov-26 13:00:00 GMT", "Fri Nov 20 13:00:00 2026", "Fri, 20 Nov 2026 13:00:00 GMT"]

  it.effect.each(headers)("%j from the API is one hour", (header) =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted([asksToWait(429, header), good]), 0)
      deepStrictEqual(Failure.facts(error).retryAfter, Duration.hours(1))
    }))

  it.effect.each([...headers, "99999999999"])("%j from the token endpoint is one hour", (header) => {
    const service = Service.make({ token: () => Effect.succeed(status(429, { "retry-after": header })) })
    return Effect.gen(function*() {
      yield* TestClock.setTime(now)
      deepStrictEqual(Failure.facts(yield* Effect.flip(get)).retryAfter, Duration.hours(1))
      yield* TestClock.adjust("59 minutes")
      strictEqual(service.tokenRequests.length, 1)
    }).pipe(provide(service))
  })
})
