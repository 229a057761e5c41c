/** Sends the steps of the cases. A sequence of steps that several cases share is sent once. */
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { StepExchange } from "../exchange.ts"
import type { Step } from "../steps.ts"
import type { ControlPlane } from "./controlPlane.ts"
import type { Customer } from "./requests.ts"
import * as Session from "./session.ts"
import type { Skipped } from "./skipped.ts"

type Outcome = Either.Either<ReadonlyArray<StepExchange>, Skipped>

/** The exchanges of a sequence of steps, without those of the control plane. */
export type StepRunner = (steps: ReadonlyArray<Step>) => Effect.Effect<ReadonlyArray<StepExchange>, Skipped>

const isControlled = (steps: ReadonlyArray<Step>): boolean => steps.some(({ to }) => to === "control")

export const make = (session: Session.Session, controlPlane: ControlPlane): Effect.Effect<StepRunner> =>
  Effect.gen(function*() {
    // By the steps as JSON.
    const outcomes = yield* Ref.make<ReadonlyMap<string, Outcome>>(new Map())

    const sendAll = (steps: ReadonlyArray<Step>, customer: Customer) =>
      Effect.gen(function*() {
        const exchanges: Array<StepExchange> = []
        for (const step of steps) {
          if (step.to === "control") {
            yield* controlPlane.send(customer, step)
            continue
          }
          const usesSharedToken = step.to === "aml" && step.authorization !== "own token"
          const ownToken = Option.getOrElse(Session.tokenIn(exchanges), () => "")
          const exchange = usesSharedToken
            ? yield* session.sendWithSharedToken(step)
            : yield* session.send(step, customer, ownToken, exchanges)
          // Faults of the control plane may cause 429 on purpose.
          exchanges.push(isControlled(steps) ? exchange : yield* session.rejectRateLimited(exchange))
        }
        return exchanges
      })

    return (steps) =>
      Effect.gen(function*() {
        const key = JSON.stringify(steps)
        const before = (yield* Ref.get(outcomes)).get(key)
        if (before !== undefined) return yield* before
        const customer = isControlled(steps) ? yield* controlPlane.createSession : session.customer
        const outcome = yield* Effect.either(sendAll(steps, customer))
        yield* Ref.update(outcomes, (current) => new Map(current).set(key, outcome))
        return yield* outcome
      })
  })
