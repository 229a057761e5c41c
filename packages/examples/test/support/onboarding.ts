/** The onboarding API in this process, beside a mock, with all that it logs and traces. */
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

export const answerAfter = 2500
export const reviewerToken = "canary-reviewer-token"

export const provider = (variables: Record<string, string>) =>
  ConfigProvider.fromMap(new Map(Object.entries({ PORT: "0", ANSWER_AFTER: `${answerAfter} millis`, ...variables })))

const configOf = (variables: Record<string, string>) => Layer.setConfigProvider(provider(variables))

/** The mock, as one customer. */
export const mock = (profile?: Profile.Profile) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(MockServer.layer({ port: 0, ...(profile && { profile }) }))
    const { session } = Context.get(context, Control.Control)
    const { options } = Context.get(context, MockServer.MockServer)
    const mine = Session.testCustomer("test-onboarding")
    // Before the first token there is no session, and so no check.
    const checks = (n: number) =>
      session(mine.customerId).verify({ kind: "exactly", n, pattern: { operation: "aml" } }).pipe(
        Effect.catchIf((error) => error._tag === "SessionUnknown" && n === 0, () => Effect.void),
        Effect.orDie
      )
    return { options: { ...options, ...mine }, checks }
  })

/** A server, until the scope closes. `printed` is what it logged and traced, at every level. */
export const serve = (options: Idv.Options, variables: Record<string, string>) =>
  Effect.gen(function*() {
    const logged: Array<string> = []
    const logger = Logger.make((line) => {
      logged.push(Logger.jsonLogger.log(line), Logger.stringLogger.log(line))
    })
    const { spans, tracer } = RecordingTracer.make()
    // In a fiber of its own: the tracer and the logger are not for the test.
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

/** Statements of a test, on the database of a server. */
export const database = (url: string) => Layer.build(Layer.provide(Database.layer, configOf({ DATABASE_URL: url })))

export const get = (url: string, headers: Record<string, string> = {}) =>
  send(HttpClientRequest.setHeaders(HttpClientRequest.get(url), headers))

const send = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function*() {
    const begun = yield* Clock.currentTimeMillis
    const response = yield* HttpClient.execute(request)
    const body = yield* response.text
    // Of the time it tells no more than `took`.
    const headers = Headers.remove(response.headers, "date")
    return { status: response.status, headers, body, took: (yield* Clock.currentTimeMillis) - begun }
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer), Effect.withTracerEnabled(false))

/** Sends any text as a sign-up. */
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
