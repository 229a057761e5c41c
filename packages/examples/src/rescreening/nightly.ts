/**
 * A worker that screens a CSV file every night at one o'clock UTC: `DATABASE_URL=… nightly <people.csv> [--now]`. Start
 * it on as many machines as you like. With `--now` it also plans the run of today at once.
 */
import { Idv } from "@effect-idv/core"
import { Ledger, People, Population, Rescreening } from "@effect-idv/rescreening"
import * as EnginePgBoss from "@effect-idv/rescreening/EnginePgBoss"
import { FileSystem } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Config, DateTime, Effect, Layer } from "effect"

const layer = Layer.mergeAll(
  Layer.unwrapEffect(Effect.map(Config.redacted("DATABASE_URL"), (url) => Ledger.layerPg({ url }))),
  People.layerEnv,
  Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici),
  NodeContext.layer
)

Effect.gen(function*() {
  const [file, now] = process.argv.slice(2)
  if (file === undefined) return yield* Effect.fail("Usage: nightly <people.csv> [--now]")
  const files = yield* FileSystem.FileSystem
  const url = yield* Config.redacted("DATABASE_URL")
  // The name that the command `idv-rescreen` uses, so that both share a rate.
  const { host, pathname } = yield* Config.url("IDV_BASE_URL")
  const environment = yield* Config.withDefault(Config.string("IDV_ENVIRONMENT"), "")
  const service = `${host}${pathname.replace(/\/+$/, "")} ${yield* Config.string("IDV_CUSTOMER_ID")}`

  // The run of a day is planned once, even if two machines start it.
  const night = Effect.gen(function*() {
    const run = DateTime.formatIsoDateUtc(yield* DateTime.now)
    yield* Rescreening.plan(Population.fromCsv(files.stream(file)), { run, service, environment, rate: 20 })
  })

  if (now === "--now") yield* night
  return yield* EnginePgBoss.work({ url, service, environment, cron: "0 1 * * *", night })
}).pipe(
  Effect.provide(layer),
  NodeRuntime.runMain
)
