/** The HTTP clients that a user may bring. */
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import type { Layer } from "effect"

export const clients: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["NodeHttpClient.layerUndici", NodeHttpClient.layerUndici],
  ["NodeHttpClient.layer", NodeHttpClient.layer],
  ["FetchHttpClient.layer", FetchHttpClient.layer]
]
