/** A token by its age: when it is renewed, when it is no longer given out, when it is over. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { AccessToken } from "../AccessToken.ts"
import type { TokenPolicy } from "../TokenPolicy.ts"
import { elapsed, type Instant } from "./instant.ts"

/**
 * `ahead`, `soft`, `hard` and `end` are ages in milliseconds, counted from `at`, when its request was
 * sent: when it is renewed if nobody asks, or if somebody does; when it is no longer given out; and
 * when it is over. `given` is the effect of the token, made once and not for each that gets it.
 */
export interface HeldToken {
  readonly token: AccessToken
  readonly given: Effect.Effect<AccessToken>
  readonly at: Instant
  readonly ahead: number
  readonly soft: number
  readonly hard: number
  readonly end: number
  readonly isRefused: boolean
}

const giving = (token: AccessToken) => ({ token, given: Effect.succeed(token) })

/** A token that was renewed at once would be renewed without end. */
const earliestShare = 0.1

/** `random`, from 0 to 1, spreads the soft points of a fleet that started together. */
export const make = (token: AccessToken, at: Instant, random: number, policy: TokenPolicy): HeldToken => {
  const end = token.expiresAt - token.requestedAt
  const hard = end - Math.min(Duration.toMillis(policy.hardMargin), end / 2)
  const share = Math.max(earliestShare, policy.softPoint - random * policy.jitter)
  return { ...giving(token), at, ahead: hard * share, soft: end * share, hard, end, isRefused: false }
}

/**
 * The service has given the same token again: this never extends its expiry, and may shorten it.
 * There is no other, so it is used to its end.
 */
export const again = (held: HeldToken, fresh: HeldToken): HeldToken => {
  const end = Math.min(held.end, elapsed(held.at, fresh.at) + fresh.end)
  const { requestedAt, value } = held.token
  return {
    ...held,
    ...giving(new AccessToken({ value, requestedAt, expiresAt: requestedAt + end })),
    ahead: Math.min(held.ahead, end),
    soft: Math.min(held.soft, end),
    hard: end,
    end,
    isRefused: false
  }
}

/** For how many milliseconds it may be given out. */
export const usableFor = (held: HeldToken, now: Instant): number =>
  held.isRefused ? 0 : Math.max(0, held.hard - elapsed(held.at, now))

export const isUsable = (held: HeldToken, now: Instant): boolean => usableFor(held, now) > 0

export const isDue = (held: HeldToken, now: Instant): boolean => elapsed(held.at, now) >= held.ahead

export const isStale = (held: HeldToken, now: Instant): boolean => elapsed(held.at, now) >= held.soft

/** Usable, and nobody has to renew it yet. */
export const isFresh = (held: HeldToken, now: Instant): boolean => isUsable(held, now) && !isStale(held, now)

export const isOver = (held: HeldToken, now: Instant): boolean => elapsed(held.at, now) >= held.end
