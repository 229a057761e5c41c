import { Idv } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { Layer, ManagedRuntime } from "effect"
import { buildOrExit, operationsServer } from "../operations.ts"
import { decisionsInMemory } from "../screening.ts"
import { makeApp } from "./app.ts"

const runtime = ManagedRuntime.make(
  // Replace the table in memory by one of your database.
  Layer.merge(Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici), decisionsInMemory())
)

await buildOrExit(runtime, console.error)

const app = makeApp({ runtime })

const operations = operationsServer(runtime).listen(Number(process.env["OPERATIONS_PORT"] ?? 9000))
const server = app.listen(Number(process.env["PORT"] ?? 3000))

// Disposes after the last response, because a check in flight may be billed.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    operations.close()
    server.close(() => void runtime.dispose())
  })
}
