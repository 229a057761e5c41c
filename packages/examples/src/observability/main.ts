/**
 * Screens a few people and sends traces, metrics and logs to the collector of
 * `OTEL_EXPORTER_OTLP_ENDPOINT`; if there is none, to one inside this process, and then prints what
 * arrived there. The service is that of the `IDV_*` variables, else the mock server, in this process.
 */
import { Idv } from "@effect-idv/core"
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Cause, Config, ConfigError, ConfigProvider, Console, Effect, Either, HashSet, Layer, Option } from "effect"
import * as Collector from "./Collector.ts"
import * as Report from "./Report.ts"
import * as Scenario from "./Scenario.ts"
import * as Telemetry from "./Telemetry.ts"

/** The requests to the mock's control plane are no part of what is observed. */
const untold = <A, E>(effect: Effect.Effect<A, E>) => Effect.withTracerEnabled(Effect.orDie(effect), false)

const layerTroubles = Layer.effect(
  Scenario.Troubles,
  Effect.map(Control.Control, ({ session }) => {
    const { advance, fault } = session(Session.demoCustomer.customerId)
    return {
      tokenExpires: untold(advance("61 minutes")),
      tokenEndpointAnswers: (status, requests) =>
        untold(fault({ on: "token", when: { kind: "first", n: requests }, what: { kind: "status", status } }))
    }
  })
)

const layerMock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) =>
    Console.log(`No IDV_* variable is set: this is the mock server, in this process, at ${url}.`)
  ),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.merge(layerTroubles),
  Layer.provide(MockServer.layerTest)
)

const layerOwn = Layer.merge(Idv.layerEnv, Layer.succeed(Scenario.Troubles, Scenario.noTroubles))

/** Any variable that starts with `IDV_` asks for the service: a misspelt one never ends at the mock. */
const layerService = ConfigProvider.fromEnv({ pathDelim: "_" }).flattened.enumerateChildren(["IDV"]).pipe(
  Effect.map((names) => HashSet.size(names) > 0 ? layerOwn : layerMock),
  Layer.unwrapEffect
)

/** What is left to send is sent when this ends. */
const observed = (endpoint: string) =>
  Scenario.run.pipe(
    Effect.provide(layerService),
    Effect.provide(Telemetry.layer(endpoint)),
    Effect.provide(NodeHttpClient.layerUndici),
    Effect.tap(Effect.forEach(({ applicant, outcome }) => Console.log(`applicant ${applicant}: ${outcome}`)))
  )

const toOwnCollector = Effect.gen(function*() {
  const { received, url } = yield* Collector.Collector
  yield* observed(url)
  yield* Console.log(`\n${Report.make(yield* received)}`)
}).pipe(Effect.provide(Collector.layer))

const toCollector = (endpoint: URL) =>
  Effect.zipRight(observed(endpoint.href), Console.log(`Traces, metrics and logs went to ${endpoint.origin}.`))

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
  Effect.flatMap(Option.match({ onNone: () => toOwnCollector, onSome: toCollector })),
  Effect.tapErrorCause((cause) =>
    Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(describe(Cause.squash(cause)))
  ),
  // The pretty logger would take the place of the one that `Telemetry` replaces.
  NodeRuntime.runMain({ disablePrettyLogger: true, disableErrorReporting: true })
)
