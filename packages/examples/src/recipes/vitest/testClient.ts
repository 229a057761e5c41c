/** The production client against a mock server in this process, without a socket. */
import { Idv } from "@effect-idv/core"
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { Effect, Layer, ManagedRuntime } from "effect"
import { decisionsInMemory, type Row } from "../screening.ts"

/** Creates a client with a customer of its own, so that tests do not affect each other. */
export const makeTestClient = () => {
  const customer = Session.testCustomer("test-recipe")
  const rows = new Map<string, Row>()
  const runtime = ManagedRuntime.make(
    MockServer.MockServer.pipe(
      Effect.map(({ options }) => Idv.layer({ ...options, ...customer })),
      Layer.unwrapEffect,
      Layer.provideMerge(MockServer.layerHttpClient),
      Layer.merge(decisionsInMemory(rows))
    )
  )
  return {
    runtime,
    /** The stored decisions, in the order of the sign-ups. */
    decisions: () => [...rows.values()].map(({ decision = "null" }): unknown => JSON.parse(decision)),
    /** Runs an operation of the mock server, such as `mock((session) => session.advance("61 minutes"))`. */
    mock: <A, E>(operation: (session: Control.SessionControl) => Effect.Effect<A, E>): Promise<A> =>
      runtime.runPromise(
        Effect.flatMap(Control.Control, ({ session }) => operation(session(customer.customerId)))
      )
  }
}
