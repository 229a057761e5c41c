import { Idv } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { Layer, ManagedRuntime } from "effect"
import { decisionsInMemory } from "../screening.ts"
import { makeApp } from "./app.ts"

const app = makeApp({
  runtime: ManagedRuntime.make(
    // Replace the table in memory by one of your database.
    Layer.merge(Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici), decisionsInMemory())
  )
})

// Stops after the last response, because a check in flight may be billed.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void app.close())

await app.listen({ port: 3000 })
