/** Health, metrics and logs of an app, for the recipes of Fastify and Express. */
import { TokenProvider } from "@effect-idv/core"
import { Array, Cause, Effect, type Layer, Logger, Metric, MetricState, Option, Record } from "effect"
import type { Logger as AppLogger } from "pino"

/** For the readiness probe: why no check can be sent, or undefined if it can. It waits for nothing. */
export const notReady = Effect.gen(function*() {
  const { readiness } = yield* TokenProvider.TokenProvider
  const { failure, isReady } = yield* readiness
  return isReady ? undefined : Option.match(failure, { onNone: () => "acquiring", onSome: ({ _tag }) => _tag })
})

/** The metrics of the library in the text format of Prometheus. */
export const metricsText = Effect.map(Metric.snapshot, (metrics) => {
  const samples = ({ metricKey: { name, tags }, metricState: state }: (typeof metrics)[number]) => {
    const sample = (suffix: string, value: number | bigint, ...more: ReadonlyArray<string>) =>
      `${name}${suffix}{${[...tags.map(({ key, value }) => `${key}="${value}"`), ...more].join()}} ${value}`
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
  const ours = Array.filter(metrics, ({ metricKey }) => metricKey.name.startsWith("idv_"))
  const types = { counter: MetricState.isCounterState, gauge: MetricState.isGaugeState }
  return Object.entries(Array.groupBy(ours, ({ metricKey }) => metricKey.name)).flatMap(([name, metrics]) => [
    `# TYPE ${name} ${Object.entries(types).find(([, is]) => is(metrics[0].metricState))?.[0] ?? "histogram"}`,
    ...metrics.flatMap(samples)
  ]).join("\n") + "\n"
})

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
        texts.join(" ")
      )
    })
  )
}
