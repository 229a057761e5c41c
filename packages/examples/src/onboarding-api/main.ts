/**
 * Starts an HTTP backend that screens people at sign-up, or one for each tenant in `TENANTS`. Uses the service that the
 * `IDV_*` variables configure, or, if nothing is configured, a mock server that it starts in this process on a free port.
 */
import { Idv } from "@effect-idv/core"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import { MockServer } from "@effect-idv/mock-server"
import { type HttpClient, HttpServer } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Cause, ConfigError, ConfigProvider, Console, Effect, HashSet, Layer, Logger, Predicate } from "effect"
import { OperationsUrl } from "../recipes/operations.ts"
import * as Database from "./Database.ts"
import * as Server from "./Server.ts"
import * as SharedToken from "./SharedToken.ts"
import * as Tenants from "./Tenants.ts"

const layerMock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) => Console.log(`No IDV_* variable is set: the mock server runs in this process at ${url}.`)),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.provide(MockServer.layerTest)
)

/** Requires a database that outlives the process, because checks with a real service may be billed. */
const layerService = Database.location.pipe(
  Effect.filterOrFail(
    ({ kind }) => kind !== "memory",
    () => ConfigError.MissingData(["DATABASE_URL"], "is required with a real service: postgres://… or file:…")
  ),
  Effect.as(SharedToken.layerIdv),
  Layer.unwrapEffect
)

type LayerIdv = Layer.Layer<
  Idv.Idv,
  Layer.Layer.Error<typeof layerMock | typeof layerService>,
  HttpClient.HttpClient
>

/**
 * Uses the mock server, which welcomes everyone, only if nothing is configured: a variable of a tenant, a misspelt one and a
 * database of real applicants each require the service.
 */
const isConfigured = (name: string) => /(^|_)(IDV_|DATABASE_URL$)|^TENANTS$/.test(name)

// No name of a variable contains the delimiter, so these are the complete names.
const layerIdv = ConfigProvider.fromEnv({ pathDelim: "=" }).flattened.enumerateChildren([]).pipe(
  Effect.map((names): LayerIdv => HashSet.some(names, isConfigured) ? layerService : layerMock),
  Layer.unwrapEffect
)

const layerListening = Layer.effectDiscard(
  Effect.gen(function*() {
    const operations = yield* OperationsUrl
    yield* HttpServer.addressFormattedWith((url) =>
      Console.log(
        `The onboarding API listens at ${url} and has its documentation at ${url}/docs. For probes: ${operations}/ready.`
      )
    )
  })
).pipe(
  Layer.provide(Server.layer),
  Layer.provide(layerIdv),
  Layer.provide(Logger.json)
)

/** Describes an error in one line. Omits the message of a database driver, which may contain a password. */
const describe = (error: unknown): string => {
  if (ConfigError.isConfigError(error)) return Tenants.describe(error)
  const kind = Predicate.hasProperty(error, "_tag") ? String(error._tag) : error instanceof Error ? error.name : ""
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  return Predicate.hasProperty(cause, "code") ? `${kind} (${String(cause.code)})` : kind
}

// SQLite files contain personal data: only this user may read them.
Effect.sync(() => process.umask(0o077)).pipe(
  Effect.zipRight(Tenants.forEach(Layer.launch(layerListening), IdvHttp.layerEnv())),
  Effect.tapErrorCause((cause) =>
    Cause.isInterruptedOnly(cause)
      ? Effect.void
      : Console.error(`The onboarding API did not start: ${describe(Cause.squash(cause))}`)
  ),
  // Otherwise each log would be printed twice, once as text.
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
