/** Counts of a server, as Prometheus reads them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Entry } from "../../Journal.ts"
import * as Session from "../../Session.ts"

export class Metrics extends Context.Tag("@effect-idv/mock-server/internal/Metrics")<Metrics, {
  readonly count: (entry: Entry) => Effect.Effect<void>
  readonly text: Effect.Effect<string>
}>() {}

/** How often each was seen. */
type Seen = Map<string, number>

const see = (seen: Seen, what: string) => {
  seen.set(what, (seen.get(what) ?? 0) + 1)
}

/**
 * What is counted is given to `prom-client` when somebody reads it: until then, it is not loaded.
 * Customer ids are no label: there may be one for each test.
 */
export const layer: Layer.Layer<Metrics, never, Session.Sessions> = Layer.effect(
  Metrics,
  Effect.map(Session.Sessions, ({ list }) => {
    const exchanges: Seen = new Map()
    const faults: Seen = new Map()
    let unexpected = 0

    const text = (sessions: number) =>
      Effect.flatMap(Effect.promise(() => import("prom-client")), ({ Counter, Gauge, Registry }) => {
        const registry = new Registry()
        const registers = [registry]
        const ofExchanges = new Counter({
          name: "idv_mock_exchanges_total",
          help: "Requests that were answered, by operation, status and the rule that answered",
          labelNames: ["operation", "status", "rule"],
          registers
        })
        for (const [labels, count] of exchanges) {
          const [operation = "", status = "", rule = ""] = labels.split(" ")
          ofExchanges.inc({ operation, status, rule }, count)
        }
        const ofFaults = new Counter({
          name: "idv_mock_faults_total",
          help: "Faults that fired, by kind",
          labelNames: ["kind"],
          registers
        })
        for (const [kind, count] of faults) ofFaults.inc({ kind }, count)
        const ofUnexpected = new Counter({
          name: "idv_mock_unexpected_total",
          help: "Requests that the API document does not have",
          registers
        })
        ofUnexpected.inc(unexpected)
        new Gauge({ name: "idv_mock_sessions", help: "Sessions that there are", registers }).set(sessions)
        return Effect.promise(() => registry.metrics())
      })

    return {
      count: (entry) =>
        Effect.sync(() => {
          see(exchanges, `${entry.operation} ${entry.response.status} ${entry.rule}`)
          for (const { kind } of entry.faults) see(faults, kind)
          if (entry.unexpected) unexpected += 1
        }),
      text: Effect.flatMap(list, ({ length }) => text(length))
    }
  })
)
