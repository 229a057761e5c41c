/** An HTTP client with one pool of connections for each origin. It reuses connections. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The `Agent` of undici 7 counts the connections that an earlier pool of the origin closes as connections of the
 * current one. After the first HEAD request it therefore opens a connection for almost every request.
 */
class PoolPerOrigin extends Undici.Dispatcher {
  readonly #pools = new Map<string, Undici.Pool>()

  override dispatch(options: Undici.Dispatcher.DispatchOptions, handler: Undici.Dispatcher.DispatchHandler): boolean {
    const origin = String(options.origin)
    const pool = this.#pools.get(origin) ?? new Undici.Pool(origin)
    this.#pools.set(origin, pool)
    return pool.dispatch(options, handler)
  }

  readonly destroyAll = Effect.suspend(() =>
    Effect.forEach(this.#pools.values(), (pool) => Effect.promise(() => pool.destroy()), {
      concurrency: "unbounded",
      discard: true
    })
  )
}

const dispatcher = Layer.scoped(
  NodeHttpClient.Dispatcher,
  Effect.acquireRelease(Effect.sync(() => new PoolPerOrigin()), ({ destroyAll }) => destroyAll)
)

/** The client. Its connections close with the scope. */
export const layer = Layer.provide(NodeHttpClient.layerUndiciWithoutDispatcher, dispatcher)
