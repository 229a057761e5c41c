/**
 * The access token of a scope: one, shared, acquired when first needed, renewed before it is over.
 *
 * - **Single flight.** However many ask at once, one acquisition runs. It belongs to the scope of
 *   the layer and not to any caller: a caller that is interrupted takes nobody with it, and the
 *   answer still lands.
 * - **Expiry counts from the request** (API document, section 5), not from the answer, and by two
 *   clocks: neither a clock that is set nor a machine that sleeps makes an old token new.
 * - **Two windows.** A token that gets old is still given out at once, and renewed in the
 *   background. One that is about to expire is not given out.
 * - **Failures never take a valid token away.** Callers without a token get the failure of the last
 *   acquisition at once, and no request is sent: for 1 second, doubled with each failure in a row up
 *   to 5. Credentials that were refused are not sent again for 30 seconds, others at once. If the
 *   service asked to wait, nothing is sent before.
 * - **Renewals are limited.** Two tokens that the API refused are replaced in 30 seconds.
 *
 * The numbers are in `TokenPolicy`, what is counted in `TokenMetrics`.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as AccessToken from "./AccessToken.ts"
import type * as Credentials from "./Credentials.ts"
import * as Acquisition from "./internal/acquisition.ts"
import * as Flights from "./internal/acquisitions.ts"
import { loadOptions } from "./internal/loadOptions.ts"
import * as TokenOptions from "./internal/tokenOptions.ts"
import * as TokenState from "./internal/tokenState.ts"
import type * as TokenError from "./TokenError.ts"
import type * as TokenPolicy from "./TokenPolicy.ts"

/**
 * What is known of the token, without the token.
 *
 * - `token`: when the one that is given out was requested, from when on it is renewed in the
 *   background, and when it is over; in milliseconds of the `Clock`.
 * - `isAcquiring`: whether an acquisition is under way.
 * - `failure`: why the last acquisition failed. None after one that did not, or that died.
 *
 * @category models
 * @since 0.1.0
 */
export class Status extends Data.Class<{
  readonly token: Option.Option<{
    readonly requestedAt: number
    readonly renewedFrom: number
    readonly expiresAt: number
  }>
  readonly isAcquiring: boolean
  readonly failure: Option.Option<TokenError.TokenError>
}> {}

/**
 * - `get`: a token that has not expired. From the cache, or by waiting for the one acquisition.
 * - `invalidate`: drops a token that the service refused, if it is still the current one. The
 *   refusal of an old token never evicts a newer one. Two tokens are dropped in 30 seconds; a third
 *   one stays, because a service that refuses so many would refuse the next one as well.
 * - `refresh`: a new token, whether or not there is one. It too shares an acquisition under way, and
 *   fails at once shortly after one that failed; if it fails, the token that there is stays.
 * - `status`: what is known of the token, for health checks and dashboards.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly get: Effect.Effect<AccessToken.AccessToken, TokenError.TokenError>
  readonly invalidate: (stale: AccessToken.AccessToken) => Effect.Effect<void>
  readonly refresh: Effect.Effect<AccessToken.AccessToken, TokenError.TokenError>
  readonly status: SubscriptionRef.SubscriptionRef<Status>
}

/**
 * @category tags
 * @since 0.1.0
 */
export class TokenProvider extends Context.Tag("@effect-idv/core/TokenProvider")<TokenProvider, Service>() {}

/**
 * - `authUrl`: the address of the token endpoint, without `/oauth/service`. `https:`, or `http:`
 *   to a loopback address. A query is left out.
 * - `allowInsecure`: allows `http:` to other hosts too. Secrets then travel in the clear.
 * - `tokenFields`: where a response may carry its token, first to last. All that `AccessToken.Field`
 *   has unless told otherwise.
 * - `tokenPolicy`: the numbers, each with a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings {
  readonly authUrl: string
  readonly allowInsecure?: boolean | undefined
  readonly tokenFields?: Arr.NonEmptyReadonlyArray<AccessToken.Field> | undefined
  readonly tokenPolicy?: TokenPolicy.Options | undefined
}

/**
 * With the credentials of the onboarding pack.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Settings, Credentials.Options {
  readonly credentials?: undefined
}

/**
 * With credentials from an effect, so that a key can change without a restart. It is run once for
 * each acquisition, and for each `get` while credentials are remembered as refused; those are
 * forgotten as soon as it gives others. Two runs can overlap, for an acquisition is given up by
 * `invalidate`, and at its deadline. If it fails, or gives some that cannot be used, `get`
 * fails with `TokenEndpointUnavailable` and the reason `credentials`. Why it failed is not repeated,
 * for it may hold a secret: log it in the effect.
 *
 * @category models
 * @since 0.1.0
 */
