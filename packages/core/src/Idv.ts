/**
 * Provides the whole client, for the token and the check, as one layer.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as AmlClient from "./AmlClient.ts"
import * as Credentials from "./Credentials.ts"
import * as IdvApi from "./IdvApi.ts"
import * as CheckOptions from "./internal/check/checkOptions.ts"
import * as Address from "./internal/schema/address.ts"
import * as ConfigErrors from "./internal/schema/configErrors.ts"
import { loadOptions } from "./internal/schema/loadOptions.ts"
import * as TokenOptions from "./internal/token/tokenOptions.ts"
import * as TokenProvider from "./TokenProvider.ts"

/**
 * The options of `TokenProvider` and `AmlClient` together, see `TokenProvider.Options` and `AmlClient.Options`.
 * `allowInsecure` applies to both addresses.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> extends TokenProvider.Options<R>, AmlClient.Options {
  readonly customerId: string
}

/**
 * {@link Options} with an effect that returns the credentials, see `TokenProvider.RotatingOptions`.
 *
 * @category models
 * @since 0.1.0
 */
export interface RotatingOptions<R = never> extends TokenProvider.RotatingOptions<R>, AmlClient.Options {
  readonly customerId?: undefined
}

/**
 * The services of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export type Idv = AmlClient.AmlClient | TokenProvider.TokenProvider

/**
 * Provides the client. It requires an `HttpClient`, such as `NodeHttpClient.layerUndici`. If you provide a
 * `RequestInit` to `FetchHttpClient.layer`, provide it to this layer too. Nothing is sent before the first check.
 * `ConfigError` names every invalid option, and contains no value.
 *
 * @example
 * import { Idv } from "@effect-idv/core"
 * import { Redacted } from "effect"
 *
 * Idv.layer({
 *   authUrl: "https://auth.example.com",
 *   baseUrl: "https://api.example.com",
 *   customerId: "acme-bank",
 *   customerKey: Redacted.make("from your vault")
 * })
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  options: Options<R> | RotatingOptions<R>
): Layer.Layer<Idv, ConfigError.ConfigError, HttpClient.HttpClient | Exclude<R, Scope.Scope>> =>
  Layer.unwrapEffect(
    Effect.as(check(options), Layer.provideMerge(AmlClient.layer(options), TokenProvider.layer(options)))
  )

/** Returns all errors of the options. The errors of the token's options come first. */
const check = <R>(options: Partial<Options<R>> | RotatingOptions<R>) =>
  ConfigErrors.all({ token: TokenOptions.check(options), aml: CheckOptions.check(options) })

/**
 * {@link layer} with options from `Config`. `ConfigError` names every missing or invalid option, and contains no value.
 * The message of a custom `Config` may contain its value: only an expectation in the format of `Config` itself is kept.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<Idv, ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(Effect.map(loadOptions(config, check), (options) => layer(options)))

/**
 * {@link layer} with options from the environment, or from another `ConfigProvider`:
 *
 * - `IDV_AUTH_URL`, `IDV_BASE_URL`, `IDV_CUSTOMER_ID`, `IDV_CUSTOMER_KEY`
 * - `IDV_ALLOW_INSECURE=true` allows `http:` to hosts other than loopback.
 *
 * `ConfigError` names every missing or invalid variable, and what it should be. An option in `overrides` wins, and its
 * variable is not read.
 *
 * @example
 * import { Idv } from "@effect-idv/core"
 *
 * const layer = Idv.layerEnv({ concurrency: 500 })
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEnv = <R = never>(
  overrides: Partial<Options<R>> = {}
): Layer.Layer<Idv, ConfigError.ConfigError, HttpClient.HttpClient | Exclude<R, Scope.Scope>> =>
  Layer.unwrapEffect(Effect.map(config(overrides), (options) => layer({ ...overrides, ...options })))

const variable = (name: string, expectation: string) =>
  Config.mapOrFail(
    Config.option(Config.string(name)),
    Either.fromOption(() => ConfigError.MissingData([name], expectation))
  )

const orVariable = <A>(override: A | undefined, variable: Config.Config<A>): Config.Config<A> =>
  override === undefined ? variable : Config.succeed(override)

const allowInsecureVariable = Config.mapOrFail(
  Config.withDefault(Config.string("IDV_ALLOW_INSECURE"), "false"),
  (text) =>
    text === "true" || text === "false"
      ? Either.right(text === "true")
      : Either.left(ConfigError.InvalidData(["IDV_ALLOW_INSECURE"], "should be true or false"))
)

/** The options of the environment, or the overrides. */
const config = ({ allowInsecure, authUrl, baseUrl, customerId, customerKey }: Partial<Options<unknown>>) => {
  const insecure = orVariable(allowInsecure, allowInsecureVariable)
  /** Reads an address. If `IDV_ALLOW_INSECURE` is invalid, this reports no second error for it. */
  const address = (name: string, path: string, expectation: string) =>
    Config.all([variable(name, expectation), Config.orElse(insecure, () => Config.succeed(true))]).pipe(
      Config.mapOrFail(([base, allowInsecure]) =>
        Either.map(Address.make(name, base, path, { allowInsecure }), () => base)
      )
    )
  return Config.all({
    authUrl: orVariable(
      authUrl,
      address(
        "IDV_AUTH_URL",
        IdvApi.token.path,
        "should be the address of the token endpoint, such as https://auth.example.com"
      )
    ),
    baseUrl: orVariable(
      baseUrl,
      address(
        "IDV_BASE_URL",
        IdvApi.aml.path,
        "should be the address of the API, such as https://api.example.com"
      )
    ),
    customerId: orVariable(
      customerId,
      variable("IDV_CUSTOMER_ID", "should be the customer id of the onboarding pack").pipe(
        Config.mapOrFail((id) => Credentials.checkCustomerId("IDV_CUSTOMER_ID", id))
      )
    ),
    customerKey: orVariable(
      customerKey,
      variable("IDV_CUSTOMER_KEY", "should be the customer key of the onboarding pack").pipe(
        Config.mapOrFail((key) => Credentials.checkCustomerKey("IDV_CUSTOMER_KEY", Redacted.make(key)))
      )
    ),
    allowInsecure: insecure
  })
}

/**
 * Formats a `ConfigError` for a terminal: one line for each invalid option or variable, such as
 * `IDV_BASE_URL is missing: it should be …`. It contains no value of an option of this library.
 *
 * @category destructors
 * @since 0.1.0
 */
export const describeConfigError = (error: ConfigError.ConfigError): string => {
  const line = (_: void, path: ReadonlyArray<string>, message: string) => `${path.join(".")} ${message}`
  const lines = (_: void, left: string, right: string) => `${left}\n${right}`
  return ConfigError.reduceWithContext<void, string>(error, undefined, {
    andCase: lines,
    orCase: lines,
    invalidDataCase: line,
    missingDataCase: (_, path, message) => `${path.join(".")} is missing: it ${message}`,
    sourceUnavailableCase: line,
    unsupportedCase: line
  })
}
