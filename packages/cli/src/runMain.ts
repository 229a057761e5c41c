/** Runs a command as the process: its errors in one line, its exit code, and its end by a signal. */
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

const Package = Schema.parseJson(Schema.Struct({ version: Schema.String }))

/** Prints the error that ended the command, in one line. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Console.error((error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, " "))
}

/** The exit code of an error that has one, or 1. */
const exitCodeOf = (error: unknown): number =>
  Predicate.hasProperty(error, "exitCode") && Predicate.isNumber(error.exitCode) ? error.exitCode : 1

/**
 * Runs `main` with the words of the command line and the version in the manifest. If `main` returns a number, that is
 * the exit code. `servers` are the commands that always end by a signal, so that their exit code is 0.
 */
export const run = <E>(
  manifest: URL,
  main: (words: ReadonlyArray<string>, version: string) => Effect.Effect<number | void, E>,
  servers: ReadonlyArray<string> = []
): void => {
  // After a signal: 128 plus its number, as in shells.
  let signalExitCode = 1
  const onSignal = (signal: NodeJS.Signals) => {
    signalExitCode = servers.includes(process.argv[2] ?? "") ? 0 : 128 + constants.signals[signal]
    // A second signal ends the process at once.
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal)
  }
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal)
  // Without a reader of its output, or with a full disk, a command still completes its work: its checks may be billed.
  let isOutputLost = false
  process.stderr.on("error", () => {})
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || isOutputLost) return
    isOutputLost = true
    process.stderr.write(`The output cannot be written (${error.code})\n`)
  })

  const teardown: Teardown = (exit, onExit) => {
    // After a signal no program may read the output any more, so the exit does not wait for it.
    if (Exit.isInterrupted(exit)) return onExit(signalExitCode)
    const code = Exit.isSuccess(exit) ? Number(exit.value ?? 0) : exitCodeOf(Cause.squash(exit.cause))
    // A pipe accepts a long report only in parts. An exit before the last part would truncate the report.
    process.stdout.write("", () => setImmediate(() => onExit(code === 0 && isOutputLost ? 1 : code)))
  }

  Effect.suspend(() => Schema.decode(Package)(readFileSync(manifest, "utf8"))).pipe(
    Effect.flatMap(({ version }) => main(process.argv.slice(2), version)),
    Effect.tapErrorCause(report),
    // The pretty logger would print to standard output, beside what a command prints there itself.
    NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true, teardown })
  )
}
