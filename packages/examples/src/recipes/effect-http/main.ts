import { Idv } from "@effect-idv/core"
import { NodeHttpClient, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Layer } from "effect"
import { createServer } from "node:http"
import { layerOperations } from "../operations.ts"
import { layer } from "./server.ts"

Layer.merge(
  Layer.provide(layer, NodeHttpServer.layer(createServer, { port: 3000 })),
  layerOperations({ port: 9000 })
).pipe(
  Layer.provide(Idv.layerEnv()),
  Layer.provide(NodeHttpClient.layerUndici),
  Layer.launch,
  NodeRuntime.runMain
)
