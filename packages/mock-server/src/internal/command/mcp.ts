/** `idv-mock mcp`: tools for agents, for a running server or for one that the command starts. */
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import { UsageError } from "@effect-idv/cli/usageError"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MockServer from "../../MockServer.ts"
import * as Mcp from "../mcp/stdio.ts"
import type { Target } from "../mcp/tools.ts"
import * as Remote from "../operations/remote.ts"
import * as RemoteCommands from "./remoteCommands.ts"
import * as Settings from "./settings.ts"

const started = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const settings = yield* Settings.read(args)
    const layer = MockServer.layer({ port: 0, ...Settings.options(settings) })
    const { url } = Context.get(yield* Layer.build(layer), MockServer.MockServer)
    return { url, call: yield* Remote.make({ url, token: settings.controlToken }) } satisfies Target
  })

/** The standard streams carry the protocol. */
export const mcp = (args: ParsedArguments.ParsedArguments, version: string, stdio: {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
}) =>
  Effect.gen(function*() {
    const isRemote = ParsedArguments.isOn(args, "url")
    if (isRemote && ParsedArguments.isOn(args, "port")) {
      return yield* new UsageError({
        text: "--port cannot be used with --url, with which the command starts no server"
      })
    }
    const target = isRemote ? yield* RemoteCommands.reachable(args) : yield* started(args)
    yield* Mcp.serve(target, version, stdio.stdin, stdio.stdout)
  }).pipe(
    Effect.scoped,
    Effect.provide(NodeHttpClient.layerUndici)
  )
