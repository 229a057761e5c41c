/**
 * What the token provider knows, and the moves it can make: a pure state machine. The effects
 * around it (sending, waiting, time) are in `TokenProvider`.
 */
import type * as Deferred from "effect/Deferred"
import type { AccessToken } from "../AccessToken.ts"
import * as Token from "../AccessToken.ts"
import type { TokenError } from "../TokenError.ts"

/** One acquisition, and where all who wait for it are told how it ended. */
export type Flight = Deferred.Deferred<AccessToken, TokenError>

export interface State {
  readonly current: AccessToken | undefined
  readonly flight: Flight | undefined
}

export const initial: State = { current: undefined, flight: undefined }

/** What a caller is to do: use a token, wait for the flight, or start the flight and wait. */
export type Move =
  | { readonly _tag: "Use"; readonly token: AccessToken }
  | { readonly _tag: "Wait"; readonly flight: Flight }
  | { readonly _tag: "Start"; readonly flight: Flight }

/** `fresh` becomes the flight only if one is needed and none is under way. */
export const request = (state: State, fresh: Flight, now: number): readonly [Move, State] => {
  if (state.current !== undefined && now < hardPoint(state.current)) {
    return [{ _tag: "Use", token: state.current }, state]
  }
  if (state.flight !== undefined) return [{ _tag: "Wait", flight: state.flight }, state]
  return [{ _tag: "Start", flight: fresh }, { current: undefined, flight: fresh }]
}

/** The flight is over, with a token or without. A failure takes nothing away. */
export const land = (state: State, flight: Flight, token: AccessToken | undefined): State =>
  state.flight === flight ? { current: token ?? state.current, flight: undefined } : state

/** The service refused `stale`. A newer token stays. */
export const invalidate = (state: State, stale: AccessToken): State =>
  state.current !== undefined && Token.isSame(state.current, stale) ? { ...state, current: undefined } : state

/** How long before its expiry a token is no longer given out: a request under way must outlive it. */
const hardMarginMillis = 30_000

/** From here on the token is not used any more: 30 s before its expiry, or half its lifetime. */
const hardPoint = ({ expiresAt, requestedAt }: AccessToken): number =>
  expiresAt - Math.min(hardMarginMillis, (expiresAt - requestedAt) / 2)
