/**
 * Acquires, caches and renews one access token for all callers.
 *
 * - **Single-flight**: concurrent callers share one acquisition. It runs in the scope of the layer, so an interrupted
 *   caller does not interrupt it, and its token is cached.
 * - **Expiry**: the lifetime starts when the request is sent (service document, section 5). The age is measured on two
 *   clocks, so that neither a changed clock nor a suspended machine extends it.
 * - **Refresh**: a token older than refresh-after (option `refreshAfter`) is still returned at once, and renewed in the
 *   background. A token past usable-until (option `expiryMargin`) is not returned.
 * - **Failures**: a valid token is kept when the token endpoint fails. Callers without a token receive the failure of
 *   the last acquisition at once, without a request, for 1 second, doubled with each consecutive failure, up to 5
 *   seconds. Rejected credentials are not sent again for 30 seconds. Changed credentials are sent at once. If the
 *   service asked to wait, no request is sent before the wait is over.
 * - **Renewal limit**: at most two rejected tokens are replaced in any 30 seconds.
 * - **Sharing**: each process has its own token, unless the option `sharing` is set.
 *
 * The metrics are in `Metrics`.
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
import type * as AccessToken from "./AccessToken.ts"
import * as Address from "./internal/schema/address.ts"
import * as OptionSchemas from "./internal/schema/options.ts"
import * as Acquisitions from "./internal/token/acquisitions.ts"
import type { CredentialOptions } from "./internal/token/credentials.ts"
import * as Sharing from "./internal/token/sharing.ts"
import * as TokenOptions from "./internal/token/tokenOptions.ts"
import * as TokenRequests from "./internal/token/tokenRequests.ts"
import * as TokenResponse from "./internal/token/tokenResponse.ts"
import * as TokenState from "./internal/token/tokenState.ts"
import type * as TokenError from "./TokenError.ts"

/**
 * The state of the provider, without the token.
 *
 * @category models
 * @since 0.1.0
 */
export class Status extends Data.Class<{
  /**
   * The times of the cached token, in milliseconds of the `Clock`. None if there is no token, or if it was rejected.
   */
  readonly token: Option.Option<{
    /** When the token was requested. */
    readonly requestedAt: number
    /** From when the token is renewed in the background: the time of refresh-after. */
    readonly renewedFrom: number
    /** When the token expires. */
    readonly expiresAt: number
  }>
  /** Whether an acquisition is in progress. */
  readonly isAcquiring: boolean
  /** Why the last acquisition failed. None if the acquisition succeeded or died. */
  readonly failure: Option.Option<TokenError.TokenError>
}> {}

/**
 * Whether checks can be sent.
 *
 * @category models
 * @since 0.1.0
 */
export class Readiness extends Data.Class<{
  /** Whether there is a usable token. */
  readonly isReady: boolean
  /**
   * If there is no usable token, the failure of the last acquisition. None if no acquisition has failed since the last
   * token.
   */
  readonly failure: Option.Option<TokenError.TokenError>
}> {}

/**
 * The methods of the provider.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** Returns a token that has not expired. If the cache contains no usable token, it waits for an acquisition. */
  readonly get: Effect.Effect<AccessToken.AccessToken, TokenError.TokenError>
  /**
   * Removes a token that the API rejected from the cache. Nothing changes if the cache contains another token. At most
   * two tokens are removed in 30 seconds, because an API that rejected these will reject a third.
   */
  readonly invalidate: (rejected: AccessToken.AccessToken) => Effect.Effect<void>
  /**
   * Acquires a new token even if the cached one is valid. If an acquisition is in progress, it waits for that one.
   * After a failed acquisition it fails at once with the same failure, for at most 5 seconds. If the token endpoint
   * rejected the credentials, it starts an acquisition, which fails without a request while the credentials are the
   * same. A failure does not remove the cached token.
   */
  readonly refresh: Effect.Effect<AccessToken.AccessToken, TokenError.TokenError>
  /**
   * Whether there is a usable token, or why not, for the readiness probe of an orchestrator. It waits for nothing. Without
   * a usable token, it starts an acquisition as the timer of {@link layerBackground} would: after a failure at the
   * earliest 1 second later, doubled with each failure up to 60 seconds. So probes cause at most one token request in
   * this time, and none while there is a token.
   */
  readonly readiness: Effect.Effect<Readiness>
  /** The state of the provider, for dashboards. */
  readonly status: SubscriptionRef.SubscriptionRef<Status>
}

/**
 * The provider of the access token.
 *
 * @category tags
 * @since 0.1.0
 */
export class TokenProvider extends Context.Tag("@effect-idv/core/TokenProvider")<TokenProvider, Service>() {}

export type { BasicEncoding, CredentialOptions } from "./internal/token/credentials.ts"
export type { PolicyOptions } from "./internal/token/tokenOptions.ts"

/**
 * The options other than the credentials.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings<R = never> {
  /**
   * The address of the token endpoint, without `/oauth/service`: an `https:` URL, or an `http:` URL of a loopback
   * address. A query is dropped.
   */
  readonly authUrl: string
  /**
   * Allows `http:` to hosts other than loopback, for a mock server only. Secrets are then sent in clear text.
   *
   * @default false
   */
  readonly allowInsecure?: boolean | undefined
  /**
   * Where a response may contain the token, in order of preference.
   *
   * @default ["access_token", "accessToken", "token", "data.access_token", "text"]
   */
  readonly tokenFields?: Arr.NonEmptyReadonlyArray<AccessToken.Field> | undefined
  /**
   * When tokens are refreshed, and how acquisitions are retried.
   *
   * @default {}
   */
  readonly tokenPolicy?: TokenOptions.PolicyOptions | undefined
  /**
   * Shares the token with other processes, see `TokenSharing`. The layer requires what this effect requires, except for a
   * `Scope`, which is that of the layer.
   *
   * @default undefined
   */
  readonly sharing?: Effect.Effect<Sharing.Sharing, ConfigError.ConfigError, R> | undefined
}

