/** The claims of a worker: rows that were claimed together, with a lease that the worker renews until the last one ends. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import type * as Tracer from "effect/Tracer"
import { randomUUID } from "node:crypto"
import * as Metrics from "../../RescreeningMetrics.ts"
import type * as Ledger from "../ledger/service.ts"

/** The worker believes to hold the lease until `leasedUntil`. */
export interface Claim {
  readonly token: string
  readonly span: Tracer.Span
  left: number
  leasedUntil: number
}

/** `lease` is in milliseconds, and `now` in those of the worker's clock. */
export const make = (
  ledger: Pick<Ledger.Service, "claim" | "endLeases" | "releaseAll" | "renew">,
  { lease, now, run }: { readonly run: string; readonly lease: number; readonly now: () => number }
) => {
  const claims = new Map<string, Claim>()
  const endedTokens: Array<string> = []
  /** The claims whose rows have not arrived, or never will. The ledger may have stored them. */
  const requested = new Set<string>()
  const endSpan = ({ span }: Claim, exit: Exit.Exit<unknown, unknown>) =>
    Effect.map(Effect.clock, (clock) => span.end(clock.unsafeCurrentTimeNanos(), exit))

  return {
    isLeased: ({ leasedUntil }: Claim) => now() < leasedUntil,

    /**
     * Claims rows, if there are any. It is not interrupted, because the statement may claim rows after an interruption,
     * and after {@link release}.
     */
    take: (limit: number) =>
      Effect.gen(function*() {
        const token = randomUUID()
        requested.add(token)
        const from = now()
        const rows = yield* ledger.claim({ run, limit, lease, token })
        requested.delete(token)
        if (rows.length === 0) {
          // The statement may have claimed rows whose response was lost, before it was repeated.
          endedTokens.push(token)
          return undefined
        }
        const span = yield* Effect.makeSpan("Rescreening.claim", { attributes: { run, rows: rows.length } })
        const claim: Claim = { token, span, left: rows.length, leasedUntil: from + lease }
        claims.set(token, claim)
        return { claim, rows }
      }).pipe(Effect.uninterruptible),

    /** Removes one row from a claim. The lease ends with the last row. */
    leave: (claim: Claim) => {
      if (--claim.left > 0) return Effect.void
      if (claims.delete(claim.token)) endedTokens.push(claim.token)
      return endSpan(claim, Exit.void)
    },

    renew: Effect.gen(function*() {
      const done = endedTokens.splice(0)
      if (done.length > 0) yield* ledger.endLeases(done)
      const from = now()
      const held = [...claims.values()]
      if (held.length === 0) return
      const renewed = yield* ledger.renew(held.map(({ token }) => token), lease)
      for (const claim of held) {
        if (renewed.has(claim.token)) claim.leasedUntil = from + lease
        else if (claims.delete(claim.token)) {
          claim.leasedUntil = 0
          yield* Metric.increment(Metrics.leasesLost)
        }
      }
    }),

    /** Releases the rows that are left, none of which has a request in flight, and ends the leases. */
    release: Effect.suspend(() => {
      const tokens = [...claims.keys(), ...requested]
      return Effect.zipRight(
        tokens.length > 0 ? ledger.releaseAll(run, tokens) : Effect.void,
        ledger.endLeases([...tokens, ...endedTokens])
      )
    }),

    /** The worker ends. */
    endSpans: (exit: Exit.Exit<unknown, unknown>) =>
      Effect.forEach(claims.values(), (claim) => endSpan(claim, exit), { discard: true })
  }
}

export type Claims = ReturnType<typeof make>
