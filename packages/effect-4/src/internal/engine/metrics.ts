/** Shows the metrics of the engine in the metric registry of Effect 4. */
import * as Metric3 from "effect-3/Metric"
import type * as MetricKey3 from "effect-3/MetricKey"
import * as MetricKeyType3 from "effect-3/MetricKeyType"
import * as MetricState3 from "effect-3/MetricState"
import * as Option3 from "effect-3/Option"
import type * as Context from "effect/Context"
import * as Ctx from "effect/Context"
import * as Metric from "effect/Metric"

/** The series that each registry has. */
const registered = new WeakMap<Metric.MetricRegistry, Set<string>>()

/** A series of Effect 4 that reads the engine's when it is exported. */
const register = (key: MetricKey3.MetricKey.Untyped, context: Context.Context<never>): void => {
  const { keyType, name } = key
  const options = {
    description: Option3.getOrUndefined(key.description),
    attributes: Object.fromEntries(key.tags.map((label) => [label.key, label.value]))
  }
  const read = () => Metric3.fromMetricKey(key).unsafeValue([])
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
export const publish = (context: Context.Context<never>): void => {
  const registry = Ctx.get(context, Metric.MetricRegistry)
  const ids = registered.get(registry) ?? new Set()
  registered.set(registry, ids)
  for (const { metricKey } of Metric3.unsafeSnapshot()) {
    const id = [metricKey.name, ...metricKey.tags.map(({ key, value }) => `${key}=${value}`)].join()
    if (!metricKey.name.startsWith("idv_") || ids.has(id)) continue
    ids.add(id)
    register(metricKey, context)
  }
}
