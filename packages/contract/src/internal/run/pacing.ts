/** How many requests a sandbox receives, and how fast: the budget, the spacing, and the end after 429 responses. */
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { Target } from "../model.ts"
import * as TargetOptions from "../targetOptions.ts"
import * as Plan from "./plan.ts"
import { budgetSpent, checksSpent, skip, type Skipped } from "./skipped.ts"

interface State {
  readonly sent: number
  /** How many checks received a credential, and may be billed. */
  readonly checks: number
  /** How many responses in a row were 429. */
  readonly rateLimited: number
  /** Whether the requests kept for the end of the run may be sent. */
  readonly isReserveUsable: boolean
}

/** The number of consecutive 429 responses after which a sandbox receives no more requests. */
const maxRateLimited = 3

/** The counter of the case that the current fiber, or one that started it, observes. */
const counter = FiberRef.unsafeMake(Option.none<Ref.Ref<number>>())

/** An effect with the number of requests that it sent. */
export const withRequests = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<readonly [A, number], E, R> =>
  Effect.flatMap(
    Ref.make(0),
    (requests) => Effect.zip(Effect.locally(self, counter, Option.some(requests)), Ref.get(requests))
  )

const countRequest = Effect.flatMap(
  FiberRef.get(counter),
  Option.match({ onNone: () => Effect.void, onSome: Ref.update((count) => count + 1) })
)

export interface Pacing {
  /**
   * Waits until the next request may be sent, counts it, and returns its number, from 0. Fails if the budget
   * is spent or if the sandbox limits the rate. For a mock server it neither waits nor fails. A check may be billed.
   */
  readonly nextRequest: (isCheck: boolean) => Effect.Effect<number, Skipped>
  /** Counts a credential. */
  readonly countCheck: Effect.Effect<void>
  /** Counts a response. Fails if it is rate limited, because it then says nothing about its request. */
  readonly countResponse: (isRateLimited: boolean) => Effect.Effect<void, Skipped>
  /** Allows the requests that were kept for the end of the run. */
  readonly releaseReserve: Effect.Effect<void>
}

export const make = (
  { budget = TargetOptions.defaultBudget, kind, spacing = TargetOptions.defaultSpacing }: Target,
  sufficientBudget: number
): Effect.Effect<Pacing> =>
  Effect.gen(function*() {
    const state = yield* Ref.make<State>({ sent: 0, checks: 0, rateLimited: 0, isReserveUsable: false })

    const maxChecks = TargetOptions.checksOf(budget)
    const waitForTurn = (isCheck: boolean) =>
      Effect.gen(function*() {
        const { checks, isReserveUsable, rateLimited, sent } = yield* Ref.get(state)
        if (rateLimited >= maxRateLimited) {
          return yield* skip(
            `rate limited: ${maxRateLimited} responses in a row were 429, so no more requests are sent`
          )
        }
        if (sent >= (isReserveUsable ? budget : budget - Plan.reserve.requests)) {
          return yield* skip(budgetSpent(budget, sufficientBudget))
        }
        const mostChecks = isReserveUsable ? maxChecks : Math.max(1, maxChecks - Plan.reserve.checks)
        if (isCheck && checks >= mostChecks) {
          return yield* skip(checksSpent(maxChecks, sufficientBudget))
        }
        if (sent > 0) yield* Effect.sleep(spacing)
      })

    return {
      nextRequest: (isCheck) =>
        Effect.zipRight(
          kind === "mock" ? Effect.void : waitForTurn(isCheck),
          Effect.zipRight(
            countRequest,
            Ref.modify(state, ({ sent, ...others }) => [sent, { ...others, sent: sent + 1 }])
          )
        ),
      countCheck: Ref.update(state, (current) => ({ ...current, checks: current.checks + 1 })),
      countResponse: (isRateLimited) =>
        Ref.update(state, (current) => ({ ...current, rateLimited: isRateLimited ? current.rateLimited + 1 : 0 })).pipe(
          Effect.zipRight(isRateLimited ? skip("rate limited: the response is 429") : Effect.void)
        ),
      releaseReserve: Ref.update(state, (current) => ({ ...current, isReserveUsable: true }))
    }
  })
