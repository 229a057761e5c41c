/**
 * Limits the checks of one worker: it waits for turns, which it reserves from the rate that all workers share.
 * Durations are in milliseconds.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Ledger from "./ledgerService.ts"

/** Requests arrive less evenly than they are sent. This margin keeps each second at the service within the rate. */
const margin = 25

/** A turn that is later than this is dropped, because its request could coincide with later ones. */
const maxLateness = 15

/** How far ahead a worker reserves turns. Another worker waits about this long for its first turn. */
const reservedAhead = 50

/** The maximum number of turns that a worker reserves at once. */
const maxReserved = 200

/** Returns an effect that waits for a turn. */
export const make = (ledger: Ledger.Service, service: string, rate: number) =>
  Effect.map(Effect.makeSemaphore(1), (mutex) => {
    const interval = (1000 + margin) / rate
    const count = Math.max(1, Math.min(maxReserved, Math.round(reservedAhead / interval)))
    let nextAt = 0
    let left = 0

    const reserve = Effect.gen(function*() {
      const firstIn = yield* ledger.slots(service, { count, interval })
      nextAt = (yield* Clock.currentTimeMillis) + firstIn
      left = count
    })

    const turn: Effect.Effect<void, Ledger.Failure> = Effect.gen(function*() {
      while (true) {
        if (left === 0) yield* reserve
        const at = nextAt
        nextAt += interval
        left--
        const now = yield* Clock.currentTimeMillis
        if (now - at > maxLateness) continue
        if (at > now) yield* Effect.sleep(at - now)
        return
      }
    })
    return mutex.withPermits(1)(turn)
  })
