/** Shows the metrics of the engine in the metric registry of Effect 4. */
import * as Metric3 from "effect-3/Metric"
import type * as MetricKey3 from "effect-3/MetricKey"
import * as MetricKeyType3 from "effect-3/MetricKeyType"
import * as MetricState3 from "effect-3/MetricState"
import * as Option3 from "effect-3/Option"
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"

interface Known {
  /** The series that the registry has. */
  readonly series: Set<string>
  readonly results: Set<string>
  /** Without the attributes of a caller, because a series counts all clients of the process. */
  readonly context: Context.Context<never>
}

const known = new WeakMap<Metric.MetricRegistry, Known>()

/** A series of Effect 4 that reads the engine's when it is exported. */
const register = (key: MetricKey3.MetricKey.Untyped, { context }: Known, onRead: () => void): void => {
  const { keyType, name } = key
  const options = {
    description: Option3.getOrUndefined(key.description),
    attributes: Object.fromEntries(key.tags.map((label) => [label.key, label.value]))
  }
  const read = () => {
    onRead()
    return Metric3.fromMetricKey(key).unsafeValue([])
  }
  const ignored = { update: () => {}, modify: () => {} }
  if (MetricKeyType3.isHistogramKey(keyType)) {
    Metric.registerUnsafe(Metric.histogram(name, { ...options, boundaries: keyType.boundaries.values }), context, {
      ...ignored,
      get: () => {
        const state = read()
        return MetricState3.isHistogramState(state)
          ? { buckets: state.buckets, count: state.count, min: state.min, max: state.max, sum: state.sum }
          : { buckets: [], count: 0, min: 0, max: 0, sum: 0 }
      }
    })
  } else if (MetricKeyType3.isCounterKey(keyType)) {
    Metric.registerUnsafe(Metric.counter(name, { ...options, incremental: true }), context, {
      ...ignored,
      get: () => {
        const state = read()
        return { count: MetricState3.isCounterState(state) ? Number(state.count) : 0, incremental: true }
      }
    })
  }
}

/** Registers the series of the engine that are new. */
const registerNew = (registry: Known): void => {
  for (const { metricKey } of Metric3.unsafeSnapshot()) {
    const id = [metricKey.name, ...metricKey.tags.map(({ key, value }) => `${key}=${value}`)].join()
    if (!metricKey.name.startsWith("idv_") || registry.series.has(id)) continue
    registry.series.add(id)
    // Between checks, a background refresh makes series. They are in the next export.
    register(metricKey, registry, metricKey.name === everyCheck ? () => registerNew(registry) : () => {})
  }
}

/** The counter that every check has. */
const everyCheck = "idv_aml_requests"

/**
 * Shows the metrics of a check that has ended, with its result if it has one. To look for new series takes as long as a
 * check, so a known result does not.
 */
export const publish = (caller: Context.Context<never>, result: string | undefined): void => {
  const registry = Context.get(caller, Metric.MetricRegistry)
  let found = known.get(registry)
  if (found === undefined) {
    found = { series: new Set(), results: new Set(), context: Context.make(Metric.MetricRegistry, registry) }
    known.set(registry, found)
  }
  if (result !== undefined && found.results.has(result)) return
  if (result !== undefined) found.results.add(result)
  registerNew(found)
}
