/**
 * How acquisitions use a store that several processes share. `TokenSharing` makes a `Sharing`. Its type is defined here,
 * so that a token provider does not load the store, its encryption or its client.
 */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { AccessToken } from "../../AccessToken.ts"
import type { TokenError } from "../../TokenError.ts"
import type { Instant } from "../schema/instant.ts"
import type { Credentials } from "./credentials.ts"
import type { TokenPolicy } from "./tokenOptions.ts"
import type { Reason } from "./tokenState.ts"

/** One acquisition, before it sends a request. */
export interface Acquisition {
  readonly reason: Reason
  readonly credentials: Credentials
  /** The cached token, which may be stale, expired or rejected. */
  readonly cached: AccessToken | undefined
  /** Caches the token of another process, which was requested at `at`. None if it has expired. */
  readonly adopt: (token: AccessToken, at: Instant) => Effect.Effect<Option.Option<AccessToken>>
  /** Requests a token and caches it. */
  readonly send: Effect.Effect<AccessToken, TokenError>
}

/** Acquires a token: adopts the token of another process, or sends a request. */
export type AcquireShared = (acquisition: Acquisition) => Effect.Effect<AccessToken, TokenError>

/** Without a store, every acquisition sends a request. */
export const withoutStore: AcquireShared = ({ send }) => send

/** How the acquisitions of a provider share tokens. */
export interface Sharing {
  (provider: {
    /** The URL of the token endpoint. */
    readonly url: string
    readonly policy: TokenPolicy
  }): Effect.Effect<AcquireShared, never, Scope.Scope>
}
