/**
 * Provides the whole client, for the token and the check, as one layer.
 *
 * @since 0.1.0
 */
import * as Idv3 from "@effect-idv/core/Idv"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AmlClient from "./AmlClient.ts"
import * as IdvHttp from "./IdvHttp.ts"
import * as ClientOf from "./internal/engine/client.ts"
import * as ConfigOf from "./internal/engine/config.ts"
import * as Connections from "./internal/engine/connections.ts"
import * as Layers from "./internal/engine/layers.ts"
import * as OptionsOf from "./internal/engine/options.ts"
import type * as Options from "./internal/options.ts"
import * as TokenProvider from "./TokenProvider.ts"

export type { CredentialOptions, Options, RotatingOptions, Settings, TokenPolicyOptions } from "./internal/options.ts"

/**
 * The services of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export type Idv = AmlClient.AmlClient | TokenProvider.TokenProvider

const provide = (make: (context: Context.Context<never>) => ReturnType<typeof Idv3.layerEnv<never>>) =>
  Layer.effectContext(
    Effect.gen(function*() {
      const client = Connections.clientOf(yield* IdvHttp.IdvHttp)
      const engine = yield* Layers.buildWith(make(yield* Effect.context<never>()), client)
      return Context.make(AmlClient.AmlClient, { check: ClientOf.check(engine) }).pipe(
        Context.add(TokenProvider.TokenProvider, { readiness: ClientOf.readiness(engine) })
      )
    })
  )

/**
 * Provides the client. It requires the connections of `IdvHttp`, such as `IdvHttp.layerEnv()`. Nothing is sent before the
 * first check. `ConfigError` names every invalid option, and contains no value.
 *
 * @example
 * import { Idv, IdvHttp } from "@effect-idv/effect-4"
 * import { Layer, Redacted } from "effect"
 *
 * const layer = Idv.layer({
 *   authUrl: "https://auth.example.com",
 *   baseUrl: "https://api.example.com",
 *   customerId: "acme-bank",
 *   customerKey: Redacted.make("from your vault")
 * }).pipe(Layer.provide(IdvHttp.layerEnv()))
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options.Options | Options.RotatingOptions
): Layer.Layer<Idv, Config.ConfigError, IdvHttp.IdvHttp> =>
  provide((context) => Idv3.layer(OptionsOf.fromOptions(options, context)))

/**
 * {@link layer} with options from `Config`. `ConfigError` names every option that cannot be loaded, or else every invalid
 * one, and contains no value.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Wrap<Options.Options>
): Layer.Layer<Idv, Config.ConfigError, IdvHttp.IdvHttp> => Layer.unwrap(Effect.map(ConfigOf.load(config), layer))

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
 * import { Idv, IdvHttp } from "@effect-idv/effect-4"
 * import { Layer } from "effect"
 *
 * const layer = Idv.layerEnv({ concurrency: 500 }).pipe(Layer.provide(IdvHttp.layerEnv()))
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEnv = (
  overrides: Partial<Options.Options> = {}
): Layer.Layer<Idv, Config.ConfigError, IdvHttp.IdvHttp> =>
  provide(() => Idv3.layerEnv(OptionsOf.fromOverrides(overrides)))

/**
 * Formats a `ConfigError` for a terminal: one line for each invalid option or variable, such as
 * `IDV_BASE_URL is missing: it should be …`. It contains no value of an option of this library.
 *
 * @category destructors
 * @since 0.1.0
 */
export const describeConfigError = (error: Config.ConfigError): string =>
  ConfigOf.problemsOf(error).map(({ message, path }) => [path.join("."), message].join(" ").trim()).join("\n")
