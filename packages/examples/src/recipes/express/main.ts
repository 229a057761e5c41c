import { Idv } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { Layer, ManagedRuntime } from "effect"
import { makeApp } from "./app.ts"

const runtime = ManagedRuntime.make(Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici))

// Builds the client now, so that a missing variable stops the program before the first applicant.
await runtime.runtime()

const app = makeApp({ runtime, store: async (row) => console.log(JSON.stringify(row)) })

const server = app.listen(Number(process.env["PORT"] ?? 3000))

// Disposes after the last response, because a check in flight may be billed.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => void server.close(() => void runtime.dispose()))
}
