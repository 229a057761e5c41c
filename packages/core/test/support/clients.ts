/** The HTTP clients that a user may provide. */
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient, Undici } from "@effect/platform-node"
import { Layer } from "effect"

/**
 * `fetch` uses the dispatcher of Node, or of Undici if that is loaded before the first `fetch`. The one of Node 20 treats
 * a truncated chunked body as complete if the connection is then closed.
 */
Undici.setGlobalDispatcher(new Undici.Agent())

export const clients: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["NodeHttpClient.layerUndici", NodeHttpClient.layerUndici],
  ["NodeHttpClient.layer", NodeHttpClient.layer],
  ["FetchHttpClient.layer", FetchHttpClient.layer],
  ["IdvHttp.layerUndici", Layer.orDie(IdvHttp.layerUndici())]
]
