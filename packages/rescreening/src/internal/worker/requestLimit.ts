/** The requests that a worker may send under the policy's `maxChecks`. All workers share the limit in the ledger. */
import * as Effect from "effect/Effect"
import type * as Ledger from "../ledger/service.ts"
import type * as Claims from "./claims.ts"
import type * as RunState from "./runState.ts"

/** In milliseconds. */
const shortestGrace = 2000

/** In milliseconds: how often a worker tries to reserve a request while none is left. */
const lookEvery = 50

export const make = (ledger: Pick<Ledger.Service, "reserve">, { id, now, state, turnsAhead }: {
  readonly id: string
  readonly state: Pick<RunState.RunState, "policy" | "stopAll">
  readonly now: () => number
  /** How many turns a worker takes at once. */
  readonly turnsAhead: () => number
}) => {
  /** Reserved in the ledger, and not used. Once the lease of the row has ended, the ledger may count them as free. */
  let spare = 0
  let spareUntil = 0
  /**
   * How long there has been none, without the time in which this process was delayed: a busy machine delays the others
   * too. A pause at once would release the rows whose requests are reserved and not sent yet, by this worker or by others.
   */
  let exhaustedFor = 0
  let lookedAt = -Infinity

  return {
    /** Takes up to `count` requests. If there is none for a while, it pauses the run. */
    take: (count: number) =>
      Effect.gen(function*() {
        const { maxChecks, rate } = state.policy()
        if (maxChecks === undefined || count === 0) return count
        if (now() >= spareUntil) spare = 0
        const fromSpare = Math.min(spare, count)
        spare -= fromSpare
        const taken = fromSpare + (yield* ledger.reserve(id, count - fromSpare, maxChecks))
        if (taken > 0) {
          exhaustedFor = 0
          return taken
        }
        exhaustedFor += Math.min(lookEvery, now() - lookedAt)
        lookedAt = now()
        if (exhaustedFor > Math.max(shortestGrace, 2 * turnsAhead() * 1000 / rate)) {
          yield* state.stopAll(`the limit of ${maxChecks} checks is reached (--max-checks); set a higher one`)
        }
        yield* Effect.sleep(lookEvery)
        return 0
      }),
    /** Keeps the request of a row that was not sent, for another row. */
    put: ({ leasedUntil }: Pick<Claims.Claim, "leasedUntil">) => {
      if (state.policy().maxChecks === undefined || now() >= leasedUntil) return
      spareUntil = spare === 0 ? leasedUntil : Math.min(spareUntil, leasedUntil)
      spare++
    }
  }
}

export type RequestLimit = ReturnType<typeof make>
