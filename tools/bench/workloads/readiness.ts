/** Prints the milliseconds of the first build of a layer in a process: `readiness.ts <layer>`. */
import * as MockServer from "@effect-idv/mock-server/MockServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"

const builds = {
  socket: Layer.build(MockServer.layerTest),
  inProcess: Layer.build(MockServer.layerHttpClient),
  empty: Layer.build(Layer.provide(
    HttpServer.serve(HttpServerResponse.empty()),
    NodeHttpServer.layerServer(() => createServer(), { port: 0 })
  ))
}

const [, , name = ""] = process.argv

const isLayer = (name: string): name is keyof typeof builds => name in builds

Effect.gen(function*() {
  const build = isLayer(name) ? builds[name] : Effect.die(`unknown layer: ${name}`)
  yield* Effect.yieldNow()
  const startedAt = performance.now()
  yield* build
  yield* Console.log(performance.now() - startedAt)
}).pipe(Effect.scoped, NodeRuntime.runMain)
