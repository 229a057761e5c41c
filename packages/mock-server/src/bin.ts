#!/usr/bin/env node
/** The `idv-mock` command. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import type { Teardown } from "@effect/platform/Runtime"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { constants } from "node:os"
import { main } from "./internal/cli/main.ts"

const Package = Schema.parseJson(Schema.Struct({ version: Schema.String }))

const version = Effect.suspend(() =>
  Schema.decode(Package)(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
)

/** Prints the error that ended the command, in one line. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Console.error((error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, " "))
}

/** Commands that always end by a signal, so that their exit code is 0. */
const servers = ["serve", "record"]

/** The exit code after a signal: 128 plus its number, as in shells. */
let signalExitCode = 1
const onSignal = (signal: NodeJS.Signals) => {
  signalExitCode = servers.includes(process.argv[2] ?? "") ? 0 : 128 + constants.signals[signal]
  // A second signal ends the process at once.
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal)
}
process.on("SIGINT", onSignal).on("SIGTERM", onSignal)

/** The exit code of an error that has one, or 1. */
const exitCodeOf = (error: unknown): number =>
  Predicate.hasProperty(error, "exitCode") && Predicate.isNumber(error.exitCode) ? error.exitCode : 1

const teardown: Teardown = (exit, onExit) => {
  // After a signal no program may read the output any more, so the exit does not wait for it.
  if (Exit.isInterrupted(exit)) return onExit(signalExitCode)
  const code = Exit.isSuccess(exit) ? 0 : exitCodeOf(Cause.squash(exit.cause))
  // A pipe accepts a long report only in parts. An exit before the last part would truncate the report.
  process.stdout.write("", () => onExit(code))
}

Effect.flatMap(version, ({ version }) => main(process.argv.slice(2), { stdout: process.stdout, version })).pipe(
  Effect.tapErrorCause(report),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)
