/** Counts the exchanges of a server for Prometheus. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Entry } from "./entry.ts"

export class Metrics extends Context.Tag("@effect-idv/mock-server/internal/Metrics")<Metrics, {
  readonly count: (entry: Entry) => Effect.Effect<void>
  /** Prints all metrics in the text format of Prometheus, with the number of sessions. */
  readonly text: (sessions: number) => Effect.Effect<string>
}>() {}

interface Count {
  readonly labels: Readonly<Record<string, string>>
  count: number
}

const increment = (counts: Map<string, Count>, key: string, labels: Count["labels"]) => {
  const counted = counts.get(key)
  if (counted === undefined) counts.set(key, { labels, count: 1 })
  else counted.count++
}

/**
 * The counts become metrics of `prom-client` only when a client requests them, so that other servers do not load it.
 * Customer ids are not a label, because each test may have its own.
 */
export const layer: Layer.Layer<Metrics> = Layer.sync(Metrics, () => {
  const exchanges = new Map<string, Count>()
  const faults = new Map<string, Count>()
  let unexpected = 0

  return {
    count: ({ faults: firedFaults, operation, response, rule, unexpected: isUnexpected }) =>
      Effect.sync(() => {
        const status = String(response.status)
        increment(exchanges, `${operation} ${status} ${rule}`, { operation, status, rule })
        for (const { kind } of firedFaults) increment(faults, kind, { kind })
        if (isUnexpected) unexpected += 1
      }),
    text: (sessions) =>
      Effect.flatMap(Effect.promise(() => import("prom-client")), ({ Counter, Gauge, Registry }) => {
        const registry = new Registry()
        const registers = [registry]
        const exchangesTotal = new Counter({
          name: "idv_mock_exchanges_total",
          help: "Requests, by operation, status of the response and the rule that decided it",
          labelNames: ["operation", "status", "rule"],
          registers
        })
        for (const { count, labels } of exchanges.values()) exchangesTotal.inc(labels, count)
        const faultsTotal = new Counter({
          name: "idv_mock_faults_total",
          help: "Faults that fired, by kind",
          labelNames: ["kind"],
          registers
        })
        for (const { count, labels } of faults.values()) faultsTotal.inc(labels, count)
        new Counter({
          name: "idv_mock_unexpected_total",
          help: "Requests that break the service document",
          registers
        }).inc(unexpected)
        new Gauge({ name: "idv_mock_sessions", help: "Sessions of the server", registers }).set(sessions)
        return Effect.promise(() => registry.metrics())
      })
  }
})
