/** The faults that are set for one session, and which of them fire at its next request. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import type * as Fault from "../../Fault.ts"
import * as Schedule from "./schedule.ts"
import type { SessionClock } from "./sessionClock.ts"

/** A fault with its id, how many requests it has watched, and at how many it fired. */
export interface Armed {
  readonly id: string
  readonly fault: Fault.Fault
  readonly setAt: number
  readonly seen: number
  readonly fired: number
  readonly quota: Schedule.Quota
}

/** - `retryIn`: for a quota, the milliseconds until its window ends. */
export interface Firing {
  readonly id: string
  readonly what: Fault.What
  readonly number: number
  readonly retryIn: number
}

/**
 * - `next`: counts a request, and tells what fires at it: all latencies, which add up, and the first
 *   of the others.
 */
export interface FaultBoard {
  readonly set: (fault: Fault.Fault) => Effect.Effect<Armed>
  readonly list: Effect.Effect<ReadonlyArray<Armed>>
  readonly remove: (id: string) => Effect.Effect<boolean>
  readonly clear: Effect.Effect<void>
  /** Back to the faults of the beginning. */
  readonly reset: Effect.Effect<void>
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

    const arm = (fault: Fault.Fault, now: number): Armed => {
      const unused = () => {
        do number++
        while (board.has(`f${number}`))
        return `f${number}`
      }
      const armed = { id: fault.id ?? unused(), fault, setAt: now, seen: 0, fired: 0, quota: Schedule.emptyQuota }
      board.set(armed.id, armed)
      return armed
    }

    const sweep = (now: number) => {
      for (const { fault: { ttl }, id, setAt } of board.values()) {
        if (ttl !== undefined && now - setAt >= Duration.toMillis(ttl)) board.delete(id)
      }
    }

    /** By the seed and the id, so that two faults of one session do not fire together. */
    const watch = (armed: Armed, now: number): { readonly armed: Armed; readonly retryIn: number | undefined } => {
      const { fault: { what, when }, setAt } = armed
      const seen = armed.seen + 1
      const elapsed = now - setAt
      const due = Schedule.fires(when, { number: seen, elapsed, seed: seed ^ Hash.string(armed.id) })
      if (!due || what.kind !== "quota") return { armed: { ...armed, seen }, retryIn: due ? 0 : undefined }
      const { quota, retryIn } = Schedule.countQuota(armed.quota, what, elapsed)
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
        sweep(now)
        return Array.from(board.values())
      }),
      remove: (id) => Effect.sync(() => board.delete(id)),
      clear: Effect.sync(() => board.clear()),
      reset,
      next: (operation) =>
        Effect.map(now, (now) => {
          sweep(now)
          const due: Array<Firing> = []
          for (const armed of board.values()) {
            if (armed.fault.on !== "both" && armed.fault.on !== operation) continue
            const watched = watch(armed, now)
            board.set(armed.id, watched.armed)
            if (watched.retryIn === undefined) continue
            due.push({
              id: armed.id,
              what: armed.fault.what,
              number: watched.armed.seen,
              retryIn: watched.retryIn
            })
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
