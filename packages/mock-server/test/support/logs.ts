/** Runs a command that logs, with a logger of its own, as `idv-mock` does. */
import * as RunMain from "@effect-idv/cli/runMain"
import { Effect, Logger } from "effect"

RunMain.run(
  new URL("../../package.json", import.meta.url),
  () => Effect.logError("canary").pipe(Effect.provide(Logger.replace(Logger.defaultLogger, Logger.none)))
)
