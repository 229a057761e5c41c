/** Counts the exchanges of a server for Prometheus. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import type { Entry } from "./entry.ts"

export class Metrics extends Context.Tag("@effect-idv/mock-server/internal/Metrics")<Metrics, {
  readonly count: (entry: Entry) => Effect.Effect<void>
  /** Prints all metrics in the text format of Prometheus, with the number of sessions. */
  readonly text: (sessions: number) => Effect.Effect<string>
}>() {}

const increment = <Labels>(counts: MutableHashMap.MutableHashMap<Labels, number>, labels: Labels) =>
  MutableHashMap.modifyAt(counts, labels, (count) => Option.some(Option.getOrElse(count, () => 0) + 1))

/**
 * The counts become metrics of `prom-client` only when a client requests them, so that other servers do not load it.
 * Customer ids are not a label, because each test may have its own.
 */
export const layer: Layer.Layer<Metrics> = Layer.sync(Metrics, () => {
  const exchanges = MutableHashMap.empty<Readonly<Record<"operation" | "status" | "rule", string>>, number>()
  const faults = MutableHashMap.empty<{ readonly kind: string }, number>()
  let unexpected = 0

  return {
    count: ({ faults: firedFaults, operation, response, rule, unexpected: isUnexpected }) =>
      Effect.sync(() => {
        increment(exchanges, Data.struct({ operation, status: String(response.status), rule }))
        for (const { kind } of firedFaults) increment(faults, Data.struct({ kind }))
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
        for (const [labels, count] of exchanges) exchangesTotal.inc(labels, count)
        const faultsTotal = new Counter({
          name: "idv_mock_faults_total",
          help: "Faults that fired, by kind",
          labelNames: ["kind"],
          registers
        })
        for (const [labels, count] of faults) faultsTotal.inc(labels, count)
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
