import { Idv } from "@effect-idv/core"
import { NodeHttpClient, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Layer } from "effect"
import { createServer } from "node:http"
import { layer } from "./server.ts"

layer.pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { port: 3000 })),
  Layer.provide(Idv.layerEnv()),
  Layer.provide(NodeHttpClient.layerUndici),
  Layer.launch,
  NodeRuntime.runMain
)
