/** Stores how rows ended in this worker, in groups. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Queue from "effect/Queue"
import type * as Ledger from "../ledger/service.ts"
import type * as Claims from "./claims.ts"
import * as WorkerMetrics from "./metrics.ts"
import type * as RunState from "./runState.ts"

/** How long outcomes wait for others, because a statement takes longer than the rows that it changes. */
const groupingTime = "4 millis"

/** The end of a row in this worker: its outcome, or `release` to screen it again. */
export interface Ended extends RunState.Counted {
  readonly row: Ledger.Claim
  readonly claim: Claims.Claim
  readonly outcome: Ledger.Outcome | "release"
  readonly requests: number
  readonly sentAt?: number | undefined
}

export const make = (
  ledger: Ledger.Service,
  { claims, run, state }: {
    readonly run: string
    readonly claims: Claims.Claims
    readonly state: RunState.RunState
  }
) =>
  Effect.gen(function*() {
    const ended = yield* Queue.unbounded<Ended>()
    let notSettled = 0

    const storeGroup = (group: ReadonlyArray<Ended>) =>
      Effect.gen(function*() {
        const settlements = group.flatMap(({ outcome, requests, row: { line, token }, sentAt }) =>
          outcome === "release" ? [] : [{ line, token, requests, sentAt, outcome }]
        )
        const releases = group.flatMap(({ outcome, requests, row: { line, token } }) =>
          outcome === "release" ? [{ line, token, requests }] : []
        )
        if (releases.length > 0) yield* ledger.release(run, releases)
        if (settlements.length > 0) {
          const { amended, settled } = yield* ledger.settle(run, settlements)
          for (const { line, outcome } of settlements) {
            if (settled.has(line)) yield* Metric.increment(WorkerMetrics.outcomes[outcome.state])
          }
          if (amended > 0) {
            yield* Effect.logWarning(
              `Run ${run} was amended: ${amended} results arrived after it was complete, or after other workers ` +
                "screened the rows again. Write its report again."
            )
          }
        }
        yield* state.countFailures(group)
        for (const { claim } of group) yield* claims.leave(claim)
        notSettled -= group.length
      })

    return {
      settle: (row: Ended) =>
        Effect.suspend(() => {
          notSettled++
          return Queue.offer(ended, row)
        }),
      run: Effect.gen(function*() {
        while (true) {
          const first = yield* Queue.take(ended)
          yield* Effect.sleep(groupingTime)
          yield* storeGroup([first, ...yield* Queue.takeAll(ended)])
        }
      }),
      allSettled: Effect.repeat(Effect.sleep("2 millis"), { until: () => notSettled === 0 })
    }
  })
