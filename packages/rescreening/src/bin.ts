#!/usr/bin/env node
/**
 * The `idv-rescreen` command.
 */
import * as Idv from "@effect-idv/core/Idv"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { main } from "./internal/cli/main.ts"
import { RunPaused } from "./RescreeningError.ts"

const Package = Schema.parseJson(Schema.Struct({ version: Schema.String }))

const version = Effect.suspend(() =>
  Schema.decode(Package)(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
)

/** One line on standard error. */
const report = (cause: Cause.Cause<unknown>) => {
  if (Cause.isInterruptedOnly(cause)) return Console.error("Interrupted. Run the same command again to continue.")
  const error = Cause.squash(cause)
  const text = ConfigError.isConfigError(error)
    ? Idv.describeConfigError(error)
    : error instanceof Error
    ? error.message
    : String(error)
  return Console.error(text.replaceAll(/\s*\n\s*/g, "; "))
}

const exitCode = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return Number(exit.value)
  if (Cause.isInterruptedOnly(exit.cause)) return 130
  return Cause.squash(exit.cause) instanceof RunPaused ? 4 : 1
}

// The end of a terminal session stops the command like Ctrl-C, so that no row stays `sent`.
process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"))

Effect.flatMap(version, ({ version }) => main(process.argv.slice(2), version)).pipe(
  Effect.onError(report),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown: (exit, onExit) => onExit(exitCode(exit)) })
)
