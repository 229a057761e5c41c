/**
 * Provides the whole client, for the token and the check, as one layer.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as AmlClient from "./AmlClient.ts"
import * as CheckOptions from "./internal/check/checkOptions.ts"
import * as OptionSchemas from "./internal/schema/options.ts"
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
    Effect.as(
      options.credentials === undefined ? check(options) : OptionSchemas.decode(rotatingSchema(options), options),
      Layer.provideMerge(AmlClient.layer(options), TokenProvider.layer(options))
    )
  )

/** The schema of all options. */
const schema = (options: object) =>
  Schema.Struct({ ...TokenOptions.schema(options).fields, ...CheckOptions.schema(options).omit("customerId").fields })

const rotatingSchema = (options: object) =>
  Schema.Struct({ ...TokenOptions.rotatingSchema(options).fields, ...CheckOptions.schema(options).fields })

const check = (options: object) => OptionSchemas.decode(schema(options), options)

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
  Layer.unwrapEffect(Effect.map(OptionSchemas.load(config, check), (options) => layer(options)))

/**
 * {@link layer} with options from the environment, or from another `ConfigProvider`. The variable of an option has its
 * name, such as `IDV_BASE_URL` for `baseUrl`, and contains its text, such as `30 seconds`, or the option as JSON, such as
 * `500`, `true` or `{"refreshAfter":0.5}`. `IDV_AUTH_URL`, `IDV_BASE_URL`, `IDV_CUSTOMER_ID` and `IDV_CUSTOMER_KEY` are
 * required.
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
  Layer.unwrapEffect(
    Effect.map(
      OptionSchemas.loadEnv(schema({}).fields, overrides, check),
      (options) => layer({ ...options, sharing: overrides.sharing })
    )
  )

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
    // The message of a `ConfigProvider` only repeats that the variable is missing.
    missingDataCase: (_, path, message) =>
      `${path.join(".")} is missing${/^Expected .* to exist in /.test(message) ? "" : `: it ${message}`}`,
    sourceUnavailableCase: line,
    unsupportedCase: line
  })
}
