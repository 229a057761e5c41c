/** The faults of one session. For each request, it counts the request for each fault, and decides which faults fire. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import type * as Fault from "../../Fault.ts"
import { fires } from "../faults/when.ts"
import type { SessionClock } from "./sessionClock.ts"

/** How many requests a quota has counted in the window that began at `start`. */
export interface QuotaCount {
  readonly start: number
  readonly count: number
}

export const emptyQuota: QuotaCount = { start: 0, count: 0 }

/**
 * Counts a request in consecutive windows, the first of which begins at time 0. For a request above the limit,
 * `retryIn` is the milliseconds until its window ends.
 */
export const countQuota = (
  quota: QuotaCount,
  { limit, per }: { readonly limit: number; readonly per: Duration.Duration },
  now: number
): { readonly quota: QuotaCount; readonly retryIn: number | undefined } => {
  const length = Duration.toMillis(per)
  const start = Math.floor(now / length) * length
  const count = (start === quota.start ? quota.count : 0) + 1
  return { quota: { start, count }, retryIn: count > limit ? start + length - now : undefined }
}

/** A fault that is set. */
export interface FaultState {
  readonly id: string
  readonly fault: Fault.Fault
  /** The session's time when it was set, in milliseconds since 1970. */
  readonly setAt: number
  /** How many requests to its operation the fault has counted. */
  readonly seen: number
  /** At how many requests the fault fired. */
  readonly fired: number
  readonly quota: QuotaCount
}

/** A fault that fires at a request. */
export interface Firing {
  readonly id: string
  readonly what: Fault.What
  /** The number of the request among those that the fault has counted, from 1. */
  readonly number: number
  /** For a quota, the milliseconds until its window ends; 0 for other faults. */
  readonly retryIn: number
}

export interface SessionFaults {
  readonly set: (fault: Fault.Fault) => Effect.Effect<FaultState>
  readonly list: Effect.Effect<ReadonlyArray<FaultState>>
  readonly remove: (id: string) => Effect.Effect<boolean>
  readonly clear: Effect.Effect<void>
  /** Restores the faults that the session began with. */
  readonly reset: Effect.Effect<void>
  /**
   * Counts a request and returns the faults that fire at it: all latencies, whose delays add up, and the first of the
   * other faults.
   */
  readonly countRequest: (operation: "token" | "aml") => Effect.Effect<ReadonlyArray<Firing>>
}

export const make = (
  { now }: SessionClock,
  seed: number,
  initial: ReadonlyArray<Fault.Fault>
): Effect.Effect<SessionFaults> =>
  Effect.gen(function*() {
    const faultsById = new Map<string, FaultState>()
    let lastId = 0

    const unusedId = (): string => {
      do lastId++
      while (faultsById.has(`f${lastId}`))
      return `f${lastId}`
    }

    const addFault = (fault: Fault.Fault, now: number): FaultState => {
      const state = { id: fault.id ?? unusedId(), fault, setAt: now, seen: 0, fired: 0, quota: emptyQuota }
      faultsById.set(state.id, state)
      return state
    }

    const removeExpired = (now: number) => {
      for (const { fault: { ttl }, id, setAt } of faultsById.values()) {
        if (ttl !== undefined && now - setAt >= Duration.toMillis(ttl)) faultsById.delete(id)
      }
    }

    /**
     * Counts a request for one fault. `retryIn` is `undefined` if the fault does not fire, 0 if a fault without a quota
     * fires, and otherwise the milliseconds until the window of the quota ends. The seed depends on the id, so that two
     * faults of one session do not fire at the same requests.
     */
    const countForFault = (
      state: FaultState,
      now: number
    ): { readonly state: FaultState; readonly retryIn: number | undefined } => {
      const { fault: { what, when }, setAt } = state
      const seen = state.seen + 1
      const elapsed = now - setAt
      const isDue = fires(when, { number: seen, elapsed, seed: seed ^ Hash.string(state.id) })
      if (!isDue || what.kind !== "quota") return { state: { ...state, seen }, retryIn: isDue ? 0 : undefined }
      const { quota, retryIn } = countQuota(state.quota, what, elapsed)
      return { state: { ...state, seen, quota }, retryIn }
    }

    const reset = Effect.map(now, (now) => {
      faultsById.clear()
      lastId = 0
      for (const fault of initial) addFault(fault, now)
    })
    yield* reset

    return {
      set: (fault) => Effect.map(now, (now) => addFault(fault, now)),
      list: Effect.map(now, (now) => {
        removeExpired(now)
        return Array.from(faultsById.values())
      }),
      remove: (id) => Effect.sync(() => faultsById.delete(id)),
      clear: Effect.sync(() => faultsById.clear()),
      reset,
      countRequest: (operation) =>
        Effect.map(now, (now) => {
          removeExpired(now)
          const due: Array<Firing> = []
          for (const state of faultsById.values()) {
            const { fault: { on, what }, id } = state
            if (on !== "both" && on !== operation) continue
            const result = countForFault(state, now)
            faultsById.set(id, result.state)
            if (result.retryIn === undefined) continue
            due.push({ id, what, number: result.state.seen, retryIn: result.retryIn })
          }
          const first = due.find(({ what }) => what.kind !== "latency")
          const firings = due.filter((firing) => firing === first || firing.what.kind === "latency")
          for (const { id } of firings) {
            const state = faultsById.get(id)
            if (state !== undefined) faultsById.set(id, { ...state, fired: state.fired + 1 })
          }
          return firings
        })
    }
  })
