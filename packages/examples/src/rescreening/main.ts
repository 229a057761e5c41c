/**
 * Screens the people of a CSV file, and goes on where it was when it is killed: see README.md. With the
 * service of the `IDV_*` variables if there are any, else with the mock server inside this process.
 */
import { Idv } from "@effect-idv/core"
import { NodeFileSystem, NodeRuntime } from "@effect/platform-node"
import { Cause, ConfigError, Console, Effect, Exit } from "effect"
import * as Options from "./options.ts"
import { goesOn, run } from "./rescreening.ts"
import * as Service from "./service.ts"

const report = (cause: Cause.Cause<unknown>) => {
  if (Cause.isInterruptedOnly(cause)) return Console.error(`Interrupted. ${goesOn}`)
  const error = Cause.squash(cause)
  return Console.error(
    ConfigError.isConfigError(error) ? Idv.describeConfigError(error) : error instanceof Error ? error.message : error
  )
}

Options.parse.pipe(
  Effect.flatMap((options) =>
    options === "help"
      ? Effect.as(Console.log(Options.help), 0)
      : Effect.provide(run(options), Service.layer)
  ),
  Effect.provide(NodeFileSystem.layer),
  Effect.onError(report),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) =>
      onExit(
        Exit.isSuccess(exit)
          ? typeof exit.value === "number" ? exit.value : 0
          : Cause.isInterruptedOnly(exit.cause)
          ? 130
          : 1
      )
  })
)
