/**
 * Screens each person in a workflow of `@effect/workflow`, on a cluster whose runners share a PostgreSQL database:
 * `rescreeningWorkflow.ts <url of the service> <database> <port>`. Each process is a runner.
 */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { ClusterWorkflowEngine, RunnerAddress } from "@effect/cluster"
import { NodeClusterSocket, NodeHttpClient } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Activity, Workflow } from "@effect/workflow"
import { Effect, Layer, Logger, LogLevel, Option, Redacted, Schema } from "effect"
import * as Workload from "../support/Workload.ts"

const [, , url = "", database = "", port = "0"] = process.argv

const layerAml = Layer.provide(
  Idv.layer({ authUrl: url, baseUrl: url, customerId: "demo-customer", customerKey: Redacted.make("demo-key") }),
  NodeHttpClient.layerUndici
)

const Screen = Workflow.make({
  name: "Screen",
  payload: { key: Schema.String, name: Schema.String, dateOfBirth: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ key }) => key
})

const layerScreen = Screen.toLayer((person) =>
  Activity.make({
    name: "check",
    success: Schema.String,
    execute: Person.make(person).pipe(
      Effect.flatMap((person) => Effect.flatMap(AmlClient.AmlClient, (aml) => aml.check(person))),
      Effect.map(({ result }) => result),
      Effect.orDie
    )
  })
)

const layerEngine = Layer.provideMerge(
  ClusterWorkflowEngine.layer,
  NodeClusterSocket.layer({
    storage: "sql",
    shardingConfig: { runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", Number(port))) }
  })
)

const layer = Layer.provideMerge(layerScreen, layerEngine).pipe(
  Layer.provideMerge(Layer.merge(layerAml, PgClient.layer({ url: Redacted.make(database) }))),
  Layer.provide(Logger.minimumLogLevel(LogLevel.Warning))
)

Workload.mainWith(Effect.map(Layer.build(layer), (context) => {
  let index = 0
  return Workload.concurrently(Workload.fromEffect(
    Effect.suspend(() =>
      Screen.execute({ key: `${port}-${index++}`, name: "Ada Testclear", dateOfBirth: "1980-03-14" })
    ).pipe(Effect.provide(context)),
    "No"
  ))
}))
