#!/usr/bin/env node
/**
 * The `idv-mock` command.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import * as MockServer from "./MockServer.ts"
import * as Session from "./Session.ts"
import * as Subject from "./Subject.ts"

const Port = Schema.NumberFromString.pipe(Schema.int(), Schema.between(0, 65_535)).annotations({
  message: () => ({ message: "--port is a whole number from 0 to 65535; 0 picks a free one", override: true })
})

const options = {
  host: Options.text("host").pipe(
    Options.withDefault("127.0.0.1"),
    Options.withDescription("The address to listen on. Any other than the default lets other machines in.")
  ),
  port: Options.text("port").pipe(
    Options.withSchema(Port),
    Options.withDefault(4010),
    Options.withDescription("The port to listen on; 0 picks a free one. 4010 by default.")
  )
}

/** One JSON line for whoever waits for the server to be ready. */
const announce = (host: string) =>
  Effect.gen(function*() {
    const { options: { authUrl, baseUrl, customerId }, url } = yield* MockServer.MockServer
    const port = Number(new URL(url).port || 80)
    yield* Console.log(JSON.stringify({ event: "listening", host, port, authUrl, baseUrl, customerId }))
  })

const subjects = Subject.reserved.map(({ description, lastWord }) => `${lastWord} ${description}`).join("; ")

const serve = Command.make(
  "serve",
  options,
  (options) => Layer.effectDiscard(announce(options.host)).pipe(Layer.provide(MockServer.layer(options)), Layer.launch)
).pipe(
  Command.withDescription(
    `Plays the token endpoint and the AML check for the customer ${Session.demoCustomer.customerId} ` +
      `with the key demo-key. By the last word of a name: ${subjects}; everybody else is on no list.`
  )
)

const command = Command.make("idv-mock").pipe(
  Command.withDescription("A mock of the identity verification service"),
  Command.withSubcommands([serve])
)

const Package = Schema.parseJson(Schema.Struct({ version: Schema.String }))

/** Whatever ends the command is told in one line; what is wrong with an argument, the CLI tells. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Cause.isInterruptedOnly(cause) || ValidationError.isValidationError(error)
    ? Effect.void
    : Console.error(error instanceof Error ? error.message : String(error))
}

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { version } = yield* Effect.flatMap(
    fs.readFileString(fileURLToPath(new URL("../package.json", import.meta.url))),
    Schema.decode(Package)
  )
  yield* Command.run(command, { name: "idv-mock", version })(process.argv)
}).pipe(
  Effect.tapErrorCause(report),
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
