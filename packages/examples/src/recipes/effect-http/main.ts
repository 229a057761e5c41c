import { Idv } from "@effect-idv/core"
import { NodeHttpClient, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Layer } from "effect"
import { createServer } from "node:http"
import { layer, layerOperations } from "./server.ts"

// Each API has its own server.
Layer.merge(
  Layer.provide(layer, NodeHttpServer.layer(createServer, { port: 3000 })),
  Layer.provide(layerOperations, NodeHttpServer.layer(createServer, { port: 9000 }))
).pipe(
  Layer.provide(Idv.layerEnv()),
  Layer.provide(NodeHttpClient.layerUndici),
  Layer.launch,
  NodeRuntime.runMain
)
