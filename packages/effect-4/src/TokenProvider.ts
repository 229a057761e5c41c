/**
 * The provider of the access token: whether checks can be sent.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as TokenError from "./TokenError.ts"

/**
 * Whether checks can be sent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Readiness {
  /** Whether there is a usable token. */
  readonly isReady: boolean
  /** If there is no usable token, the failure of the last acquisition. */
  readonly failure: Option.Option<TokenError.TokenError>
}

/**
 * The methods of the provider. The client itself uses the token: no method returns it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /**
   * Whether there is a usable token, or why not, for the readiness probe of an orchestrator. It waits for nothing. Without
   * a usable token, it starts an acquisition: after a failure at the earliest 1 second later, doubled with each failure up
   * to 60 seconds. So probes cause at most one token request in this time, and none while there is a token.
   */
  readonly readiness: Effect.Effect<Readiness>
}

/**
 * The provider of the access token.
 *
 * @category tags
 * @since 0.1.0
 */
export class TokenProvider extends Context.Service<TokenProvider, Service>()("@effect-idv/effect-4/TokenProvider") {}
