/** A token, and the ages at which it is renewed, is no longer returned, and expires. */
import * as Duration from "effect/Duration"
import { AccessToken } from "../../AccessToken.ts"
import { elapsed, type Instant } from "../schema/instant.ts"
import type { TokenPolicy } from "./tokenOptions.ts"

/** Ages are in milliseconds. */
export interface CachedToken {
  readonly token: AccessToken
  /** When the token was requested. Ages count from here. */
  readonly at: Instant
  /** The age at which the background timer of `layerBackground` renews the token without a caller. */
  readonly timerDueAfter: number
  /** The age from which a call of `get` still returns the token, and renews it in the background. */
  readonly refreshAfter: number
  /** The age at which callers no longer receive the token. */
  readonly usableUntil: number
  /** The age at which the token has expired. */
  readonly expiresAfter: number
  /** Whether the API has rejected the token. */
  readonly isRejected: boolean
}

/** The least share of the lifetime before a refresh. With 0, a token would be refreshed in an endless loop. */
const minRefreshShare = 0.1

/** `random`, from 0 to 1, spreads the refreshes of many processes that started together. */
export const make = (token: AccessToken, at: Instant, random: number, policy: TokenPolicy): CachedToken => {
  const expiresAfter = token.expiresAt - token.requestedAt
  const usableUntil = expiresAfter - Math.min(Duration.toMillis(policy.expiryMargin), expiresAfter / 2)
  const share = Math.max(minRefreshShare, policy.refreshAfter - random * policy.jitter)
  return {
    token,
    at,
    timerDueAfter: usableUntil * share,
    refreshAfter: expiresAfter * share,
    usableUntil,
    expiresAfter,
    isRejected: false
  }
}

/**
 * The service has issued the cached token again. This never extends its expiry, and may shorten it. Callers receive the
 * token until it expires, because there is no other.
 */
export const reissue = (cached: CachedToken, received: CachedToken): CachedToken => {
  const expiresAfter = Math.min(cached.expiresAfter, elapsed(cached.at, received.at) + received.expiresAfter)
  const { requestedAt, value } = cached.token
  return {
    ...cached,
    token: new AccessToken({ value, requestedAt, expiresAt: requestedAt + expiresAfter }),
    timerDueAfter: Math.min(cached.timerDueAfter, expiresAfter),
    refreshAfter: Math.min(cached.refreshAfter, expiresAfter),
    usableUntil: expiresAfter,
    expiresAfter,
    isRejected: false
  }
}

/** For how many more milliseconds callers may receive the token. */
export const usableMillis = (cached: CachedToken, now: Instant): number =>
  cached.isRejected ? 0 : Math.max(0, cached.usableUntil - elapsed(cached.at, now))

export const isUsable = (cached: CachedToken, now: Instant): boolean => usableMillis(cached, now) > 0

export const isTimerDue = (cached: CachedToken, now: Instant): boolean =>
  elapsed(cached.at, now) >= cached.timerDueAfter

export const isStale = (cached: CachedToken, now: Instant): boolean => elapsed(cached.at, now) >= cached.refreshAfter

export const isExpired = (cached: CachedToken, now: Instant): boolean => elapsed(cached.at, now) >= cached.expiresAfter
