/** The limits of a run: how much a sandbox receives, and how fast, and why a case does not run. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { defaultSpacing, type Target } from "../target.ts"

/** How many requests a sandbox may receive. */
export const defaultBudget = 60

/** How many checks a sandbox may answer, which may be billed: a fifth of its requests. */
export const checksOf = (budget: number): number => Math.floor(budget / 5)

/** The smallest budget with these requests and checks. */
export const budgetOf = (requests: number, checks: number): number => Math.max(requests, 5 * checks)

/** The smallest budget that allows a check. */
export const smallestBudget = 5

/** How many wrong credentials and bad tokens a sandbox receives by default: it may lock the customer out. */
export const defaultWrongCredentials = 2
export const defaultBadTokens = 12

/** Requests that are kept to confirm the refusals of both endpoints at the end, one of them a check. */
export const reserve = { requests: 2, checks: 1 }

export class Skipped extends Data.TaggedError("Skipped")<{
  readonly reason: string
  /** The id of the failed case that this one depends on. */
  readonly dependsOn?: string
}> {}

export const skip = (reason: string, dependsOn?: string): Skipped =>
  new Skipped({ reason, ...(dependsOn !== undefined && { dependsOn }) })

/** The reasons why a case cannot apply to a target. A report without such a case is complete. */
export const inapplicable = {
  testCustomer: "every id that begins with test- is a customer of the mock server",
  unchanged: "the change makes no difference to this customer, token or person",
  refusesOthers: "the service refuses a further field, so others show nothing",
  tooShort: "the checks of this run took less than 10 s in all, which does not show whether searched_on moves",
  fewPeople: "the run had the results of too few people",
  noRepetition: "the run had no person twice"
}

/** The reasons of cases that would exceed the limits of a sandbox, with the budget that all cases need. */
const enough = (budget: number): string =>
  `${budget} requests are enough, and allow ${checksOf(budget)} checks that may be billed (--budget)`
export const budgetSpent = (budget: number, sufficient: number): string =>
  `the budget of ${budget} requests is spent; ${enough(sufficient)}`
export const checksSpent = (checks: number, sufficient: number): string =>
  `the budget of ${checks} check${checks === 1 ? "" : "s"} that may be billed is spent; ${enough(sufficient)}`
export const wrongCredentialsSpent = (most: number): string =>
  `a sandbox receives at most ${most} wrong credentials (--wrong-keys)`
export const badTokensSpent = (most: number): string => `a sandbox receives at most ${most} bad tokens (--wrong-keys)`

export const isBudget = (reason: string): boolean => / spent; .*\(--budget\)$|^a sandbox receives at most /.test(reason)

/** Whether the user can change the reason with a flag, which it names at its end. */
export const isChosen = (reason: string): boolean => /\(--[a-z-]+\)$/.test(reason)

/** Whether the service no longer responded as before in the middle of the run. */
export const isFailure = (reason: string): boolean =>
  /^(rate limited|the refusal is not confirmed)|the documented request/.test(reason)

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

export const makePacing = (
  { budget = defaultBudget, kind, spacing = defaultSpacing }: Target,
  sufficientBudget: number
): Effect.Effect<Pacing> =>
  Effect.gen(function*() {
    const state = yield* Ref.make<State>({ sent: 0, checks: 0, rateLimited: 0, isReserveUsable: false })

    const maxChecks = checksOf(budget)
    const waitForTurn = (isCheck: boolean) =>
      Effect.gen(function*() {
        const { checks, isReserveUsable, rateLimited, sent } = yield* Ref.get(state)
        if (rateLimited >= maxRateLimited) {
          return yield* skip(
            `rate limited: ${maxRateLimited} responses in a row were 429, so no more requests are sent`
          )
        }
        if (sent >= (isReserveUsable ? budget : budget - reserve.requests)) {
          return yield* skip(budgetSpent(budget, sufficientBudget))
        }
        const mostChecks = isReserveUsable ? maxChecks : Math.max(1, maxChecks - reserve.checks)
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
