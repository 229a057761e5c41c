import { Idv } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { Layer, ManagedRuntime } from "effect"
import { makeApp } from "./app.ts"

const app = makeApp({
  runtime: ManagedRuntime.make(Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici)),
  store: async (row) => console.log(JSON.stringify(row))
})

// Stops after the last response, because a check in flight may be billed.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void app.close())

await app.listen({ port: 3000 })
