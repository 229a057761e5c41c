/**
 * The connections of the client, over Undici.
 *
 * @since 0.1.0
 */
import * as IdvHttp3 from "@effect-idv/core/IdvHttp"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Undici from "undici"
import * as Connections from "./internal/engine/connections.ts"

/**
 * The connections that the client uses.
 *
 * @category tags
 * @since 0.1.0
 */
export class IdvHttp extends Context.Service<IdvHttp, Service>()("@effect-idv/effect-4/IdvHttp") {}

/**
 * The connections, without methods for programs. To change requests, use {@link layerDispatcher} with interceptors.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** The pool that a layer of this module made. A service of yours may pass it on. */
  readonly pool: object
}

/**
 * Provides a pool of connections of Undici. The options are those of Undici's `Agent`, for example `keepAliveTimeout`, in
 * milliseconds, for idle connections, or within `connect`, all in PEM:
 *
 * - `ca`: the certificate authorities to trust, instead of those of Node
 * - `cert` and `key`: the client certificate, followed by its chain, and its private key
 *
 * `ConfigError` names a certificate or key that cannot be used. At most 128 connections to each origin are open. It
 * connects directly: {@link layerEnv} uses proxies.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUndici = (options?: Undici.Agent.Options): Layer.Layer<IdvHttp, Config.ConfigError> =>
  Layer.effect(IdvHttp, Connections.make(IdvHttp3.layerUndici(options)))

/**
 * {@link layerUndici} with the proxies, the client certificate and the `User-Agent` of the environment, or of another
 * `ConfigProvider`: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, `IDV_CLIENT_CERT`, `IDV_CLIENT_KEY` and `IDV_USER_AGENT`.
 * `ConfigError` names each variable or option that cannot be used, and contains no value.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEnv = (options?: Undici.Agent.Options): Layer.Layer<IdvHttp, Config.ConfigError> =>
  Layer.effect(IdvHttp, Connections.make(IdvHttp3.layerEnv(options)))

/**
 * {@link layerUndici} over a dispatcher of yours, such as an agent with interceptors. The layer does not close it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerDispatcher = (dispatcher: Undici.Dispatcher): Layer.Layer<IdvHttp> =>
  Layer.effect(IdvHttp, Effect.orDie(Connections.make(IdvHttp3.layerDispatcher(dispatcher))))
