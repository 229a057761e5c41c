/**
 * The state of the token provider and its transitions, as pure functions. `acquisitions` performs their effects:
 * requests, waiting and time.
 *
 * Two events renew a usable token: a call of `get` after refresh-after, which still returns the old token, and the
 * background timer of `layerBackground`, which needs no caller.
 */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import { type AccessToken, isSame } from "../../AccessToken.ts"
import { TokenEndpointUnavailable, type TokenError, type TokenRejected } from "../../TokenError.ts"
import { elapsed, type Instant } from "../schema/instant.ts"
import * as CachedToken from "./cachedToken.ts"
import type { Credentials } from "./credentials.ts"
import type { TokenPolicy } from "./tokenOptions.ts"

/** A period that starts at `at`. */
interface Period {
  readonly at: Instant
  readonly millis: number
}

/** `A` is an acquisition. The transitions only compare its identity. */
export interface State<A> {
  readonly cached: CachedToken.CachedToken | undefined
  /** The acquisition in progress. */
  readonly acquisition: A | undefined
  /**
   * The backoff after `count` consecutive acquisitions without progress: a failure, the same token again, or a token
   * that was due for renewal when it arrived. No acquisition starts in the background in this period. After a failure,
   * which is the `error`, callers also fail at once, for at most 5 seconds.
   */
  readonly backoff: Period & { readonly count: number; readonly error: TokenError | undefined } | undefined
  /**
   * Credentials that the service rejected, the latest last. They are not sent again in this period. There are several if
   * an effect returns other credentials each time.
   */
  readonly rejectedCredentials: ReadonlyArray<
    Period & { readonly credentials: Credentials; readonly error: TokenRejected }
  >
  /** The service has asked to wait: nothing is sent in this period. */
  readonly cooldown: Period & { readonly error: TokenEndpointUnavailable } | undefined
  /** When the API rejected tokens, the oldest first. `maxReplacements` limits how many of these tokens are replaced. */
  readonly tokenRejections: ReadonlyArray<Instant>
}

/**
 * How many rejected tokens are replaced in one window. An API that rejects valid tokens thus causes few token requests.
 */
const maxReplacements = 2
const rejectionWindowMillis = 30_000

/** How many rejected credentials are remembered. */
const maxRejectedCredentials = 10

export const initial: State<never> = {
  cached: undefined,
  acquisition: undefined,
  backoff: undefined,
  rejectedCredentials: [],
  cooldown: undefined,
  tokenRejections: []
}

/**
 * Why an acquisition starts. The metrics report these names.
 *
 * - `cold`: there is no token.
 * - `refresh_after`: the token is older than refresh-after.
 * - `usable_until`: the token is past usable-until.
 * - `unauthorized`: the API rejected the token.
 * - `forced`: a caller called `refresh`.
 */
export type Reason = "cold" | "refresh_after" | "usable_until" | "unauthorized" | "forced"

/** What a caller does: use a token, wait for an acquisition, or fail. `start` is an acquisition to start first. */
export type Action<A> =
  | { readonly _tag: "Use"; readonly cached: CachedToken.CachedToken; readonly start: A | undefined }
  | { readonly _tag: "Wait"; readonly acquisition: A; readonly start: A | undefined }
  | { readonly _tag: "Fail"; readonly error: TokenError; readonly start: undefined }

/** A caller asks for a token. `createAcquisition` runs if an acquisition must start. */
export const get = <A>(
  state: State<A>,
  now: Instant,
  createAcquisition: (reason: Reason) => A
): readonly [Action<A>, State<A>] => {
  const { cached } = state
  if (cached === undefined || !CachedToken.isUsable(cached, now)) {
    return joinOrStartForReason(state, now, createAcquisition)
  }
  if (!startsRenewal(state, cached, now)) return [{ _tag: "Use", cached, start: undefined }, state]
  const start = createAcquisition("refresh_after")
  return [{ _tag: "Use", cached, start }, { ...state, acquisition: start }]
}

/**
 * {@link joinOrStart} with the reason that follows from the cached token. The background timer calls it without a
 * caller.
 */
export const joinOrStartForReason = <A>(
  state: State<A>,
  now: Instant,
  createAcquisition: (reason: Reason) => A
): readonly [Action<A>, State<A>] => {
  const { cached } = state
  if (cached === undefined) return joinOrStart(state, now, () => createAcquisition("cold"))
  const isUsable = CachedToken.isUsable(cached, now)
  return joinOrStart(
    state,
    now,
    () => createAcquisition(isUsable ? "refresh_after" : cached.isRejected ? "unauthorized" : "usable_until")
  )
}

