/** The sessions that a run creates on a mock server, each with its own clock and faults. */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { Exchange, Request } from "../exchange.ts"
import type { Target } from "../model.ts"
import { isSuccess } from "../readings/responseReadings.ts"
import type { ControlStep } from "../steps.ts"
import * as Customers from "./customers.ts"
import * as Requests from "./requests.ts"
import { skip, type Skipped } from "./skipped.ts"

export interface ControlPlane {
  /** Creates a session for the customer of this id, and returns it with a key of its own. */
  readonly create: (id: string) => Effect.Effect<Customers.Customer, Skipped>
  /** The same for a customer whose id begins with that of another one. */
  readonly createFor: (customer: Customers.Customer) => Effect.Effect<Customers.Customer, Skipped>
  /** Sends a step to the session of a customer. */
  readonly send: (customer: Customers.Customer, step: ControlStep) => Effect.Effect<void, Skipped>
}

/**
 * The sessions end with the scope. `send` sends a request outside the budget.
 */
export const make = (
  target: Target,
  send: (request: Request) => Effect.Effect<Exchange>
): Effect.Effect<ControlPlane, never, Scope.Scope> =>
  Effect.gen(function*() {
    const created = yield* Ref.make<ReadonlyArray<string>>([])

    const control = (request: Request): Effect.Effect<void, Skipped> =>
      Effect.flatMap(send(request), (exchange) =>
        exchange._tag === "NoResponse"
          ? skip("the control API of the mock server does not respond")
          : isSuccess(exchange)
          ? Effect.void
          : skip(`the control API of the mock server responds with ${exchange.status}`))

    if (target.kind === "mock") {
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(Ref.get(created), (ids) =>
          Effect.forEach(
            ids,
            // A finalizer is uninterruptible, and without an interruption the deadline could not end the request.
            (id) => Effect.interruptible(send(Requests.deleteSession(target, id))),
            { discard: true }
          ))
      )
    }

    const create = (id: string) =>
      Effect.gen(function*() {
        const customer = { id, key: yield* Customers.makeKey }
        yield* Ref.update(created, (ids) => [...ids, id])
        yield* control(Requests.createSession(target, customer))
        return customer
      })

    return {
      create,
      createFor: ({ id }) => Effect.flatMap(Ref.get(created), ({ length }) => create(`${id}-${length + 1}`)),
      send: (customer, step) => control(Requests.ofControl(target, customer.id, step))
    }
  })
