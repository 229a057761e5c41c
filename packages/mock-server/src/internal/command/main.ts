/** Runs a command. Each command loads only the modules that it needs. */
import * as ContractCommands from "@effect-idv/cli/contractCommands"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as CommandLine from "./commandLine.ts"
import * as PortFile from "./portFile.ts"
import type { Stdout } from "./serve.ts"

export const main = (words: ReadonlyArray<string>, { stdout, version }: {
  readonly stdout: Stdout
  readonly version: string
}) =>
  Effect.gen(function*() {
    const invocation = yield* CommandLine.read(version, words)
    if (invocation._tag === "Text") return yield* Console.log(invocation.text.trimEnd())
    switch (invocation.command) {
      case "serve": {
        // This comes before the server is loaded, because loading takes most of the start.
        yield* Effect.forEach(ParsedArguments.values(invocation.args, "port-file"), PortFile.remove)
        const { serve } = yield* Effect.promise(() => import("./serve.ts"))
        return yield* serve(invocation.args, stdout)
      }
      case "verify": {
        const invoked = { claims: "idv-mock contract", name: "idv-mock verify", version }
        return yield* ContractCommands.verify(invocation.args, invoked)
      }
      case "contract":
        return yield* ContractCommands.claims(invocation.args)
      case "contract diff":
        return yield* ContractCommands.diff(invocation.args, "idv-mock contract diff")
      case "mcp": {
        const { mcp } = yield* Effect.promise(() => import("./mcp.ts"))
        return yield* mcp(invocation.args, version, process)
      }
      case "record": {
        const { record } = yield* Effect.promise(() => import("./record.ts"))
        return yield* record(invocation.args, version, stdout.isTTY === true)
      }
      case "diff": {
        const { diff } = yield* Effect.promise(() => import("./diff.ts"))
        return yield* diff(invocation.args)
      }
      case "test-client": {
        const { testClient } = yield* Effect.promise(() => import("./testClient.ts"))
        return yield* testClient(invocation.args)
      }
      default: {
        const { run } = yield* Effect.promise(() => import("./remoteCommands.ts"))
        return yield* run(invocation.command, invocation.args)
      }
    }
  }).pipe(
    Effect.provide(NodeContext.layer),
    // Standard output carries the lines of `serve` and the protocol of `mcp`.
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger)))
  )
