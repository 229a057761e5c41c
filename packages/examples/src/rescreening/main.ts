/**
 * Screens the people of a CSV file, and continues after a kill: see README.md. The ledger is SQLite
 * beside the file, or PostgreSQL if `DATABASE_URL` is set.
 */
import { Idv } from "@effect-idv/core"
import { Ledger } from "@effect-idv/rescreening"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Config, ConfigError, Console, Effect, Layer, Option } from "effect"
import { screen } from "./rescreening.ts"
import * as Service from "./service.ts"

const ledger = (file: string) =>
  Config.option(Config.redacted("DATABASE_URL")).pipe(
    Effect.map(Option.match({
      onNone: () => Ledger.layerSqlite({ file: `${file}.ledger.sqlite` }),
      onSome: (url) => Ledger.layerPg({ url })
    })),
    Layer.unwrapEffect
  )

const report = (cause: Cause.Cause<unknown>) => {
  if (Cause.isInterruptedOnly(cause)) return Console.error("Interrupted. Run the same command again to continue.")
  const error = Cause.squash(cause)
  return Console.error(
    ConfigError.isConfigError(error) ? Idv.describeConfigError(error) : error instanceof Error ? error.message : error
  )
}

Effect.gen(function*() {
  const [file, ...others] = process.argv.slice(2)
  if (file === undefined || others.length > 0) return yield* Effect.fail("Usage: rescreening <people.csv>")
  yield* Effect.provide(screen(file), Layer.merge(Service.layer, ledger(file)))
}).pipe(
  Effect.provide(NodeContext.layer),
  Effect.onError(report),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
