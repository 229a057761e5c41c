/** Runs the onboarding API in this process with a mock server, and records its logs and spans. */
import { Idv } from "@effect-idv/core"
import type { Fault } from "@effect-idv/mock-server"
import { Control, MockServer, type Profile, Session } from "@effect-idv/mock-server"
import { FetchHttpClient, Headers, HttpClient, HttpClientRequest, HttpServer } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { ConfigProvider, Context, Effect, Fiber, Layer, Logger, LogLevel } from "effect"
import { randomUUID } from "node:crypto"
import { inspect } from "node:util"
import * as MovableClock from "../../../core/test/support/movableClock.ts"
import * as RecordingTracer from "../../../core/test/support/tracer.ts"
import * as Database from "../../src/onboarding-api/Database.ts"
import * as Server from "../../src/onboarding-api/Server.ts"
import * as Tenants from "../../src/onboarding-api/Tenants.ts"
import { OperationsUrl } from "../../src/recipes/operations.ts"

/** Milliseconds: no test waits for it, but moves the clock of the server. */
export const responseAfter = 60_000
const tokens = {
  alice: "canary-token-of-alice",
  bob: "canary-token-of-bob",
  carol: "canary-token-of-carol",
  dave: "canary-token-of-dave"
}
export const reviewers = Object.entries(tokens).map((pair) => pair.join(":")).join()

export const provider = (variables: Record<string, string>) =>
  ConfigProvider.fromMap(
    new Map(Object.entries({ PORT: "0", OPERATIONS_PORT: "0", ANSWER_AFTER: `${responseAfter} millis`, ...variables })),
    { pathDelim: "_" }
  )

const configOf = (variables: Record<string, string>) => Layer.setConfigProvider(provider(variables))

/** Starts a mock server with a customer for this test. `verify…` verifies the number of requests so far. */
export const mock = (profile?: Profile.Profile) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(MockServer.layer({ port: 0, ...(profile && { profile }) }))
    const { session } = Context.get(context, Control.Control)
    const { options } = Context.get(context, MockServer.MockServer)
    const customer = Session.testCustomer("test-onboarding")
    // The session does not exist before the first token request.
    const verify = (operation: "aml" | "token") => (n: number) =>
      session(customer.customerId).verify({ kind: "exactly", n, pattern: { operation } }).pipe(
        Effect.catchIf((error) => error._tag === "SessionUnknown" && n === 0, () => Effect.void),
        Effect.orDie
      )
    /** After the first token request. */
    const fault = (fault: typeof Fault.Fault.Encoded) => Effect.orDie(session(customer.customerId).fault(fault))
    return { options: { ...options, ...customer }, fault, verifyChecks: verify("aml"), verifyTokens: verify("token") }
  })

/** Runs a server until the scope closes. `printed` is its log at every level, and its spans. */
export const serve = (options: Idv.Options, variables: Record<string, string>, movable = MovableClock.make()) =>
  Effect.gen(function*() {
    const logged: Array<string> = []
    const logger = Logger.make((line) => {
      logged.push(Logger.jsonLogger.log(line), Logger.stringLogger.log(line))
    })
    const { spans, tracer } = RecordingTracer.make()
    // Built in another fiber, so that the tracer and the logger do not apply to the test.
    const fiber = yield* Effect.fork(
      Layer.build(
        Server.layer.pipe(
          Layer.provide(Idv.layer(options)),
          Layer.provide(NodeHttpClient.layerUndici),
          Layer.provide(configOf(variables)),
          Layer.provide(Layer.setTracer(tracer)),
          Layer.provide([Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All)])
        )
      ).pipe(Effect.withClock(movable.clock))
    )
    const context = yield* Effect.flatten(Fiber.await(fiber))
    const { address } = Context.get(context, HttpServer.HttpServer)
    const url = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
    const printed = Effect.sync(() =>
      [
        ...logged,
        ...spans.map(({ attributes, events, exit, name }) => inspect([name, attributes, events, exit], { depth: 20 }))
      ].join("\n")
    )
    return { url, operations: Context.get(context, OperationsUrl), printed, movable }
  })

/** Connects the test to the database of a server. */
export const database = (url: string, tenant = "") =>
  Effect.provideService(
    Layer.build(Layer.provide(Database.layer, configOf({ DATABASE_URL: url }))),
    Tenants.Tenant,
    tenant
  )

export const get = (url: string, headers: Record<string, string> = {}) =>
  send(HttpClientRequest.setHeaders(HttpClientRequest.get(url), headers))

const send = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function*() {
    const response = yield* HttpClient.execute(request)
    const body = yield* response.text
    // The test compares headers of responses that differ in time.
    const headers = Headers.remove(response.headers, "date")
    return { status: response.status, headers, body }
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer), Effect.withTracerEnabled(false))

/** Sends a sign-up with any text as its body. */
export const signUpText = (url: string, text: string, key = randomUUID()) =>
  send(
    HttpClientRequest.post(`${url}/sign-ups`).pipe(
      HttpClientRequest.setHeader("idempotency-key", key),
      HttpClientRequest.bodyText(text, "application/json")
    )
  )

export const signUp = (
  url: string,
  name: string,
  key = randomUUID(),
  dateOfBirth = "1931-07-29",
  otherNames: ReadonlyArray<string> = []
) => signUpText(url, JSON.stringify({ name, otherNames, dateOfBirth }), key)

export type Reviewer = keyof typeof tokens

/** Reads open cases. */
export const reviews = (url: string, query = "", reviewer: Reviewer = "alice") => act(url, `${query}`, reviewer)

/** What a reviewer does: a `GET` of a path below `/reviews`, or a `POST` with a payload. */
export const act = (url: string, path: string, reviewer: Reviewer, payload?: object) =>
  send(
    (payload === undefined ? HttpClientRequest.get : HttpClientRequest.post)(`${url}/reviews${path}`).pipe(
      HttpClientRequest.bearerToken(tokens[reviewer]),
      payload === undefined ? (request) => request : HttpClientRequest.bodyUnsafeJson(payload)
    )
  )
