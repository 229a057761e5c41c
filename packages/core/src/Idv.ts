/**
 * The front door: everything a backend needs to screen people, as one layer.
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
import * as AmlClient from "./AmlClient.ts"
import * as Credentials from "./Credentials.ts"
import * as IdvApi from "./IdvApi.ts"
import * as Address from "./internal/address.ts"
import * as CheckOptions from "./internal/checkOptions.ts"
import * as ConfigErrors from "./internal/configErrors.ts"
import { loadOptions } from "./internal/loadOptions.ts"
import * as TokenOptions from "./internal/tokenOptions.ts"
import * as TokenProvider from "./TokenProvider.ts"

/**
 * - `authUrl`, `customerId`, `customerKey`, `basicEncoding`, `tokenFields`, `tokenPolicy`: for the
 *   access token, see `TokenProvider.Options`.
 * - `baseUrl`, `propagateTrace`: for the check, see `AmlClient.Options`.
 * - `deadline`, `retry`, `nameEcho`, `searchedOnTolerance`: see `CheckPolicy.Options`.
 * - `allowInsecure`: allows `http:` to hosts that are not loopback.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends TokenProvider.Options, AmlClient.Options {}

/**
 * With credentials from an effect, see `TokenProvider.RotatingOptions`.
 *
 * @category models
 * @since 0.1.0
 */
export interface RotatingOptions extends TokenProvider.RotatingOptions, AmlClient.Options {}

/**
 * @category models
 * @since 0.1.0
 */
export type Idv = AmlClient.AmlClient | TokenProvider.TokenProvider

/**
 * Needs an `HttpClient`, such as `NodeHttpClient.layerUndici`. With `FetchHttpClient.layer`, a
 * `RequestInit` must be provided to this layer too. Nothing is sent before the first check.
 * `ConfigError` names every option that cannot be used, and never shows a value.
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
export const layer = (
  options: Options | RotatingOptions
): Layer.Layer<Idv, ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(
    Effect.as(check(options), Layer.provideMerge(AmlClient.layer(options), TokenProvider.layer(options)))
  )

/** All that is wrong with the options of either, in this order. */
const check = (options: Partial<Options> | RotatingOptions) =>
  ConfigErrors.all({ token: TokenOptions.check(options), aml: CheckOptions.check(options) })

/**
 * {@link layer} with options from `Config`. `ConfigError` names every option that cannot be loaded or
 * used, and never shows a value: of what a `Config` of yours says of one, only an expectation in the
 * form of `Config` itself is repeated.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<Idv, ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(Effect.map(loadOptions(config, check), layer))

/**
 * {@link layer} with options from the environment, or whatever the `ConfigProvider` is:
 *
 * - `IDV_AUTH_URL`, `IDV_BASE_URL`, `IDV_CUSTOMER_ID`, `IDV_CUSTOMER_KEY`
 * - `IDV_ALLOW_INSECURE=true`, if `http:` must go to a host that is not loopback.
 *
 * `ConfigError` names each variable that is missing or malformed and what it should be.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEnv: Layer.Layer<Idv, ConfigError.ConfigError, HttpClient.HttpClient> = Layer.suspend(() =>
  Layer.unwrapEffect(Effect.map(environment, layer))
)

const variable = (name: string, expectation: string) =>
  Config.mapOrFail(
    Config.option(Config.string(name)),
    Either.fromOption(() => ConfigError.MissingData([name], expectation))
  )

const allowInsecure = Config.mapOrFail(
  Config.withDefault(Config.string("IDV_ALLOW_INSECURE"), "false"),
  (text) =>
    text === "true" || text === "false"
      ? Either.right(text === "true")
      : Either.left(ConfigError.InvalidData(["IDV_ALLOW_INSECURE"], "should be true or false"))
)

/** A flag that is malformed is told of once, and not again by each address. */
const address = (name: string, path: string, expectation: string) =>
  Config.all([variable(name, expectation), Config.orElse(allowInsecure, () => Config.succeed(true))]).pipe(
    Config.mapOrFail(([base, allowInsecure]) =>
      Either.map(Address.make(name, base, path, { allowInsecure }), () => base)
    )
  )

const environment: Config.Config<Options> = Config.all({
  authUrl: address(
    "IDV_AUTH_URL",
    IdvApi.token.path,
    "should be the address of the token endpoint, such as https://auth.example.com"
  ),
  baseUrl: address(
    "IDV_BASE_URL",
    IdvApi.aml.path,
    "should be the address of the API, such as https://api.example.com"
  ),
  customerId: variable("IDV_CUSTOMER_ID", "should be the customer id of the onboarding pack").pipe(
    Config.mapOrFail((id) => Credentials.checkCustomerId("IDV_CUSTOMER_ID", id))
  ),
  customerKey: variable("IDV_CUSTOMER_KEY", "should be the customer key of the onboarding pack").pipe(
    Config.mapOrFail((key) => Credentials.checkCustomerKey("IDV_CUSTOMER_KEY", Redacted.make(key)))
  ),
  allowInsecure
})

/**
 * A `ConfigError` for whoever reads a terminal: a line for each option or variable that cannot be
 * used, such as `IDV_BASE_URL is missing: it should be …`. No value of an option of this library is in it.
 *
 * @category destructors
 * @since 0.1.0
 */
export const describeConfigError = (error: ConfigError.ConfigError): string => {
  const said = (_: void, path: ReadonlyArray<string>, message: string) => `${path.join(".")} ${message}`
  const both = (_: void, left: string, right: string) => `${left}\n${right}`
  return ConfigError.reduceWithContext<void, string>(error, undefined, {
    andCase: both,
    orCase: both,
    invalidDataCase: said,
    missingDataCase: (_, path, message) => `${path.join(".")} is missing: it ${message}`,
    sourceUnavailableCase: said,
    unsupportedCase: said
  })
}
