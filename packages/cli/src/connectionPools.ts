/** An HTTP client with one pool of connections for each origin. It reuses connections, and uses the proxies of variables. */
import * as Idv from "@effect-idv/core/Idv"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as UsageError from "./usageError.ts"

/**
 * The `Agent` of undici 7 counts the connections that an earlier pool of the origin closes as connections of the
 * current one. After the first HEAD request it therefore opens a connection for almost every request. This pool emits no
 * events, so that the agent keeps it.
 */
class QuietPool extends Undici.Dispatcher {
  readonly #pool: Undici.Pool

  constructor(origin: string | URL, options: Undici.Pool.Options) {
    super()
    this.#pool = new Undici.Pool(origin, options)
  }

  override dispatch(options: Undici.Dispatcher.DispatchOptions, handler: Undici.Dispatcher.DispatchHandler): boolean {
    return this.#pool.dispatch(options, handler)
  }

  override destroy(): Promise<void> {
    return this.#pool.destroy()
  }
}

const dispatcher = Layer.scoped(
  NodeHttpClient.Dispatcher,
  Effect.mapError(
    IdvHttp.dispatcherEnv({ factory: (origin, options) => new QuietPool(origin, options) }),
    (error) => new UsageError.UsageError({ text: Idv.describeConfigError(error).replaceAll("\n", "; ") })
  )
)

/** The client. Its connections close with the scope. */
export const layer = Layer.provide(NodeHttpClient.layerUndiciWithoutDispatcher, dispatcher)
