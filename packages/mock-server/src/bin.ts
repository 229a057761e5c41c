#!/usr/bin/env node
/**
 * The `idv-mock` command.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import * as MockServer from "./MockServer.ts"
import * as Session from "./Session.ts"
import * as Subject from "./Subject.ts"

const Port = Schema.Int.pipe(
  Schema.between(0, 65_535, { message: () => "A port is a whole number from 0 to 65535; 0 picks a free one" })
)

const options = {
  host: Options.text("host").pipe(
    Options.withDefault("127.0.0.1"),
    Options.withDescription("The address to listen on. Any other than the default lets other machines in.")
  ),
  port: Options.integer("port").pipe(
    Options.withSchema(Port),
    Options.withDefault(4010),
    Options.withDescription("The port to listen on; 0 picks a free one.")
  )
}

/** One JSON line for whoever waits for the server to be ready. */
const announce = Effect.gen(function*() {
  const { options, url } = yield* MockServer.MockServer
  const { hostname, port } = new URL(url)
  yield* Console.log(JSON.stringify({
    event: "listening",
    host: hostname,
    port: Number(port),
    authUrl: options.authUrl,
    baseUrl: options.baseUrl,
    customerId: options.customerId
  }))
})

const subjects = Subject.reserved.map(({ description, lastWord }) => `${lastWord} ${description}`).join("; ")

const serve = Command.make("serve", options, (options) =>
  announce.pipe(
    Layer.effectDiscard,
    Layer.provide(MockServer.layer(options)),
    Layer.launch,
    Effect.catchTag("MockServerError", (error) => Effect.zipRight(Console.error(error.message), Effect.fail(error)))
  )).pipe(
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

/** The CLI has printed why it failed, in one line, so the runtime does not say it again. */
Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { version } = yield* Effect.flatMap(
    fs.readFileString(fileURLToPath(new URL("../package.json", import.meta.url))),
    Schema.decode(Package)
  )
  yield* Command.run(command, { name: "idv-mock", version })(process.argv)
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain({ disableErrorReporting: true }))
