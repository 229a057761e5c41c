/** Health, metrics and logs of an app. */
import { Idv, TokenProvider } from "@effect-idv/core"
import { HttpServerError } from "@effect/platform"
import {
  Array,
  Cause,
  type ConfigError,
  Context,
  Effect,
  Layer,
  Logger,
  type ManagedRuntime,
  Metric,
  MetricState,
  Option,
  Record,
  Runtime
} from "effect"
import { createServer } from "node:http"
import type { Logger as AppLogger } from "pino"

/** Builds the client before the first applicant, or ends the program with a line that names the variable to correct. */
export const buildOrExit = <R>(
  runtime: ManagedRuntime.ManagedRuntime<R, ConfigError.ConfigError>,
  print: (line: string) => void
): Promise<unknown> =>
  Effect.runPromise(
    Effect.catchAll(runtime.runtimeEffect, (error) =>
      Effect.sync(() => {
        print(Idv.describeConfigError(error))
        process.exit(1)
      }))
  )

/** For the readiness probe: why no check can be sent, or undefined if it can. It waits for nothing. */
export const notReady = Effect.gen(function*() {
  const { readiness } = yield* TokenProvider.TokenProvider
  const { failure, isReady } = yield* readiness
  return isReady ? undefined : Option.match(failure, { onNone: () => "acquiring", onSome: ({ _tag }) => _tag })
})

/**
 * The metrics of the library in the text format of Prometheus. Counters end with `_total`, as in the rules for alerts,
 * because a collector of OpenTelemetry adds it too. With `Effect.tagMetrics`, only the metrics with the same tags: no tenant
 * sees the matches of another.
 */
export const metricsText = Effect.zipWith(Metric.snapshot, Effect.metricLabels, (metrics, labels) => {
  const nameOf = ({ metricKey: { name }, metricState }: (typeof metrics)[number]) =>
    MetricState.isCounterState(metricState) ? `${name.replace(/_total$/, "")}_total` : name
  const samples = (metric: (typeof metrics)[number]) => {
    const state = metric.metricState
    const labels = metric.metricKey.tags.map(({ key, value }) => `${key}="${value}"`)
    const sample = (suffix: string, value: number | bigint, ...more: ReadonlyArray<string>) =>
      `${nameOf(metric)}${suffix}{${[...labels, ...more].join()}} ${value}`
    return MetricState.isHistogramState(state)
      ? [
        ...state.buckets.map(([le, count]) => sample("_bucket", count, `le="${le === Infinity ? "+Inf" : le}"`)),
        sample("_sum", state.sum),
        sample("_count", state.count)
      ]
      : MetricState.isCounterState(state)
      ? [sample("", state.count)]
      : MetricState.isGaugeState(state)
      ? [sample("", state.value)]
      : []
  }
  const typeOf = ({ metricState }: (typeof metrics)[number]) =>
    MetricState.isCounterState(metricState) ? "counter" : MetricState.isGaugeState(metricState) ? "gauge" : "histogram"
  const ours = Array.filter(
    metrics,
    (metric) => nameOf(metric).startsWith("idv_") && Array.difference(labels, metric.metricKey.tags).length === 0
  )
  return Object.entries(Array.groupBy(ours, nameOf)).map(([name, metrics]) =>
    [`# TYPE ${name} ${typeOf(metrics[0])}`, ...metrics.flatMap(samples), ""].join("\n")
  ).join("")
})

/**
 * A server of `/live`, `/ready` and `/metrics`, for a port that applicants cannot reach: the counters reveal each match and
 * each outage, and `/ready` one of the token endpoint.
 */
export const operationsServer = <R>(
  runtime: { readonly runPromise: <A>(effect: Effect.Effect<A, never, R | TokenProvider.TokenProvider>) => Promise<A> },
  whyNotReady: Effect.Effect<string | undefined, never, R | TokenProvider.TokenProvider> = notReady
) => {
  const routes: Record<
    string,
    Effect.Effect<readonly [status: number, text: string], never, R | TokenProvider.TokenProvider>
  > = {
    // Only that the process responds: a restart does not end an outage of the service.
    "/live": Effect.succeed([200, "alive"]),
    "/ready": Effect.map(whyNotReady, (reason) => reason === undefined ? [200, "ready"] : [503, reason]),
    "/metrics": Effect.map(metricsText, (text) => [200, text])
  }
  const notFound = Effect.succeed([404, "not found"] as const)
  return createServer((request, response) =>
    void runtime.runPromise(routes[request.url ?? ""] ?? notFound)
      .catch(() => [500, "the client could not be built"] as const)
      .then(([status, text]) => response.writeHead(status, { "content-type": "text/plain" }).end(text))
  )
}

/** The address of `/live`, `/ready` and `/metrics`. */
export class OperationsUrl extends Context.Tag("recipes/OperationsUrl")<OperationsUrl, string>() {}

/** For a program of Effect: listens until the scope closes. */
export const layerOperations = (
  { host = "0.0.0.0", port, whyNotReady }: {
    readonly host?: string
    readonly port: number
    readonly whyNotReady?: Effect.Effect<string | undefined, never, TokenProvider.TokenProvider>
  }
) =>
  Layer.scoped(
    OperationsUrl,
    Effect.gen(function*() {
      const runtime = yield* Effect.runtime<TokenProvider.TokenProvider>()
      const server = operationsServer({ runPromise: Runtime.runPromise(runtime) }, whyNotReady)
      const listening = Effect.async<string, HttpServerError.ServeError>((resume) => {
        server.once("error", (cause) => resume(new HttpServerError.ServeError({ cause })))
        server.listen(port, host, () => {
          const address = server.address()
          resume(Effect.succeed(`http://${host}:${typeof address === "object" ? address?.port : port}`))
        })
      })
      return yield* Effect.acquireRelease(listening, () => Effect.sync(() => server.close().closeAllConnections()))
    })
  )

const levels = {
  All: "trace",
  Trace: "trace",
  Debug: "debug",
  Info: "info",
  Warning: "warn",
  Error: "error",
  Fatal: "fatal",
  None: "silent"
} as const

/** Sends the logs of the library to the logger of the app, with the name of the library in each line. */
export const layerLogger = (log: AppLogger): Layer.Layer<never> => {
  const ours = log.child({ library: "effect-idv" })
  return Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ annotations, cause, logLevel, message }) => {
      const [texts, details] = Array.partition(Array.ensure(message), (part) => typeof part === "object")
      const error = Cause.isEmpty(cause) ? {} : { error: Cause.pretty(cause) }
      ours[levels[logLevel._tag]](
        Object.assign({}, ...details, Record.fromEntries(annotations), error),
        texts.join(": ")
      )
    })
  )
}
