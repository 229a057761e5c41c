/** Records each exchange beside the journal: counts it, passes it to a listener, and fails a test if it is unexpected. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { PCGRandom } from "effect/Utils"
import * as Verification from "../../Verification.ts"
import * as Entry from "./entry.ts"

export class Recorder extends Context.Tag("@effect-idv/mock-server/internal/Recorder")<Recorder, {
  /** The random sequence of requests that match no session. */
  readonly random: () => number
  /** Counts an entry and passes it on to the server's listeners. */
  readonly record: (entry: Entry.Entry) => Effect.Effect<void>
  /** All metrics in the text format of Prometheus, with the number of sessions. */
  readonly metrics: (sessions: number) => Effect.Effect<string>
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
const makeMetrics = () => {
  const exchanges = new Map<string, Count>()
  const faults = new Map<string, Count>()
  let unexpected = 0

  return {
    count: ({ faults: firedFaults, operation, response, rule, unexpected: isUnexpected }: Entry.Entry) =>
      Effect.sync(() => {
        const status = String(response.status)
        increment(exchanges, `${operation} ${status} ${rule}`, { operation, status, rule })
        for (const { kind } of firedFaults) increment(faults, kind, { kind })
        if (isUnexpected) unexpected += 1
      }),
    text: (sessions: number) =>
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
}

const maxNearest = 5

/**
 * Returns a listener for every exchange. If a request was unexpected, closing the scope dies, even if the entry or the
 * session of the request no longer exists.
 */
const failOnUnexpected: Effect.Effect<(entry: Entry.Entry) => Effect.Effect<void>, never, Scope.Scope> = Effect.gen(
  function*() {
    let among = 0
    let found = 0
    const nearest: Array<Verification.VerificationFailed["nearest"][number]> = []
    yield* Effect.addFinalizer(() =>
      found === 0 ? Effect.void : Effect.die(
        new Verification.VerificationFailed({ expected: "nothing unexpected", found, among, dropped: 0, nearest })
      )
    )
    return ({ id, response: { status }, rule, unexpected, why }) =>
      Effect.sync(() => {
        among++
        if (!unexpected) return
        found++
        if (nearest.length < maxNearest) nearest.push({ id, rule, status, why, differs: [] })
      })
  }
)

interface Options {
  readonly onExchange?: ((entry: Entry.Entry) => Effect.Effect<void>) | undefined
  readonly unexpected?: "fail" | "ignore" | undefined
}

export const layer = (
  { onExchange, unexpected = "ignore" }: Options
): Layer.Layer<Recorder> =>
  Layer.scoped(
    Recorder,
    Effect.gen(function*() {
      const { count, text } = makeMetrics()
      const check = unexpected === "fail" ? yield* failOnUnexpected : () => Effect.void
      const generator = new PCGRandom(yield* Random.nextInt)
      return {
        random: () => generator.number(),
        metrics: text,
        record: onExchange === undefined
          ? (entry) => Effect.zipRight(count(entry), check(entry))
          : (entry) =>
            Effect.all([
              count(entry),
              check(entry),
              onExchange({ ...Entry.plain(entry), ...(entry.sent && { sent: entry.sent }) })
            ], { discard: true })
      }
    })
  )
