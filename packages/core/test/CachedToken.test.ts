import { AccessToken } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Either, Redacted } from "effect"
import * as CachedToken from "../src/internal/token/cachedToken.ts"
import { makePolicy } from "./support/tokens.ts"

describe("A cached token", () => {
  const policy = {
    ...Either.getOrThrow(makePolicy({ refreshAfter: 0.5, expiryMargin: "10 seconds" })),
    jitter: 0
  }
  const token = new AccessToken.AccessToken({ value: Redacted.make("t"), requestedAt: 0, expiresAt: 100_000 })
  const after = (millis: number) => ({ wall: millis, monotonic: millis })
  const cached = CachedToken.make(token, after(0), 0, policy)
  const at = (millis: number) => ({
    isRefreshAheadDue: CachedToken.isTimerDue(cached, after(millis)),
    isStale: CachedToken.isStale(cached, after(millis)),
    isUsable: CachedToken.isUsable(cached, after(millis)),
    isExpired: CachedToken.isExpired(cached, after(millis))
  })
  const fresh = { isRefreshAheadDue: false, isStale: false, isUsable: true, isExpired: false }

  it.each([
    [0, fresh],
    [44_999, fresh],
    [45_000, { ...fresh, isRefreshAheadDue: true }],
    [49_999, { ...fresh, isRefreshAheadDue: true }],
    [50_000, { ...fresh, isRefreshAheadDue: true, isStale: true }],
    [89_999, { ...fresh, isRefreshAheadDue: true, isStale: true }],
    [90_000, { isRefreshAheadDue: true, isStale: true, isUsable: false, isExpired: false }],
    [100_000, { isRefreshAheadDue: true, isStale: true, isUsable: false, isExpired: true }]
  ])("of 100 s, to be refreshed after 50 s and usable until 90 s, has these states after %i ms", (millis, expected) => {
    deepStrictEqual(at(millis), expected)
  })

  const ages = (
    { expiresAfter, isRejected, refreshAfter, timerDueAfter, usableUntil }: CachedToken.CachedToken
  ) => ({
    expiresAfter,
    isRejected,
    refreshAfter,
    timerDueAfter,
    usableUntil
  })
  const ofCached = {
    expiresAfter: 100_000,
    isRejected: false,
    refreshAfter: 50_000,
    timerDueAfter: 45_000,
    usableUntil: 90_000
  }

  it("is refreshed earlier by the random share of the jitter, and never before a tenth of its lifetime", () => {
    const spread = (random: number, refreshAfter: number) =>
      CachedToken.make(token, after(0), random, { ...policy, refreshAfter, jitter: 0.2 }).refreshAfter
    deepStrictEqual([spread(0, 0.5), spread(0.5, 0.5), spread(1, 0.2)], [50_000, 40_000, 10_000])
  })

  it("that is shorter than twice the margin is usable for half its lifetime", () => {
    const short = new AccessToken.AccessToken({ value: token.value, requestedAt: 5, expiresAt: 12_005 })
    deepStrictEqual(ages(CachedToken.make(short, after(5), 0, policy)), {
      expiresAfter: 12_000,
      isRejected: false,
      refreshAfter: 6000,
      timerDueAfter: 3000,
      usableUntil: 6000
    })
  })

  it("that the service issues again keeps its expiry, or has a shorter one, and is usable until then", () => {
    const issuedAgain = (at: number, lifetime: number) => {
      const fresh = new AccessToken.AccessToken({ value: token.value, requestedAt: at, expiresAt: at + lifetime })
      const again = CachedToken.reissue(
        { ...cached, isRejected: true },
        CachedToken.make(fresh, after(at), 0, policy)
      )
      return { ...ages(again), at: again.at.wall, token: [again.token.requestedAt, again.token.expiresAt] }
    }
    deepStrictEqual(issuedAgain(60_000, 100_000), {
      ...ofCached,
      usableUntil: 100_000,
      at: 0,
      token: [0, 100_000]
    })
    deepStrictEqual(issuedAgain(10_000, 20_000), {
      expiresAfter: 30_000,
      isRejected: false,
      refreshAfter: 30_000,
      timerDueAfter: 30_000,
      usableUntil: 30_000,
      at: 0,
      token: [0, 30_000]
    })
  })

  it("is not usable once it is rejected, and has no usable time left after its end", () => {
    deepStrictEqual(ages(cached), ofCached)
    deepStrictEqual(
      [
        CachedToken.usableMillis(cached, after(80_000)),
        CachedToken.usableMillis(cached, after(95_000)),
        CachedToken.usableMillis({ ...cached, isRejected: true }, after(0))
      ],
      [10_000, 0, 0]
    )
  })
})