export interface RotatingOptions extends Settings {
  readonly credentials: Effect.Effect<Credentials.Options, unknown>
  readonly customerId?: undefined
  readonly customerKey?: undefined
  readonly basicEncoding?: undefined
}

/**
 * A provider that lives as long as the scope. `ConfigError` names an option that cannot be used,
 * and never shows its value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: Options | RotatingOptions
): Effect.Effect<Service, ConfigError.ConfigError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.map(build(options), ({ service }) => service)

/**
 * Needs an `HttpClient`. Nothing is sent before the first `get`, and no timer runs between two: a
 * program that is done ends.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options | RotatingOptions
): Layer.Layer<TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.scoped(TokenProvider, make(options))

/**
 * {@link layer} with options from `Config`. `ConfigError` names every option that cannot be loaded or
 * used, and never shows a value.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.scoped(TokenProvider, Effect.flatMap(loadOptions(config, TokenOptions.check), make))

/**
 * {@link layer} that acquires the token at once, and renews it ahead with nobody asking: no caller
 * waits for a renewal that succeeds. Its timer keeps the program running until the scope is closed.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerBackground = (
  options: Options | RotatingOptions
): Layer.Layer<TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.scoped(
    TokenProvider,
    Effect.gen(function*() {
      const { ahead, service } = yield* build(options)
      yield* Effect.forkScoped(Effect.interruptible(ahead))
      return service
    })
  )

/**
 * Always the same token, as if it had just been requested, and no `HttpClient`: for tests of what
 * stands on a `TokenProvider`. `invalidate` does nothing. For failures, `Layer.succeed` a `Service`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTest = (value = "test-token"): Layer.Layer<TokenProvider> =>
  Layer.effect(
    TokenProvider,
    Effect.gen(function*() {
      const grant = { value: Redacted.make(value), seconds: undefined, warnings: [] }
      const get = Effect.map(Clock.currentTimeMillis, (now) => AccessToken.fromGrant(grant, now))
      const { expiresAt, requestedAt } = yield* get
      const status = yield* SubscriptionRef.make(
        new Status({
          token: Option.some(Data.struct({ requestedAt, renewedFrom: expiresAt, expiresAt })),
          isAcquiring: false,
          failure: Option.none()
        })
      )
      return TokenProvider.of({ get, invalidate: () => Effect.void, refresh: get, status })
    })
  )

const build = Effect.fnUntraced(function*(options: Options | RotatingOptions) {
  const { credentials, fields, policy, url } = yield* TokenOptions.check(options)
  const acquire = yield* Acquisition.make({ url, policy, fields })
  const status = yield* SubscriptionRef.make(statusOf(TokenState.initial))
  const { ahead, get, invalidate, refresh } = yield* Flights.make({
    policy,
    credentials,
    acquire,
    onChange: (state) => SubscriptionRef.updateEffect(status, () => Effect.map(state, statusOf))
  })
  return {
    ahead,
    service: TokenProvider.of({ get, refresh, invalidate: Effect.fn("TokenProvider.invalidate")(invalidate), status })
  }
})

const statusOf = ({ flight, held, setback }: TokenState.State<unknown>): Status =>
  new Status({
    token: held === undefined || held.isRefused ? Option.none() : Option.some(Data.struct({
      requestedAt: held.token.requestedAt,
      renewedFrom: Math.round(held.token.requestedAt + held.soft),
      expiresAt: held.token.expiresAt
    })),
    isAcquiring: flight !== undefined,
    failure: Option.fromNullable(setback?.error)
  })
