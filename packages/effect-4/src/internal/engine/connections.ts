/** The `HttpClient` of the engine behind the service `IdvHttp`. */
import type * as IdvHttp3 from "@effect-idv/core/IdvHttp"
import type * as ConfigError3 from "effect-3/ConfigError"
import type * as Context3 from "effect-3/Context"
import type * as Layer3 from "effect-3/Layer"
import * as Effect from "effect/Effect"
import * as Layers from "./layers.ts"

type HttpClient = Layer3.Layer.Success<ReturnType<typeof IdvHttp3.layerUndici>>

const clients = new WeakMap<object, Context3.Context<HttpClient>>()

export const make = (layer: Layer3.Layer<HttpClient, ConfigError3.ConfigError>) =>
  Effect.map(Layers.build(layer), (client) => {
    const pool = Object.freeze({})
    clients.set(pool, client)
    return { pool }
  })

/** Throws for a pool that is not of this package. */
export const clientOf = ({ pool }: { readonly pool: object }): Context3.Context<HttpClient> => {
  const client = clients.get(pool)
  if (client === undefined) throw new TypeError("The pool of IdvHttp is not of this package: use a layer of IdvHttp")
  return client
}