/** Joins the acquisition in progress, starts one, or fails with the failure of the last one. */
export const joinOrStart = <A>(
  state: State<A>,
  now: Instant,
  createAcquisition: () => A
): readonly [Action<A>, State<A>] => {
  if (state.acquisition !== undefined) {
    return [{ _tag: "Wait", acquisition: state.acquisition, start: undefined }, state]
  }
  const error = recentFailure(state, now)
  if (error !== undefined) return [{ _tag: "Fail", error, start: undefined }, state]
  const acquisition = createAcquisition()
  return [{ _tag: "Wait", acquisition, start: acquisition }, { ...state, acquisition }]
}

/**
 * The acquisition ends with `newToken`. Returns the token for the callers that wait, or none if the token has already
 * expired: then call `fail`. An abandoned acquisition leaves the state unchanged.
 */
export const succeed = <A>(
  state: State<A>,
  { acquisition, newToken, now, policy }: {
    readonly acquisition: A
    readonly newToken: CachedToken.CachedToken
    readonly now: Instant
    readonly policy: TokenPolicy
  }
): readonly [Option.Option<{ readonly token: AccessToken; readonly isReissued: boolean }>, State<A>] => {
  const isReissued = state.cached !== undefined && isSame(state.cached.token, newToken.token)
  const cached = isReissued ? CachedToken.reissue(state.cached, newToken) : newToken
  if (CachedToken.isExpired(cached, now)) return [Option.none(), state]
  const backoff = isReissued
    ? nextBackoff({ ...state, cached }, undefined, now, policy)
    // Without a backoff, a token that is due for renewal on arrival would be renewed in an endless loop.
    : CachedToken.isTimerDue(cached, now)
    ? nextBackoff(initial, undefined, now, policy)
    : undefined
  const next = { ...initial, cached, backoff, tokenRejections: state.tokenRejections }
  return [Option.some({ token: cached.token, isReissued }), state.acquisition === acquisition ? next : state]
}

/**
 * The acquisition fails. The cached token stays. `sentCredentials` are `undefined` if no request was sent. A rejection
 * of the credentials, or a cooldown, is stored even if the acquisition was abandoned, because it also applies to later
 * acquisitions.
 */
export const fail = <A>(
  state: State<A>,
  { acquisition, error, now, policy, sentCredentials }: {
    readonly acquisition: A
    readonly error: TokenError | undefined
    readonly sentCredentials: Credentials | undefined
    readonly now: Instant
    readonly policy: TokenPolicy
  }
): State<A> => {
  const stateAfterFailure = state.acquisition === acquisition
    ? { ...state, acquisition: undefined, backoff: nextBackoff(state, error, now, policy) }
    : state
  if (sentCredentials === undefined) return stateAfterFailure
  if (error?._tag === "TokenRejected") {
    // An error with a 2xx status contradicts itself, so it must occur twice before the credentials count as rejected.
    const [others, same] = Arr.partition(
      state.rejectedCredentials,
      ({ credentials }) => Equal.equals(credentials, sentCredentials)
    )
    const isConfirmed = error.status >= 300 || same.length > 0
    // A period of 0 blocks nothing. It only stores the first occurrence, so that the second one is recognized.
    const millis = isConfirmed ? Duration.toMillis(policy.rejectionMemory) : 0
    const rejected = { credentials: sentCredentials, error, at: now, millis }
    const rejectedCredentials = [...others.slice(1 - maxRejectedCredentials), rejected]
    return { ...stateAfterFailure, rejectedCredentials }
  }
  if (error?._tag === "TokenEndpointUnavailable" && error.retryAfter !== undefined) {
    const millis = Duration.toMillis(error.retryAfter)
    return millis < millisLeft(state.cooldown, now)
      ? stateAfterFailure
      : { ...stateAfterFailure, cooldown: { error, at: now, millis } }
  }
  return stateAfterFailure
}

/**
 * The API rejected a token. Nothing changes if the cached token is another one, or if the limit of replacements is
 * reached. An acquisition in progress is abandoned, because its request was sent before this rejection.
 */
export const invalidate = <A>(state: State<A>, rejected: AccessToken, now: Instant): State<A> => {
  const { cached, tokenRejections } = state
  if (cached === undefined || cached.isRejected || !isSame(cached.token, rejected)) return state
  const recentRejections = tokenRejections.filter((at) => elapsed(at, now) < rejectionWindowMillis)
  return recentRejections.length < maxReplacements
    ? {
      ...state,
      cached: { ...cached, isRejected: true },
      acquisition: undefined,
      tokenRejections: [...recentRejections, now]
    }
    : state
}

