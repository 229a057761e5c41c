/** The sessions that a run creates on a mock server, each with its own clock and faults. */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { Exchange, Request } from "../exchange.ts"
import type { Target } from "../model.ts"
import { isSuccess } from "../readings/responseReadings.ts"
import type { ControlStep } from "../steps.ts"
import * as Requests from "./requests.ts"
import { skip, type Skipped } from "./skipped.ts"

/** The key of every test customer of a mock server. */
export const testKey = "test-key"

export interface ControlPlane {
  /** Creates a session, and returns its customer. */
  readonly createSession: Effect.Effect<Requests.Customer, Skipped>
  /** Sends a step to the session of a customer. */
  readonly send: (customer: Requests.Customer, step: ControlStep) => Effect.Effect<void, Skipped>
}

/**
 * The sessions end with the scope, and so does the session of `customerId` unless it belongs to the user.
 * `send` sends a request outside the budget.
 */
export const make = (
  target: Target,
  customerId: string,
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
            [...(target.customerId === undefined ? [customerId] : []), ...ids],
            // A finalizer is uninterruptible, and without an interruption the deadline could not end the request.
            (id) => Effect.interruptible(send(Requests.deleteSession(target, id))),
            { discard: true }
          ))
      )
    }

    return {
      createSession: Effect.gen(function*() {
        const id = yield* Ref.modify(created, (ids) => {
          const id = `${customerId}-${ids.length + 1}`
          return [id, [...ids, id]]
        })
        yield* control(Requests.createSession(target, id))
        return { id, key: testKey }
      }),
      send: (customer, step) => control(Requests.ofControl(target, customer.id, step))
    }
  })
