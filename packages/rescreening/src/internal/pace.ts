/** The turns of one worker, out of the budget that all workers share. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Ledger from "./ledgerService.ts"

/** Requests do not arrive as evenly as they are sent. In any second of the service there must not be one too many. */
const jitter = 25

/** A turn that is taken later than this could come together with later ones, so it is lost. */
const slack = 15

/** How far ahead turns are reserved. Another worker waits so long for its first one. */
const ahead = 50

const mostAhead = 200

/** Waits for a turn. */
export const make = (ledger: Ledger.Service, service: string, rate: number) =>
  Effect.map(Effect.makeSemaphore(1), (one) => {
    const interval = (1000 + jitter) / rate
    const count = Math.max(1, Math.min(mostAhead, Math.round(ahead / interval)))
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
        if (now - at > slack) continue
        if (at > now) yield* Effect.sleep(at - now)
        return
      }
    })
    return one.withPermits(1)(turn)
  })
