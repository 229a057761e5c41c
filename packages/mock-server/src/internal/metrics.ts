/** Counts of a server, as Prometheus reads them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Counter, Gauge, Registry } from "prom-client"
import type { Entry } from "../Journal.ts"
import * as Session from "../Session.ts"

export class Metrics extends Context.Tag("@effect-idv/mock-server/internal/Metrics")<Metrics, {
  readonly count: (entry: Entry) => Effect.Effect<void>
  readonly text: Effect.Effect<string>
}>() {}

/** Customer ids are no label: there may be one for each test. */
export const layer: Layer.Layer<Metrics, never, Session.Sessions> = Layer.effect(
  Metrics,
  Effect.map(Session.Sessions, ({ list }) => {
    const registry = new Registry()
    const registers = [registry]
    const exchanges = new Counter({
      name: "idv_mock_exchanges_total",
      help: "Requests that were answered, by operation, status and the rule that answered",
      labelNames: ["operation", "status", "rule"],
      registers
    })
    const faults = new Counter({
      name: "idv_mock_faults_total",
      help: "Faults that fired, by kind",
      labelNames: ["kind"],
      registers
    })
    const unexpected = new Counter({
      name: "idv_mock_unexpected_total",
      help: "Requests that the API document does not have",
      registers
    })
    const sessions = new Gauge({ name: "idv_mock_sessions", help: "Sessions that there are", registers })
    return {
      count: (entry) =>
        Effect.sync(() => {
          exchanges.inc({ operation: entry.operation, status: entry.response.status, rule: entry.rule })
          for (const { kind } of entry.faults) faults.inc({ kind })
          if (entry.unexpected) unexpected.inc()
        }),
      text: Effect.gen(function*() {
        sessions.set((yield* list).length)
        return yield* Effect.promise(() => registry.metrics())
      })
    }
  })
)
