#!/usr/bin/env node
/**
 * The `idv-mock` command.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { main } from "./internal/cli/main.ts"

const Package = Schema.parseJson(Schema.Struct({ version: Schema.String }))

const version = Effect.suspend(() =>
  Schema.decode(Package)(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
)

/** Whatever ends the command is told in one line. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Cause.isInterruptedOnly(cause)
    ? Effect.void
    : Console.error((error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, " "))
}

Effect.flatMap(version, ({ version }) => main(process.argv.slice(2), { stdout: process.stdout, version })).pipe(
  Effect.tapErrorCause(report),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
