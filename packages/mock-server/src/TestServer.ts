/**
 * A mock server for tests without Effect: every function returns a promise, and works in the hooks of any test runner.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import * as Control from "./Control.ts"
import type * as Fault from "./Fault.ts"
import { testKey } from "./internal/session/customer.ts"
import * as MockServer from "./MockServer.ts"
import type * as Profile from "./Profile.ts"
import type * as TestPerson from "./TestPerson.ts"
import type * as Verification from "./Verification.ts"

/**
 * A customer of the mock server with its own clock, tokens, faults, profile and journal. A promise rejects if the mock
 * server refuses the call.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestSession {
  readonly customerId: string
  readonly customerKey: string
  /** Moves the clock of the service, such as by `61 minutes`. */
  readonly advance: (by: `${number} ${"seconds" | "minutes" | "hours" | "days"}`) => Promise<void>
  /** Revokes all tokens that the service has issued to this customer. */
  readonly revokeTokens: () => Promise<void>
  /** Injects a fault, such as `{ on: "aml", what: { kind: "status", status: 503 } }`. */
  readonly fault: (fault: typeof Fault.Fault.Encoded) => Promise<void>
  /** Chooses another behaviour where the service document leaves one open. */
  readonly changeProfile: (patch: Profile.Patch) => Promise<void>
  /** Replaces the test persons of this customer: `[{ match: { nameLast: "Sample" }, response: "Potential match" }]`. */
  readonly setTestPersons: (persons: typeof TestPerson.CustomList.Encoded) => Promise<void>
  /** Rejects if the requests that the service received are not as expected, with the nearest of them. */
  readonly verify: (expectation: typeof Verification.Expectation.Encoded) => Promise<void>
}

/**
 * A running mock server.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestServer {
  /** The address of both endpoints. */
  readonly url: string
  /** Creates a customer, one for each test. */
  readonly session: () => Promise<TestSession>
  readonly close: () => Promise<void>
}

const sessionOf = (control: Control.Service, customerId: string): TestSession => {
  const session = control.session(customerId)
  const run = <A, E>(call: Effect.Effect<A, E>): Promise<void> => Effect.runPromise(Effect.asVoid(call))
  return {
    customerId,
    customerKey: Redacted.value(testKey),
    advance: (by) => run(session.advance(by)),
    revokeTokens: () => run(session.revokeTokens()),
    fault: (fault) => run(session.fault(fault)),
    changeProfile: (patch) => run(session.changeProfile(patch)),
    setTestPersons: (persons) => run(session.setTestPersons(persons)),
    verify: (expectation) => run(session.verify(expectation))
  }
}

/**
 * Starts a mock server, by default on a free port. Rejects if the address is in use.
 *
 * @category constructors
 * @since 0.1.0
 */
export const start = (options: MockServer.Options = {}): Promise<TestServer> =>
  Effect.runPromise(Effect.gen(function*() {
    const scope = yield* Scope.make()
    const services = yield* Layer.buildWithScope(MockServer.layer({ port: 0, ...options }), scope)
    const { control, url } = yield* Effect.provide(
      Effect.all({
        control: Control.Control,
        url: Effect.map(MockServer.MockServer, ({ url }) => url)
      }),
      services
    )
    return {
      url,
      session: () => {
        const customerId = `test-${randomUUID()}`
        return Effect.runPromise(Effect.as(control.create({ customerId }), sessionOf(control, customerId)))
      },
      close: () => Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }))
