/**
 * An HTTP backend that screens at sign-up: with the service of the `IDV_*` variables if there are
 * any, else with the mock server, started inside this process on a free port.
 */
import { Idv } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Cause, ConfigError, ConfigProvider, Console, Effect, HashSet, Layer, Logger, Predicate } from "effect"
import * as Database from "./Database.ts"
import * as Server from "./Server.ts"
import * as Variable from "./Variable.ts"

const layerMock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) =>
    Console.log(`No IDV_* variable is set: this is the mock server, in this process, at ${url}.`)
  ),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.provide(MockServer.layerTest)
)

/** What was paid for must not be gone with the process. */
const layerService = Database.place.pipe(
  Effect.filterOrFail(
    ({ kind }) => kind !== "memory",
    () => ConfigError.MissingData(["DATABASE_URL"], "is needed with a real service: postgres://… or file:…")
  ),
  Effect.as(Idv.layerEnv),
  Layer.unwrapEffect
)

/** Any variable that starts with `IDV_` asks for the service: a misspelt one never ends at the mock. */
const layerIdv = ConfigProvider.fromEnv({ pathDelim: "_" }).flattened.enumerateChildren(["IDV"]).pipe(
  Effect.map((names) => HashSet.size(names) > 0 ? layerService : layerMock),
  Layer.unwrapEffect,
  Layer.provide(NodeHttpClient.layerUndici)
)

const layerListening = Layer.effectDiscard(
  HttpServer.addressFormattedWith((url) =>
    Console.log(`The onboarding API listens at ${url}, and its page is ${url}/docs.`)
  )
).pipe(
  Layer.provide(Server.layer),
  Layer.provide(layerIdv),
  Layer.provide(Logger.json),
  // Whatever SQLite creates holds people: for this user only.
  Layer.provide(Layer.effectDiscard(Effect.sync(() => process.umask(0o077))))
)

/** A line, without what an error of a database driver may hold: the address has a password in it. */
const describe = (error: unknown): string => {
  if (ConfigError.isConfigError(error)) return Variable.describe(error)
  const kind = Predicate.hasProperty(error, "_tag") ? String(error._tag) : error instanceof Error ? error.name : ""
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  return Predicate.hasProperty(cause, "code") ? `${kind} (${String(cause.code)})` : kind
}

Layer.launch(layerListening).pipe(
  Effect.tapErrorCause((cause) =>
    Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(`It does not start: ${describe(Cause.squash(cause))}`)
  ),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
