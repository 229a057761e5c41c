/** The HTTP clients that a user may bring. */
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient, Undici } from "@effect/platform-node"
import type { Layer } from "effect"

/**
 * What `fetch` sends with is that of Node, or of Undici if that was loaded before the first `fetch`.
 * Node 20's takes chunks that break off for a whole body if the connection is closed after them.
 */
Undici.setGlobalDispatcher(new Undici.Agent())

export const clients: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["NodeHttpClient.layerUndici", NodeHttpClient.layerUndici],
  ["NodeHttpClient.layer", NodeHttpClient.layer],
  ["FetchHttpClient.layer", FetchHttpClient.layer]
]
