import { Idv } from "@effect-idv/core"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import { Layer, ManagedRuntime } from "effect"
import { pino } from "pino"
import { buildOrExit, layerLogger, operationsServer } from "../operations.ts"
import { decisionsInMemory } from "../screening.ts"
import { makeApp } from "./app.ts"

const log = pino()

const runtime = ManagedRuntime.make(
  // Replace the table in memory by one of your database.
  Layer.mergeAll(Layer.provide(Idv.layerEnv(), IdvHttp.layerEnv()), decisionsInMemory(), layerLogger(log))
)
const app = makeApp({ log, runtime })
const operations = operationsServer(runtime)

// Stops after the last response, because a check in flight may be billed.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    void app.close()
    operations.close()
  })
}

await buildOrExit(runtime, (line) => log.fatal(line))
// On all network interfaces: in a container, a probe comes from another host.
operations.listen(Number(process.env["OPERATIONS_PORT"] ?? 9000))
await app.listen({ host: "0.0.0.0", port: Number(process.env["PORT"] ?? 3000) })
