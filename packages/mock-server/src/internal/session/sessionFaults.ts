/** The faults of one session: counts the requests that each watches, and decides which fire. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import type * as Fault from "../../Fault.ts"
import * as FaultTiming from "./faultTiming.ts"
import type { SessionClock } from "./sessionClock.ts"

/** A fault that is set. */
export interface Armed {
  readonly id: string
  readonly fault: Fault.Fault
  /** The session's time when it was set, in milliseconds since 1970. */
  readonly setAt: number
  /** How many requests it has watched. */
  readonly seen: number
  /** At how many of them it fired. */
  readonly fired: number
  readonly quota: FaultTiming.Quota
}

/** A fault that fires at a request. */
export interface Firing {
  readonly id: string
  readonly what: Fault.What
  /** The number of the request among those that the fault watches, from 1. */
  readonly number: number
  /** For a quota, the milliseconds until its window ends; 0 for other faults. */
  readonly retryIn: number
}

export interface FaultBoard {
  readonly set: (fault: Fault.Fault) => Effect.Effect<Armed>
  readonly list: Effect.Effect<ReadonlyArray<Armed>>
  readonly remove: (id: string) => Effect.Effect<boolean>
  readonly clear: Effect.Effect<void>
  /** Restores the faults that the session began with. */
  readonly reset: Effect.Effect<void>
  /**
   * Counts a request and returns the faults that fire at it: all latencies, which add up, and the first
   * of the others.
   */
  readonly next: (operation: "token" | "aml") => Effect.Effect<ReadonlyArray<Firing>>
}

export const make = (
  { now }: SessionClock,
  seed: number,
  initial: ReadonlyArray<Fault.Fault>
): Effect.Effect<FaultBoard> =>
  Effect.gen(function*() {
    const board = new Map<string, Armed>()
    let number = 0

    const unusedId = (): string => {
      do number++
      while (board.has(`f${number}`))
      return `f${number}`
    }

    const arm = (fault: Fault.Fault, now: number): Armed => {
      const armed = { id: fault.id ?? unusedId(), fault, setAt: now, seen: 0, fired: 0, quota: FaultTiming.emptyQuota }
      board.set(armed.id, armed)
      return armed
    }

    const removeExpired = (now: number) => {
      for (const { fault: { ttl }, id, setAt } of board.values()) {
        if (ttl !== undefined && now - setAt >= Duration.toMillis(ttl)) board.delete(id)
      }
    }

    /**
     * Counts a request. `retryIn` is undefined if the fault does not fire. The seed includes the id, so
     * that two faults of one session do not fire at the same requests.
     */
    const watch = (armed: Armed, now: number): { readonly armed: Armed; readonly retryIn: number | undefined } => {
      const { fault: { what, when }, setAt } = armed
      const seen = armed.seen + 1
      const elapsed = now - setAt
      const isDue = FaultTiming.fires(when, { number: seen, elapsed, seed: seed ^ Hash.string(armed.id) })
      if (!isDue || what.kind !== "quota") return { armed: { ...armed, seen }, retryIn: isDue ? 0 : undefined }
      const { quota, retryIn } = FaultTiming.countQuota(armed.quota, what, elapsed)
      return { armed: { ...armed, seen, quota }, retryIn }
    }

    const reset = Effect.map(now, (now) => {
      board.clear()
      number = 0
      for (const fault of initial) arm(fault, now)
    })
    yield* reset

    return {
      set: (fault) => Effect.map(now, (now) => arm(fault, now)),
      list: Effect.map(now, (now) => {
        removeExpired(now)
        return Array.from(board.values())
      }),
      remove: (id) => Effect.sync(() => board.delete(id)),
      clear: Effect.sync(() => board.clear()),
      reset,
      next: (operation) =>
        Effect.map(now, (now) => {
          removeExpired(now)
          const due: Array<Firing> = []
          for (const armed of board.values()) {
            const { fault: { on, what }, id } = armed
            if (on !== "both" && on !== operation) continue
            const watched = watch(armed, now)
            board.set(id, watched.armed)
            if (watched.retryIn === undefined) continue
            due.push({ id, what, number: watched.armed.seen, retryIn: watched.retryIn })
          }
          const first = due.find(({ what }) => what.kind !== "latency")
          const firings = due.filter((firing) => firing === first || firing.what.kind === "latency")
          for (const { id } of firings) {
            const armed = board.get(id)
            if (armed !== undefined) board.set(id, { ...armed, fired: armed.fired + 1 })
          }
          return firings
        })
    }
  })
