/**
 * What the token provider knows, and every move it can make: a pure state machine. The effects
 * around it (sending, waiting, time) are in `flights`.
 */
import * as Duration from "effect/Duration"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import { type AccessToken, isSame } from "../AccessToken.ts"
import type { Credentials } from "../Credentials.ts"
import { TokenEndpointUnavailable, type TokenError, type TokenRejected } from "../TokenError.ts"
import type { TokenPolicy } from "../TokenPolicy.ts"
import * as HeldToken from "./cachedToken.ts"
import { elapsed, type Instant } from "./instant.ts"

/** `F` is a flight, one acquisition: to the machine nothing but itself. */
export interface State<F> {
  readonly held: HeldToken.HeldToken | undefined
  readonly flight: F | undefined
  /**
   * Flights in a row that brought nothing, or nothing that lasts, and for how long none starts in the
   * background. With an error none starts for a caller either, for a shorter time.
   */
  readonly setback: {
    readonly count: number
    readonly error: TokenError | undefined
    readonly at: Instant
    readonly millis: number
  } | undefined
  /** Credentials that the service refused, and for how long they are not sent again. */
  readonly rejection: {
    readonly credentials: Credentials
    readonly error: TokenRejected
    readonly at: Instant
    readonly millis: number
  } | undefined
  /** For how long the service has asked not to be asked. */
  readonly embargo: {
    readonly error: TokenEndpointUnavailable
    readonly at: Instant
    readonly millis: number
  } | undefined
  /** When the API refused the current token, oldest first: the renewals that count towards the limit. */
  readonly refusals: ReadonlyArray<Instant>
}

/** An API may refuse good tokens, and each new one costs a token request: so many are renewed in so long. */
const maxRefusals = 2
const refusalWindowMillis = 30_000

export const initial: State<never> = {
  held: undefined,
  flight: undefined,
  setback: undefined,
  rejection: undefined,
  embargo: undefined,
  refusals: []
}

/** Why a flight starts: no token, one that gets old, is too old, or was refused, or somebody demands it. */
export type Reason = "cold" | "soft" | "hard" | "unauthorized" | "forced"

/** What a caller does: use a token, wait for a flight, or fail; and perhaps start a flight before. */
export type Move<F> =
  | { readonly _tag: "Use"; readonly held: HeldToken.HeldToken; readonly start: F | undefined }
  | { readonly _tag: "Wait"; readonly flight: F; readonly start: F | undefined }
  | { readonly _tag: "Fail"; readonly error: TokenError; readonly start: undefined }

/** A caller asks for a token. `open` makes the flight, if one is to start. */
export const request = <F>(
  state: State<F>,
  now: Instant,
  open: (reason: Reason) => F
): readonly [Move<F>, State<F>] => {
  const { flight, held } = state
  if (held === undefined || !HeldToken.isUsable(held, now)) {
    return renew(state, now, open)
  }
  if (flight !== undefined || !HeldToken.isStale(held, now) || isTooSoon(state, now)) {
    return [{ _tag: "Use", held, start: undefined }, state]
  }
  const start = open("soft")
  return [{ _tag: "Use", held, start }, { ...state, flight: start }]
}

/** A new token is due, whoever asks. */
export const renew = <F>(
  state: State<F>,
  now: Instant,
  open: (reason: Reason) => F
): readonly [Move<F>, State<F>] => {
  const { held } = state
  if (held === undefined) return refresh(state, now, () => open("cold"))
  const isUsable = HeldToken.isUsable(held, now)
  return refresh(state, now, () => open(isUsable ? "soft" : held.isRefused ? "unauthorized" : "hard"))
}

/** A caller asks for a new token. */
export const refresh = <F>(state: State<F>, now: Instant, open: () => F): readonly [Move<F>, State<F>] => {
  if (state.flight !== undefined) return [{ _tag: "Wait", flight: state.flight, start: undefined }, state]
  const error = recentFailure(state, now)
  if (error !== undefined) return [{ _tag: "Fail", error, start: undefined }, state]
  const flight = open()
  return [{ _tag: "Wait", flight, start: flight }, { ...state, flight }]
}

/**
 * The flight ends with `fresh`, which is a failure if it is over already. If the flight was given up
 * meanwhile, the token is for those who waited, and changes nothing.
 */
export const land = <F>(
  state: State<F>,
  { flight, fresh, now, policy }: {
    readonly flight: F
    readonly fresh: HeldToken.HeldToken
    readonly now: Instant
    readonly policy: TokenPolicy
  }
): readonly [Option.Option<{ readonly token: AccessToken; readonly isAgain: boolean }>, State<F>] => {
  const isAgain = state.held !== undefined && isSame(state.held.token, fresh.token)
  const held = isAgain ? HeldToken.again(state.held, fresh) : fresh
  if (HeldToken.isOver(held, now)) return [Option.none(), state]
  const setback = isAgain
    ? nextSetback({ ...state, held }, undefined, now, policy)
    // One that is due as it lands would be renewed back to back.
    : HeldToken.isDue(held, now)
    ? nextSetback(initial, undefined, now, policy)
    : undefined
  const landed = { ...initial, held, setback, refusals: state.refusals }
  return [Option.some({ token: held.token, isAgain }), state.flight === flight ? landed : state]
}

