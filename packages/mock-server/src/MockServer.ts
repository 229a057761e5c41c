/**
 * The identity verification service, played: on a port, or in process without a socket. Each layer
 * gives what `Idv.layer` needs.
 *
 * @since 0.1.0
 */
import type * as Idv from "@effect-idv/core/Idv"
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import type { ServeError } from "@effect/platform/HttpServerError"
import type * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import * as AmlEndpoint from "./AmlEndpoint.ts"
import * as AmlProfile from "./AmlProfile.ts"
import * as Http from "./internal/http.ts"
import * as InProcess from "./internal/inProcess.ts"
import * as Session from "./Session.ts"
import * as TokenEndpoint from "./TokenEndpoint.ts"

/**
 * - `url`: the address of both the token endpoint and the API.
 * - `options`: what `Idv.layer` needs to be the first customer of this server.
 * - `sessions`: what the server knows of each customer, with its clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly url: string
  readonly options: Idv.Options
  readonly sessions: Session.Service
}

/**
 * @example
 * import { Idv } from "@effect-idv/core"
 * import { MockServer } from "@effect-idv/mock-server"
 * import { NodeHttpClient } from "@effect/platform-node"
 * import { Effect, Layer } from "effect"
 *
 * const IdvTest = MockServer.MockServer.pipe(
 *   Effect.map(({ options }) => Idv.layer(options)),
 *   Layer.unwrapEffect,
 *   Layer.provide([MockServer.layerTest, NodeHttpClient.layerUndici])
 * )
 *
 * @category tags
 * @since 0.1.0
 */
export class MockServer extends Context.Tag("@effect-idv/mock-server/MockServer")<MockServer, Service>() {}

/**
 * - `host`: the address to listen on, 127.0.0.1 by default. Any other lets other machines in.
 * - `port`: 4010 by default; 0 picks a free one.
 * - `customers`: who may ask for a token, the demo customer by default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly customers?: Arr.NonEmptyReadonlyArray<Session.Customer> | undefined
}

/**
 * The server cannot listen, for example because the port is in use.
 *
 * @category errors
 * @since 0.1.0
 */
export class MockServerError extends Schema.TaggedError<MockServerError>("@effect-idv/mock-server/MockServerError")(
  "MockServerError",
  { host: Schema.String, port: Schema.Number, code: Schema.String }
) {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port}: ${reasons[this.code] ?? this.code}`
  }
}

const reasons: Record<string, string> = {
  EADDRINUSE: "the port is in use",
  EACCES: "the port may not be opened by this user",
  EADDRNOTAVAIL: "the host is no address of this machine",
  ENOTFOUND: "the host is no address of this machine",
  ERR_SOCKET_BAD_PORT: "a port is a whole number from 0 to 65535"
}

/** A path is what the document says, letter by letter. */
const app = HttpRouter.empty.pipe(
  HttpRouter.all(IdvApi.token.path, TokenEndpoint.handle),
  HttpRouter.all(IdvApi.aml.path, AmlEndpoint.handle),
  HttpRouter.get(AmlProfile.path, AmlProfile.handle),
  Effect.catchTag(
    "RouteNotFound",
    () => Http.problem(404, `There are POST ${IdvApi.token.path} and POST ${IdvApi.aml.path}`).response
  ),
  HttpRouter.withRouterConfig({
    caseSensitive: true,
    ignoreDuplicateSlashes: false,
    ignoreTrailingSlash: false,
    maxParamLength: 1000
  })
)

const defaultCustomers: Arr.NonEmptyReadonlyArray<Session.Customer> = [Session.demoCustomer]

/** A client must be told that `http:` is meant, unless it is to loopback. */
const service = (url: string, [customer]: Arr.NonEmptyReadonlyArray<Session.Customer>) =>
  Effect.map(Session.Sessions, (sessions) => {
    const isLoopback = ["127.0.0.1", "[::1]", "localhost"].includes(new URL(url).hostname)
    return MockServer.of({
      url,
      sessions,
      options: { authUrl: url, baseUrl: url, ...customer, ...(!isLoopback && { allowInsecure: true }) }
    })
  })

/** How long a stop waits, at most, for connections that are open. */
const gracePeriod = Duration.seconds(1)

/**
 * A server that stops: without new connections, and with an end to those that stay silent, which a
 * browser opens ahead of need. Real time passes in it, also under a `TestClock`.
 */
const layerServer = (options: { readonly host: string; readonly port: number }) =>
  Layer.unwrapEffect(Effect.sync(() => {
    const { host, port } = options
    if (!Number.isInteger(port) || port < 0 || port > 65_535) {
      return Layer.fail(new MockServerError({ host, port, code: "ERR_SOCKET_BAD_PORT" }))
    }
    const server = createServer()
    const stop = Effect.async<void>((resume) => {
      server.close(() => resume(Effect.void))
    }).pipe(
      Effect.interruptible,
      Effect.timeoutOption(gracePeriod),
      Effect.withClock(Clock.make()),
      Effect.zipRight(Effect.sync(() => server.closeAllConnections()))
    )
    return Layer.scopedDiscard(Effect.addFinalizer(() => stop)).pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => server, options)),
      Layer.mapError((error) => new MockServerError({ host, port, code: codeOf(error) }))
    )
  }))

/**
 * A server on a port, until the scope closes.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = ({
  customers = defaultCustomers,
  host = "127.0.0.1",
  port = 4010
}: Options = {}): Layer.Layer<MockServer, MockServerError> =>
  Layer.effect(
    MockServer,
    HttpServer.addressWith((address) => service(urlOf(address, host), customers))
  ).pipe(
    Layer.merge(HttpMiddleware.withTracerDisabledWhen(HttpServer.serve(app), () => true)),
    Layer.provide([layerServer({ host, port }), Session.layer(customers)])
  )

const urlOf = (address: HttpServer.Address, host: string): string => {
  const port = address._tag === "TcpAddress" ? address.port : 0
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

const codeOf = ({ cause }: ServeError): string => Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown"

/**
 * A server on a free port, for a test that needs a socket.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTest: Layer.Layer<MockServer, MockServerError> = layer({ port: 0 })

/**
 * The service in process, as an `HttpClient` that answers every request itself: without a socket,
 * and in the time of the `TestClock`, where there is one.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpClient: Layer.Layer<MockServer | HttpClient.HttpClient> = Layer.merge(
  Layer.effect(MockServer, service("http://localhost", defaultCustomers)),
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(Effect.context<Session.Sessions>(), (context) => InProcess.client(Effect.provide(app, context)))
  )
).pipe(Layer.provide(Session.layer(defaultCustomers)))
