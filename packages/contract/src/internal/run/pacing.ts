/** How many requests a sandbox receives, and how fast: the budget, the spacing, and the end after 429 responses. */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { Target } from "../model.ts"
import * as TargetOptions from "../targetOptions.ts"
import { skip, type Skipped } from "./skipped.ts"

interface State {
  readonly sent: number
  /** How many responses in a row were 429. */
  readonly rateLimited: number
  /** Whether the requests kept for the end of the run may be sent. */
  readonly isReserveUsable: boolean
}

/** Requests of the budget that are kept to confirm the refusals of both endpoints at the end. */
const reserve = 2

/** The number of consecutive 429 responses after which a sandbox receives no more requests. */
const maxRateLimited = 3

export interface Pacing {
  /** How many requests were sent so far. */
  readonly sent: Effect.Effect<number>
  /**
   * Waits until the next request may be sent, counts it, and returns its number, from 0. Fails if the budget
   * is spent or if the sandbox limits the rate. For a mock server it neither waits nor fails.
   */
  readonly nextRequest: Effect.Effect<number, Skipped>
  /** Counts a response. Fails if it is rate limited, because it then says nothing about its request. */
  readonly countResponse: (isRateLimited: boolean) => Effect.Effect<void, Skipped>
  /** Allows the requests that were kept for the end of the run. */
  readonly releaseReserve: Effect.Effect<void>
}

export const make = (
  { budget = TargetOptions.defaultBudget, kind, spacing = TargetOptions.defaultSpacing }: Target
): Effect.Effect<Pacing> =>
  Effect.gen(function*() {
    const state = yield* Ref.make<State>({ sent: 0, rateLimited: 0, isReserveUsable: false })

    const waitForTurn = Effect.gen(function*() {
      const { isReserveUsable, rateLimited, sent } = yield* Ref.get(state)
      if (rateLimited >= maxRateLimited) {
        return yield* skip(`rate limited: ${maxRateLimited} responses in a row were 429, so no more requests are sent`)
      }
      if (sent >= (isReserveUsable ? budget : Math.max(1, budget - reserve))) {
        return yield* skip(`the budget of ${budget} requests is spent`)
      }
      if (sent > 0) yield* Effect.sleep(spacing)
    })

    return {
      sent: Effect.map(Ref.get(state), ({ sent }) => sent),
      nextRequest: Effect.zipRight(
        kind === "mock" ? Effect.void : waitForTurn,
        Ref.modify(state, ({ sent, ...others }) => [sent, { ...others, sent: sent + 1 }])
      ),
      countResponse: (isRateLimited) =>
        Ref.update(state, (current) => ({ ...current, rateLimited: isRateLimited ? current.rateLimited + 1 : 0 })).pipe(
          Effect.zipRight(isRateLimited ? skip("rate limited: the response is 429") : Effect.void)
        ),
      releaseReserve: Ref.update(state, (current) => ({ ...current, isReserveUsable: true }))
    }
  })
