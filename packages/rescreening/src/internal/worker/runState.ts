/** The state of a worker's run and service: the policy, pauses, failures in a row, and whether the work is over. */
import type * as AmlFailure from "@effect-idv/core/Failure"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Metrics from "../../RescreeningMetrics.ts"
import type * as Run from "../../Run.ts"
import type * as Ledger from "../ledger/service.ts"

/** How often a worker looks for a pause. A request leaves at most this long, and a round trip, after a pause began. */
const watchPeriod = "150 millis"

/** The shortest time between two lines about pauses. */
const lineEvery = Duration.toMillis("1 minute")

const describe = (failure: AmlFailure.Failure) => `${failure._tag}: ${failure.message}`

/** How a check counts for the failures in a row; `isServiceFailure` is `undefined` if it does not. */
export interface Counted {
  readonly isServiceFailure?: boolean | undefined
  readonly failure?: AmlFailure.Failure | undefined
}

/** `now` is in milliseconds of the worker's clock. */
export const make = (
  ledger: Ledger.Service,
  { id, now, policy: firstPolicy, service }: {
    readonly id: string
    readonly service: string
    readonly policy: Run.Policy
    readonly now: () => number
  }
) =>
  Effect.gen(function*() {
    const over = yield* Deferred.make<void>()
    let policy = firstPolicy
    let pausedUntil = 0
    let storingPauses = 0
    let storedPauses = 0
    let failing = 0
    /** The checks that have ended, and that `countFailures` has not counted yet. */
    let uncounted = 0
    // True at first, so that the first response resets what earlier workers counted.
    let wasFailing = true
    let isOver = false
    let clockSetBack: number | undefined
    let lastPauseLineAt = -Infinity

    const end = Effect.suspend(() => {
      isOver = true
      return Deferred.succeed(over, undefined)
    })

    /** Pauses the run for all workers, until an operator resumes it. `end` interrupts the fiber that calls this. */
    const stopAll = (reason: string) =>
      Effect.uninterruptible(Effect.zipRight(end, Effect.ignore(ledger.pause(id, reason))))

    const saySetBack = Effect.logWarning(
      "The clock of the database was set back: turns, pauses or leases that were stored in its future are ignored."
    )

    const sayPause = (pauses: number) =>
      Effect.suspend(() => {
        if (now() - lastPauseLineAt < lineEvery) return Effect.void
        lastPauseLineAt = now()
        return Effect.logWarning(
          `The service asks all workers to wait ${
            Duration.format(Duration.millis(Math.ceil(pausedUntil - now())))
          } (pause ${pauses} since it last accepted a check; run ${id} stops after ${policy.stopAfter}).`
        )
      })

    /** Pauses all workers of the service. It is stored first, so that others begin to wait. */
    const pause = (failure: AmlFailure.Failure, millis: number | undefined) =>
      Effect.gen(function*() {
        wasFailing = true
        storingPauses++
        const { pausedFor, pauses } = yield* ledger.pauseService(service, millis).pipe(
          // The settler fails too, if the database stays unavailable.
          Effect.orElseSucceed(() => ({ pausedFor: millis ?? 1000, pauses: 0 })),
          Effect.ensuring(Effect.sync(() => {
            storingPauses--
            storedPauses++
          }))
        )
        pausedUntil = Math.max(pausedUntil, now() + pausedFor)
        yield* sayPause(pauses)
        yield* Metric.increment(Metrics.pauses)
        if (pauses >= policy.stopAfter) yield* stopAll(`${pauses} pauses in a row, the last one ${describe(failure)}`)
      })

    /** Counts the failures in a row, in the order of the group. */
    const countFailures = (group: ReadonlyArray<Counted>) =>
      Effect.gen(function*() {
        let resets = false
        let count = 0
        let counted = 0
        let last: AmlFailure.Failure | undefined
        for (const { failure, isServiceFailure } of group) {
          if (isServiceFailure === undefined) continue
          counted++
          resets ||= !isServiceFailure
          count = isServiceFailure ? count + 1 : 0
          last = failure
        }
        if (count === 0 && !(resets && wasFailing)) {
          uncounted -= counted
          return
        }
        wasFailing = count > 0
        const failures = yield* ledger.countFailures(id, { resets, count })
        uncounted -= counted
        // Another worker may have had a response. Failures that are not counted yet are not in the sum.
        if (uncounted === 0) failing = failures
        if (resets) yield* ledger.resetPauses(service)
        if (failures >= policy.stopAfter && last !== undefined) {
          yield* stopAll(`${policy.stopAfter} failures in a row, the last one ${describe(last)}`)
        }
      })

    const watch = Effect.gen(function*() {
      const before = storedPauses
      const state = yield* ledger.workerState(id, service)
      if (Option.isNone(state) || state.value.state !== "open") {
        yield* end
        return
      }
      const { failuresInRow, pausedFor, pauses } = state.value
      policy = state.value.policy
      const until = now() + pausedFor
      // A pause that this worker stored meanwhile may not be in the state.
      pausedUntil = storingPauses > 0 || storedPauses !== before ? Math.max(pausedUntil, until) : until
      if (uncounted === 0) {
        failing = failuresInRow
        // The policy may have a lower limit now.
        if (failing >= policy.stopAfter) yield* stopAll(`${failing} failures in a row`)
      }
      if (pausedFor > 0) yield* sayPause(pauses)
      // A response during a pause does not reset the pauses, but the first one after it does.
      if (failuresInRow > 0 || (pauses > 0 && pausedFor <= 0)) wasFailing = true
      if (clockSetBack !== undefined && state.value.clockSetBack > clockSetBack) yield* saySetBack
      clockSetBack = state.value.clockSetBack
    }).pipe(Effect.repeat(Schedule.fixed(watchPeriod)))

    return {
      policy: () => policy,
      /** Also while the settler decides whether the failures in a row end the run. */
      isPaused: () => storingPauses > 0 || now() < pausedUntil || failing >= policy.stopAfter,
      isOver: () => isOver,
      over: Deferred.await(over),
      end,
      stopAll,
      saySetBack,
      pause,
      /** A check has ended; {@link countFailures} counts it later. */
      ended: ({ isServiceFailure }: Counted) => {
        if (isServiceFailure === undefined) return
        uncounted++
        failing = isServiceFailure ? failing + 1 : 0
      },
      countFailures,
      /** Notices pauses, the end of the run and changes of its policy. */
      watch
    }
  })

export type RunState = Effect.Effect.Success<ReturnType<typeof make>>
