/**
 * Screens a few people and sends traces, metrics and logs to the collector at
 * `OTEL_EXPORTER_OTLP_ENDPOINT`. If it is not set, starts a collector in this process and prints the data
 * it received. Uses the service that the `IDV_*` variables configure, or, if none is set, a mock server
 * in this process.
 */
import { Idv } from "@effect-idv/core"
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Cause, Config, ConfigError, ConfigProvider, Console, Effect, Either, HashSet, Layer, Option } from "effect"
import * as Collector from "./Collector.ts"
import * as Report from "./Report.ts"
import * as Scenario from "./Scenario.ts"
import * as Telemetry from "./Telemetry.ts"

/** Omits the requests to the mock server's control API from the traces. */
const untraced = <A, E>(effect: Effect.Effect<A, E>) => Effect.withTracerEnabled(Effect.orDie(effect), false)

const layerTokenFaults = Layer.effect(
  Scenario.TokenFaults,
  Effect.map(Control.Control, ({ session }) => {
    const { advance, fault } = session(Session.demoCustomer.customerId)
    return {
      expireToken: untraced(advance("61 minutes")),
      failTokenEndpoint: (status, requests) =>
        untraced(fault({ on: "token", when: { kind: "first", n: requests }, what: { kind: "status", status } }))
    }
  })
)

const layerMock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) => Console.log(`No IDV_* variable is set: the mock server runs in this process at ${url}.`)),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.merge(layerTokenFaults),
  Layer.provide(MockServer.layerTest)
)

const layerConfigured = Layer.merge(Idv.layerEnv(), Layer.succeed(Scenario.TokenFaults, Scenario.noTokenFaults))

/** Uses the mock server only if no variable starts with `IDV_`, so that a misspelt variable is an error. */
const layerService = ConfigProvider.fromEnv({ pathDelim: "_" }).flattened.enumerateChildren(["IDV"]).pipe(
  Effect.map((names) => HashSet.size(names) > 0 ? layerConfigured : layerMock),
  Layer.unwrapEffect
)

/** Runs the scenario, and sends all data before it ends. */
const runWithTelemetry = (endpoint: string) =>
  Scenario.run.pipe(
    Effect.provide(layerService),
    Effect.provide(Telemetry.layer(endpoint)),
    Effect.provide(NodeHttpClient.layerUndici),
    Effect.tap(Effect.forEach(({ applicant, outcome }) => Console.log(`applicant ${applicant}: ${outcome}`)))
  )

const withOwnCollector = Effect.gen(function*() {
  const { received, url } = yield* Collector.Collector
  yield* runWithTelemetry(url)
  yield* Console.log(`\n${Report.make(yield* received)}`)
}).pipe(Effect.provide(Collector.layer))

const withCollectorAt = (endpoint: URL) =>
  Effect.zipRight(runWithTelemetry(endpoint.href), Console.log(`Sent traces, metrics and logs to ${endpoint.origin}.`))

const endpoint = Config.option(Config.string("OTEL_EXPORTER_OTLP_ENDPOINT")).pipe(
  Config.mapOrFail(Option.match({
    onNone: () => Either.right(Option.none()),
    onSome: (text) =>
      /^https?:/i.test(text) && URL.canParse(text)
        ? Either.right(Option.some(new URL(text)))
        : Either.left(
          ConfigError.InvalidData(
            ["OTEL_EXPORTER_OTLP_ENDPOINT"],
            "should be the address of a collector, such as http://127.0.0.1:4318"
          )
        )
  }))
)

const describe = (error: unknown) =>
  ConfigError.isConfigError(error)
    ? Idv.describeConfigError(error)
    : error instanceof Error
    ? error.message
    : String(error)

endpoint.pipe(
  Effect.flatMap(Option.match({ onNone: () => withOwnCollector, onSome: withCollectorAt })),
  Effect.tapErrorCause((cause) =>
    Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(describe(Cause.squash(cause)))
  ),
  // `Telemetry` replaces the default logger; the pretty logger would have replaced it first.
  NodeRuntime.runMain({ disablePrettyLogger: true, disableErrorReporting: true })
)