/**
 * The flight ends with nothing, and takes nothing away. `sent` are the credentials that it sent, if
 * any. What the service said to it is remembered though it was given up, for that holds whoever asked.
 */
export const fail = <F>(
  state: State<F>,
  { error, flight, now, policy, sent }: {
    readonly flight: F
    readonly error: TokenError | undefined
    readonly sent: Credentials | undefined
    readonly now: Instant
    readonly policy: TokenPolicy
  }
): State<F> => {
  const failed = state.flight === flight
    ? { ...state, flight: undefined, setback: nextSetback(state, error, now, policy) }
    : state
  if (sent === undefined) return failed
  if (error?._tag === "TokenRejected") {
    // An error under a 2xx contradicts itself, and is believed from the second time.
    const isBelieved = error.status >= 300 || Equal.equals(state.rejection?.credentials, sent)
    const millis = isBelieved ? Duration.toMillis(policy.rejectionMemory) : 0
    return { ...failed, rejection: { credentials: sent, error, at: now, millis } }
  }
  if (error?._tag === "TokenEndpointUnavailable" && error.retryAfter !== undefined) {
    const millis = Duration.toMillis(error.retryAfter)
    return millis < left(state.embargo, now) ? failed : { ...failed, embargo: { error, at: now, millis } }
  }
  return failed
}

/**
 * The API refused `stale`. A newer token stays, and so does any token past the limit of renewals. A
 * flight under way is given up: it was sent before.
 */
export const invalidate = <F>(state: State<F>, stale: AccessToken, now: Instant): State<F> => {
  const { held, refusals } = state
  if (held === undefined || held.isRefused || !isSame(held.token, stale)) return state
  const recent = refusals.filter((at) => elapsed(at, now) < refusalWindowMillis)
  return recent.length < maxRefusals
    ? { ...state, held: { ...held, isRefused: true }, flight: undefined, refusals: [...recent, now] }
    : state
}

/** Why a flight need not send anything: its credentials were refused, or it is too soon. */
export const refusal = <F>(
  state: State<F>,
  { credentials, deadline, now }: {
    /** None as long as they are not read. */
    readonly credentials: Credentials | undefined
    /** What is left for the flight. */
    readonly deadline: Duration.Duration
    readonly now: Instant
  }
): TokenRejected | TokenEndpointUnavailable | undefined => {
  const { embargo, rejection } = state
  if (left(rejection, now) > 0 && Equal.equals(rejection?.credentials, credentials)) return rejection?.error
  const wait = left(embargo, now)
  return embargo !== undefined && wait >= Duration.toMillis(deadline)
    ? new TokenEndpointUnavailable({ ...embargo.error, attempts: 0, retryAfter: Duration.millis(wait) })
    : undefined
}

/** A caller without a token does not fail longer than this because of an earlier acquisition. */
const maxCallerBackoffMillis = 5000

/**
 * The failure of the last acquisition, as long as callers get it at once. If the service asked to wait
 * for longer, an acquisition waits for that.
 */
const recentFailure = <F>({ embargo, setback }: State<F>, now: Instant): TokenError | undefined => {
  if (setback?.error === undefined) return undefined
  const millis = Math.min(setback.millis, maxCallerBackoffMillis) - exemptMillis(setback.error)
  return left({ at: setback.at, millis }, now) > left(embargo, now) ? setback.error : undefined
}

/** How much of the backoff callers are spared after a failure, in milliseconds. */
const exemptMillis = (error: TokenError): number => {
  switch (error._tag) {
    // Refused credentials have a memory of their own, which other credentials clear.
    case "TokenRejected":
    case "TokenProviderClosed":
      return Infinity
    // Without credentials nothing was sent.
    case "TokenEndpointUnavailable":
      return error.reason === "credentials" ? Infinity : 0
    // The deadline has kept the next request back as a backoff does.
    case "TokenTimeout":
      return Duration.toMillis(error.deadline)
    case "TokenResponseInvalid":
      return 0
  }
}

const isTooSoon = <F>({ embargo, setback }: State<F>, now: Instant): boolean =>
  left(setback, now) > 0 || left(embargo, now) > 0

/** In how many milliseconds a token is to be acquired if nobody asks before. */
export const dueIn = <F>({ embargo, held, setback }: State<F>, now: Instant): number =>
  Math.max(
    held !== undefined && HeldToken.isUsable(held, now) ? held.ahead - elapsed(held.at, now) : 0,
    left(setback, now),
    left(embargo, now)
  )

/** How many milliseconds are left of a memory. */
export const left = (
  memory: { readonly at: Instant; readonly millis: number } | undefined,
  now: Instant
): number => memory === undefined ? 0 : Math.max(0, memory.millis - elapsed(memory.at, now))

/** No longer than the token that there is may be used, for then callers wait. */
const nextSetback = <F>(
  { held, setback }: State<F>,
  error: TokenError | undefined,
  now: Instant,
  policy: TokenPolicy
) => {
  const count = setback === undefined ? 1 : setback.count + 1
  const backoff = Math.min(
    Duration.toMillis(policy.maxBackoff),
    Duration.toMillis(policy.minBackoff) * 2 ** (count - 1)
  )
  const usable = held === undefined ? 0 : HeldToken.usableFor(held, now)
  return { count, error, at: now, millis: usable > 0 ? Math.min(usable, backoff) : backoff }
}