/**
 * Returns an error if an acquisition must not send a request, because its credentials were rejected or the cooldown
 * ends after its deadline.
 */
export const errorBlockingSend = <A>(
  state: State<A>,
  { credentials, deadline, now }: {
    /** `undefined` until they are read. */
    readonly credentials: Credentials | undefined
    /** The rest of the deadline of the acquisition. */
    readonly deadline: Duration.Duration
    readonly now: Instant
  }
): TokenRejected | TokenEndpointUnavailable | undefined => {
  const { cooldown, rejectedCredentials } = state
  const rejected = rejectedCredentials.find((one) => Equal.equals(one.credentials, credentials))
  if (rejected !== undefined && millisLeft(rejected, now) > 0) return rejected.error
  const wait = millisLeft(cooldown, now)
  return cooldown !== undefined && wait >= Duration.toMillis(deadline)
    ? new TokenEndpointUnavailable({ ...cooldown.error, attempts: 0, retryAfter: Duration.millis(wait) })
    : undefined
}

/** Callers without a token receive the failure of an earlier acquisition for no longer than this. */
const maxCallerBackoffMillis = 5000

/**
 * Returns the failure of the last acquisition if callers receive it without a new acquisition, otherwise `undefined`.
 * It is also `undefined` if a cooldown lasts longer, so that an acquisition waits for the end of the cooldown.
 */
const recentFailure = <A>({ backoff, cooldown }: State<A>, now: Instant): TokenError | undefined => {
  if (backoff?.error === undefined) return undefined
  const millis = Math.min(backoff.millis, maxCallerBackoffMillis) - backoffReductionMillis(backoff.error)
  return millisLeft({ at: backoff.at, millis }, now) > millisLeft(cooldown, now) ? backoff.error : undefined
}

/**
 * Returns how many milliseconds to subtract from the time in which callers receive this error at once. `Infinity` means
 * that they start a new acquisition instead.
 */
const backoffReductionMillis = (error: TokenError): number => {
  switch (error._tag) {
    // `rejectedCredentials` already blocks these credentials, and changed ones must be sent at once.
    case "TokenRejected":
    case "TokenProviderClosed":
      return Infinity
    // Nothing was sent.
    case "TokenEndpointUnavailable":
      return error.reason === "credentials" ? Infinity : 0
    // Callers have already waited for the deadline, so it is part of the backoff.
    case "TokenTimeout":
      return Duration.toMillis(error.deadline)
    case "TokenResponseInvalid":
      return 0
  }
}

/** Whether a caller who receives the cached token also starts its renewal. */
export const startsRenewal = <A>(
  { acquisition, backoff, cooldown }: State<A>,
  cached: CachedToken.CachedToken,
  now: Instant
): boolean =>
  acquisition === undefined && CachedToken.isStale(cached, now) &&
  millisLeft(backoff, now) === 0 && millisLeft(cooldown, now) === 0

/** In how many milliseconds the background timer must start the next acquisition. */
export const millisUntilDue = <A>({ backoff, cached, cooldown }: State<A>, now: Instant): number =>
  Math.max(
    cached !== undefined && CachedToken.isUsable(cached, now) ? cached.timerDueAfter - elapsed(cached.at, now) : 0,
    millisLeft(backoff, now),
    millisLeft(cooldown, now)
  )

/** How many milliseconds of the period are left. */
export const millisLeft = (period: Period | undefined, now: Instant): number =>
  period === undefined ? 0 : Math.max(0, period.millis - elapsed(period.at, now))

/**
 * Returns the next, longer backoff. It ends at the latest when the cached token is no longer usable, because callers
 * then wait for a new one.
 */
const nextBackoff = <A>(
  { backoff, cached }: State<A>,
  error: TokenError | undefined,
  now: Instant,
  policy: TokenPolicy
) => {
  const count = backoff === undefined ? 1 : backoff.count + 1
  const millis = Math.min(
    Duration.toMillis(policy.maxBackoff),
    Duration.toMillis(policy.minBackoff) * 2 ** (count - 1)
  )
  const usable = cached === undefined ? 0 : CachedToken.usableMillis(cached, now)
  return { count, error, at: now, millis: usable > 0 ? Math.min(usable, millis) : millis }
}
