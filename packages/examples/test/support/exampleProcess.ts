/** Runs the examples as processes, without the variables of the developer's shell. */
import type { MockServer } from "@effect-idv/mock-server"
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Stream } from "effect"
import { fileURLToPath } from "node:url"
import * as Program from "../../../mock-server/test/support/program.ts"

/** Values for `Command.env`. Undefined removes a variable. */
export type Variables = { readonly [name: string]: string | undefined }

/** Removes every variable that an example reads. */
const noVariables: Variables = {
  IDV_AUTH_URL: undefined,
  IDV_BASE_URL: undefined,
  IDV_CUSTOMER_ID: undefined,
  IDV_CUSTOMER_KEY: undefined,
  IDV_ALLOW_INSECURE: undefined,
  DATABASE_URL: undefined,
  TOKEN_KEY: undefined,
  TOKEN_KEY_ID: undefined,
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_SERVICE_NAME: undefined,
  OTEL_RESOURCE_ATTRIBUTES: undefined
}

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
    Program.bundled(example),
    (bundle) => Command.env(Command.make("node", bundle, ...args), { ...noVariables, ...variables })
  )

/** The command that starts an example from its source, as the scripts in package.json do. */
export const commandFromSource = (example: URL) =>
  Command.env(Command.make("node", "--import", "tsx/esm", fileURLToPath(example)), noVariables)

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
