/**
 * The mock server for tests in plain TypeScript: promises, and no Effect. The control API is plain HTTP, so that the
 * same requests work from a test in any language.
 */
import { MockServer } from "@effect-idv/mock-server"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { randomUUID } from "node:crypto"

/** A customer of the mock server with its own clock, tokens and journal. */
export interface TestSession {
  readonly customerId: string
  readonly customerKey: string
  /** Moves the clock of the service, such as by `61 minutes`. */
  readonly advance: (by: string) => Promise<void>
  /** Ends all tokens that the service has issued to this customer. */
  readonly revokeTokens: () => Promise<void>
  /** Replaces the test persons of this customer: `[{ match: { nameLast: "Sample" }, response: "Potential match" }]`. */
  readonly setTestPersons: (persons: ReadonlyArray<object>) => Promise<void>
  /** Rejects if the requests that the service received are not as expected. */
  readonly verify: (expectation: object) => Promise<void>
}

export interface TestServer {
  readonly url: string
  readonly session: () => Promise<TestSession>
  readonly close: () => Promise<void>
}

const control = async (url: string, path: string, body: object, method = "POST"): Promise<void> => {
  const response = await fetch(`${url}/_mock${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(await response.text())
}

/** Starts a mock server on a free port. In a test: `beforeAll` and `afterAll`. */
export const startTestServer = async (): Promise<TestServer> => {
  const scope = Effect.runSync(Scope.make())
  const services = await Effect.runPromise(Layer.buildWithScope(MockServer.layerTest, scope))
  const { url } = Context.get(services, MockServer.MockServer)
  return {
    url,
    session: async () => {
      const customerId = `test-plain-${randomUUID()}`
      await control(url, "/sessions", { customerId })
      const post = (path: string, body: object) => control(url, `/sessions/${customerId}${path}`, body)
      return {
        customerId,
        customerKey: "test-key",
        advance: (by) => post("/clock", { advance: by }),
        revokeTokens: () => post("/tokens/revoke", {}),
        setTestPersons: (persons) => control(url, `/sessions/${customerId}/test-persons`, persons, "PUT"),
        verify: (expectation) => post("/verify", expectation)
      }
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
