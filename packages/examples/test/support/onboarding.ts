/** Runs the onboarding API in this process with a mock server, and records its logs and spans. */
import { Idv } from "@effect-idv/core"
import { Control, MockServer, type Profile, Session } from "@effect-idv/mock-server"
import { FetchHttpClient, Headers, HttpClient, HttpClientRequest, HttpServer } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Clock, ConfigProvider, Context, Effect, Fiber, Layer, Logger, LogLevel } from "effect"
import { randomUUID } from "node:crypto"
import { inspect } from "node:util"
import * as RecordingTracer from "../../../core/test/support/tracer.ts"
import * as Database from "../../src/onboarding-api/Database.ts"
import * as Server from "../../src/onboarding-api/Server.ts"

/** Milliseconds: many times longer than a sign-up takes, because the machine may be busy. */
export const responseAfter = 8000
export const reviewerToken = "canary-reviewer-token"

export const provider = (variables: Record<string, string>) =>
  ConfigProvider.fromMap(new Map(Object.entries({ PORT: "0", ANSWER_AFTER: `${responseAfter} millis`, ...variables })))

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
    return { options: { ...options, ...customer }, verifyChecks: verify("aml"), verifyTokens: verify("token") }
  })

/** Runs a server until the scope closes. `printed` is its log at every level, and its spans. */
export const serve = (options: Idv.Options, variables: Record<string, string>) =>
  Effect.gen(function*() {
    const logged: Array<string> = []
    const logger = Logger.make((line) => {
      logged.push(Logger.jsonLogger.log(line), Logger.stringLogger.log(line))
    })
    const { spans, tracer } = RecordingTracer.make()
    // Built in another fiber, so that the tracer and the logger do not apply to the test.
    const fiber = yield* Effect.fork(Layer.build(
      Server.layer.pipe(
        Layer.provide(Idv.layer(options)),
        Layer.provide(NodeHttpClient.layerUndici),
        Layer.provide(configOf(variables)),
        Layer.provide(Layer.setTracer(tracer)),
        Layer.provide([Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All)])
      )
    ))
    const context = yield* Effect.flatten(Fiber.await(fiber))
    const { address } = Context.get(context, HttpServer.HttpServer)
    const url = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
    const printed = Effect.sync(() =>
      [
        ...logged,
        ...spans.map(({ attributes, events, exit, name }) => inspect([name, attributes, events, exit], { depth: 20 }))
      ].join("\n")
    )
    return { url, printed }
  })

/** Connects the test to the database of a server. */
export const database = (url: string) => Layer.build(Layer.provide(Database.layer, configOf({ DATABASE_URL: url })))

export const get = (url: string, headers: Record<string, string> = {}) =>
  send(HttpClientRequest.setHeaders(HttpClientRequest.get(url), headers))

const send = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    const response = yield* HttpClient.execute(request)
    const body = yield* response.text
    // The test compares headers of responses that differ in time.
    const headers = Headers.remove(response.headers, "date")
    return { status: response.status, headers, body, took: (yield* Clock.currentTimeMillis) - startedAt }
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer), Effect.withTracerEnabled(false))

/** Sends a sign-up with any text as its body. */
export const signUpText = (url: string, text: string, key = randomUUID()) =>
  send(
    HttpClientRequest.post(`${url}/sign-ups`).pipe(
      HttpClientRequest.setHeader("idempotency-key", key),
      HttpClientRequest.bodyText(text, "application/json")
    )
  )

export const signUp = (url: string, name: string, key = randomUUID(), dateOfBirth = "1931-07-29") =>
  signUpText(url, JSON.stringify({ name, dateOfBirth }), key)

export const reviews = (url: string, query = "") =>
  get(`${url}/reviews${query}`, { authorization: `Bearer ${reviewerToken}` })
