/** Claims and screens the rows of shards, with a span for each shard. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Tracer from "effect/Tracer"
import type * as Ledger from "./ledgerService.ts"

export interface Options<E> {
  readonly shards: ReadonlyArray<number>
  readonly run: string
  /** How many rows are screened at once. */
  readonly concurrency: number
  /** Claims some pending rows of a shard, or none if it has none. */
  readonly claim: (shard: number) => Effect.Effect<ReadonlyArray<Ledger.Claim>, E>
  readonly screen: (claim: Ledger.Claim) => Effect.Effect<unknown, E>
  /** Whether to begin no further row. */
  readonly isOver: () => boolean
}

/** The span of a shard. It ends when its users have ended: the rows in flight, and the claims of further rows. */
interface ShardSpan {
  readonly span: Tracer.Span
  users: number
}

/**
 * Screens the pending rows of shards, one shard after the other. The first rows of a shard do not wait for the last
 * responses of the previous one. Returns the number of claimed rows.
 *
 * The span of a shard lasts from its first claimed row until its last one has an outcome or is released. Its checks are
 * children of the span.
 */
export const drain = <E>({ claim, concurrency, isOver, run, screen, shards }: Options<E>): Effect.Effect<number, E> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const mutex = yield* Effect.makeSemaphore(1)
    const remaining = [...shards]
    let claims: Array<Ledger.Claim> = []
    let count = 0
    let current: ShardSpan | undefined
    const open = new Set<ShardSpan>()
    const end = (shard: ShardSpan, exit: Exit.Exit<unknown, unknown>) => {
      open.delete(shard)
      shard.span.end(clock.unsafeCurrentTimeNanos(), exit)
    }
    const leave = (shard: ShardSpan) => {
      if (--shard.users === 0) end(shard, Exit.void)
    }
    const refill = Effect.gen(function*() {
      for (let shard = remaining[0]; shard !== undefined && claims.length === 0 && !isOver(); shard = remaining[0]) {
        const claimed = yield* claim(shard)
        count += claimed.length
        if (claimed.length === 0) {
          remaining.shift()
          if (current !== undefined) leave(current)
          current = undefined
        } else if (current === undefined) {
          const span = yield* Effect.makeSpan("Rescreening.shard", { attributes: { run, shard } })
          current = { span, users: 1 }
          open.add(current)
        }
        // After the span, because another fiber takes a row as soon as it is here.
        claims = [...claimed]
      }
    })
    const refillOnce = mutex.withPermits(1)(Effect.suspend(() => claims.length > 0 ? Effect.void : refill))
    const loop: Effect.Effect<void, E> = Effect.suspend(() => {
      if (isOver()) return Effect.void
      const row = claims.shift()
      if (row === undefined) return remaining.length > 0 ? Effect.zipRight(refillOnce, loop) : Effect.void
      const shard = current
      if (shard === undefined) return Effect.dieMessage("A claimed row has no shard")
      shard.users++
      return screen(row).pipe(
        Effect.withParentSpan(shard.span),
        Effect.ensuring(Effect.sync(() => leave(shard))),
        Effect.zipRight(loop)
      )
    })
    yield* Effect.replicateEffect(loop, concurrency, { concurrency: "unbounded", discard: true }).pipe(
      // The spans that are open belong to a shard with further rows, or to a row that was claimed and not begun.
      Effect.onExit((exit) => Effect.sync(() => open.forEach((shard) => end(shard, exit))))
    )
    return count
  })
