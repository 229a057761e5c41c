import { AccessToken, TokenPolicy } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Either, Redacted } from "effect"
import * as CachedToken from "../src/internal/cachedToken.ts"

describe("A cached token", () => {
  const policy = Either.getOrThrow(TokenPolicy.make({ softPoint: 0.5, jitter: 0, hardMargin: "10 seconds" }))
  const token = new AccessToken.AccessToken({ value: Redacted.make("t"), requestedAt: 0, expiresAt: 100_000 })
  const after = (millis: number) => ({ wall: millis, monotonic: millis })
  const cached = CachedToken.make(token, after(0), 0, policy)
  const at = (millis: number) => ({
    isFresh: CachedToken.isFresh(cached, after(millis)),
    isRefreshAheadDue: CachedToken.isRefreshAheadDue(cached, after(millis)),
    isStale: CachedToken.isStale(cached, after(millis)),
    isUsable: CachedToken.isUsable(cached, after(millis)),
    isExpired: CachedToken.isExpired(cached, after(millis))
  })
  const fresh = { isFresh: true, isRefreshAheadDue: false, isStale: false, isUsable: true, isExpired: false }

  it.each([
    [0, fresh],
    [44_999, fresh],
    [45_000, { ...fresh, isRefreshAheadDue: true }],
    [49_999, { ...fresh, isRefreshAheadDue: true }],
    [50_000, { ...fresh, isRefreshAheadDue: true, isFresh: false, isStale: true }],
    [89_999, { ...fresh, isRefreshAheadDue: true, isFresh: false, isStale: true }],
    [90_000, { isFresh: false, isRefreshAheadDue: true, isStale: true, isUsable: false, isExpired: false }],
    [100_000, { isFresh: false, isRefreshAheadDue: true, isStale: true, isUsable: false, isExpired: true }]
  ])("of 100 s, to be refreshed after 50 s and usable until 90 s, has these states after %i ms", (millis, expected) => {
    deepStrictEqual(at(millis), expected)
  })
})
