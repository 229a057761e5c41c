/** Runs the examples as processes, without the variables of the developer's shell. */
import type { MockServer } from "@effect-idv/mock-server"
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { ConfigProvider, Effect, Stream } from "effect"
import { fileURLToPath } from "node:url"
import * as Program from "../../../mock-server/test/support/program.ts"

/** Values for `Command.env`. Undefined removes a variable. */
export type Variables = { readonly [name: string]: string | undefined }

/** Removes the variables of the developer, because an example could read any of them. */
const noVariables = ConfigProvider.fromEnv({ pathDelim: "=" }).flattened.enumerateChildren([]).pipe(
  Effect.orDie,
  Effect.map((names): Variables =>
    Object.fromEntries(
      Array.from(names, (name) => [name, undefined]).filter(([name]) => name !== "HOME" && name !== "PATH")
    )
  )
)

/** The variables that select a mock server, as its demo customer. */
export const mockVariables = ({ url }: Pick<MockServer.Service, "url">) => ({
  IDV_AUTH_URL: url,
  IDV_BASE_URL: url,
  IDV_CUSTOMER_ID: "demo-customer",
  IDV_CUSTOMER_KEY: "demo-key"
})

/** The command that starts an example from its bundle, with only these variables. */
export const command = (example: URL, args: ReadonlyArray<string>, variables: Variables) =>
  Effect.map(
    Effect.all([Program.bundled(example), noVariables]),
    ([bundle, noVariables]) => Command.env(Command.make("node", bundle, ...args), { ...noVariables, ...variables })
  )

/** The command that starts an example from its source, as the scripts in package.json do. */
export const commandFromSource = (example: URL) =>
  Effect.map(
    noVariables,
    (noVariables) => Command.env(Command.make("node", "--import", "tsx/esm", fileURLToPath(example)), noVariables)
  )

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

/** Runs a command to its end, and returns its output and exit code. */
export const run = (command: Command.Command) =>
  Command.start(command).pipe(
    Effect.flatMap((process) =>
      Effect.all({ stdout: text(process.stdout), stderr: text(process.stderr), exitCode: process.exitCode }, {
        concurrency: "unbounded"
      })
    ),
    Effect.scoped,
    Effect.provide(NodeContext.layer)
  )
