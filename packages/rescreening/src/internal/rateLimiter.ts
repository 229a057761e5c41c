/**
 * Limits the checks of one worker: it waits for turns, which it reserves from the rate that all workers share.
 * Durations are in milliseconds.
 */
import * as Effect from "effect/Effect"
import type * as Ledger from "./ledgerService.ts"

/** Requests arrive less evenly than they are sent. This margin keeps each second at the service within the rate. */
const margin = 25

/** A turn that is later than this is dropped, because its request could coincide with later ones. */
const maxLateness = 20

/** How far ahead a worker reserves turns. Another worker waits about this long for its first turn. */
const reservedAhead = 50

/** The maximum number of turns that a worker reserves at once. */
const maxReserved = 200

export interface Turns {
  /** Waits for a turn, and returns its time. */
  readonly next: Effect.Effect<number, Ledger.Failure>
  /**
   * Reports that the request of a turn leaves now. If the database or the process was slow since the turn, the request
   * coincides with later ones, so the worker drops a later turn.
   */
  readonly leaves: (at: number) => void
}

export const make = (ledger: Pick<Ledger.Service, "slots">, service: string, rate: number): Effect.Effect<Turns> =>
  Effect.gen(function*() {
    const mutex = yield* Effect.makeSemaphore(1)
    const clock = yield* Effect.clock
    // Not the wall clock, which may be set.
    const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    const interval = (1000 + margin) / rate
    const count = Math.max(1, Math.min(maxReserved, Math.round(reservedAhead / interval)))
    let nextAt = 0
    let left = 0
    let dropped = 0
    // The usual time from a turn to its request is not late: it delays all requests equally.
    let usual: number | undefined

    const reserve = Effect.gen(function*() {
      const firstIn = yield* ledger.slots(service, { count, interval })
      nextAt = now() + firstIn
      left = count
    })

    const next = Effect.gen(function*() {
      while (true) {
        if (left === 0) yield* reserve
        const at = nextAt
        nextAt += interval
        left--
        if (dropped > 0) {
          dropped--
          continue
        }
        if (at > now()) yield* Effect.sleep(at - now())
        if (now() - at <= maxLateness) return at
      }
    })

    return {
      next: mutex.withPermits(1)(next),
      leaves: (at) => {
        const lateness = now() - at
        if (usual === undefined) usual = lateness
        if (lateness > usual + maxLateness) dropped++
        usual += (lateness - usual) / 16
      }
    }
  })