/**
 * Options with the credentials of the onboarding pack.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> extends Settings<R>, CredentialOptions {
  readonly credentials?: undefined
}

/**
 * Options with an effect that returns the credentials, so that a key can change without a restart.
 *
 * @category models
 * @since 0.1.0
 */
export interface RotatingOptions<R = never> extends Settings<R> {
  /**
   * Runs once per acquisition. After the token endpoint rejected the last credentials, each `get` without a token
   * starts an acquisition, so that changed credentials are used at once; the rejected ones are not sent again. Two runs
   * can overlap, because an acquisition that was in progress when the API rejected the token may still run. If this
   * effect fails or returns invalid credentials, `get` fails with `TokenEndpointUnavailable` and the reason
   * `credentials`. Its error may contain a secret, so it is not reported: log it in the effect.
   */
  readonly credentials: Effect.Effect<CredentialOptions, unknown>
  readonly customerId?: undefined
  readonly customerKey?: undefined
  readonly basicEncoding?: undefined
}

/**
 * Makes a provider that runs until its scope is closed. `ConfigError` names every invalid option, and contains no
 * value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(
  options: Options<R> | RotatingOptions<R>
): Effect.Effect<Service, ConfigError.ConfigError, HttpClient.HttpClient | Scope.Scope | R> =>
  Effect.map(build(options), ({ service }) => service)

/**
 * Provides the token provider. It requires an `HttpClient`. Nothing is sent before the first `get`, and no timer runs
 * between two calls, so it does not keep a program running.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  options: Options<R> | RotatingOptions<R>
): Layer.Layer<TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient | Exclude<R, Scope.Scope>> =>
  Layer.scoped(TokenProvider, make(options))

/**
 * {@link layer} with options from `Config`. `ConfigError` names every missing or invalid option, and contains no value.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.scoped(TokenProvider, Effect.flatMap(OptionSchemas.load(config, TokenOptions.check), make))

/**
 * {@link layer} with background refresh: acquires the token at once, and renews it before callers would wait. Its timer
 * keeps the program running until the scope is closed.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerBackground = <R = never>(
  options: Options<R> | RotatingOptions<R>
): Layer.Layer<TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient | Exclude<R, Scope.Scope>> =>
  Layer.scoped(
    TokenProvider,
    Effect.gen(function*() {
      const { backgroundTimer, service } = yield* build(options)
      yield* Effect.forkScoped(Effect.interruptible(backgroundTimer))
      return service
    })
  )

/**
 * Provides a provider for tests, without an `HttpClient`: it returns the same token, as if it had just been requested.
 * `invalidate` does nothing. To test failures, provide a `Service` with `Layer.succeed`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTest = (value = "test-token"): Layer.Layer<TokenProvider> =>
  Layer.effect(
    TokenProvider,
    Effect.gen(function*() {
      const grant = { value: Redacted.make(value), seconds: undefined, warnings: [] }
      const get = Effect.map(Clock.currentTimeMillis, (now) => TokenResponse.toToken(grant, now))
      const { expiresAt, requestedAt } = yield* get
      const status = yield* SubscriptionRef.make(
        new Status({
          token: Option.some(Data.struct({ requestedAt, renewedFrom: expiresAt, expiresAt })),
          isAcquiring: false,
          failure: Option.none()
        })
      )
      const readiness = Effect.succeed(new Readiness({ isReady: true, failure: Option.none() }))
      return TokenProvider.of({ get, invalidate: () => Effect.void, refresh: get, readiness, status })
    })
  )

const build = Effect.fnUntraced(function*<R>(options: Options<R> | RotatingOptions<R>) {
  const { credentials, fields, policy, url } = yield* TokenOptions.prepare(options)
  const acquire = yield* TokenRequests.make({ url, policy, fields })
  const sharing = options.sharing === undefined ? undefined : yield* options.sharing
  const acquireThroughStore = sharing === undefined ? Sharing.withoutStore : yield* sharing({ url, policy })
  const status = yield* SubscriptionRef.make(statusOf(TokenState.initial))
  const { backgroundTimer, get, invalidate, readiness, refresh } = yield* Acquisitions.make({
    host: Address.hostOf(url),
    policy,
    credentials,
    acquire,
    acquireThroughStore,
    onChange: (state) => SubscriptionRef.updateEffect(status, () => Effect.map(state, statusOf))
  })
  return {
    backgroundTimer,
    service: TokenProvider.of({
      get,
      refresh,
      invalidate: Effect.fn("TokenProvider.invalidate")(invalidate),
      readiness: Effect.map(
        readiness,
        ({ failure, isReady }) => new Readiness({ isReady, failure: Option.fromNullable(failure) })
      ),
      status
    })
  }
})

const statusOf = ({ acquisition, backoff, cached }: TokenState.State<unknown>): Status =>
  new Status({
    token: cached === undefined || cached.isRejected ? Option.none() : Option.some(Data.struct({
      requestedAt: cached.token.requestedAt,
      renewedFrom: Math.round(cached.token.requestedAt + cached.refreshAfter),
      expiresAt: cached.token.expiresAt
    })),
    isAcquiring: acquisition !== undefined,
    failure: Option.fromNullable(backoff?.error)
  })
