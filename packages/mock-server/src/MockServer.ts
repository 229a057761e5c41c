/**
 * The identity verification service, played: on a port, or in process without a socket. Each layer
 * gives what `Idv.layer` needs, and the control plane beside it.
 *
 * @since 0.1.0
 */
import type * as Idv from "@effect-idv/core/Idv"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import type { ServeError } from "@effect/platform/HttpServerError"
import type * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createServer, type Server } from "node:http"
import * as Control from "./Control.ts"
import * as Guard from "./internal/control/guard.ts"
import * as Wait from "./internal/schema/wait.ts"
import * as App from "./internal/transport/app.ts"
import * as InProcess from "./internal/transport/inProcessClient.ts"
import * as Lifecycle from "./internal/transport/lifecycle.ts"
import * as Unparsed from "./internal/transport/parserErrors.ts"
import * as OnSocket from "./internal/transport/socketScript.ts"
import type * as Journal from "./Journal.ts"
import * as Session from "./Session.ts"

/**
 * - `url`: the address of both the token endpoint and the API.
 * - `options`: what `Idv.layer` needs to be the first customer of this server. For a test customer
 *   of your own: `{ ...options, ...Session.testCustomer("test-mine") }`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly url: string
  readonly options: Idv.Options
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
 * What a server does, on a port or in process. Sessions begin with `seed`, `profile` and `faults`.
 *
 * - `customers`: who may ask for a token beside all test customers (`test-*`), the demo customer by
 *   default. Two with one id are a defect.
 * - `reveal`: the journal holds names and secrets as they are. They are masked by default.
 * - `onExchange`: is told of every exchange, before it is answered.
 * - `unexpected`: with `fail`, the closing of the scope dies, and so fails the test, if there was a
 *   request that the API document does not have. They are ignored by default.
 *
 * @category models
 * @since 0.1.0
 */
export interface InProcessOptions extends Session.Settings {
  readonly customers?: Arr.NonEmptyReadonlyArray<Session.Customer> | undefined
  readonly reveal?: boolean | undefined
  readonly onExchange?: ((entry: Journal.Entry) => Effect.Effect<void>) | undefined
  readonly unexpected?: "fail" | "ignore" | undefined
}

/**
 * - `host`: the address to listen on, 127.0.0.1 by default. Any other lets other machines in, and
 *   needs a `controlToken`.
 * - `port`: 4010 by default; 0 picks a free one.
 * - `controlToken`: what the control plane asks for, if it is there.
 * - `allowedHosts`: names by which the control plane is reached beside the host's own and those of
 *   loopback.
 * - `gracePeriod`: how long a stop waits, at most, for requests that are not answered yet; 5 s.
 * - `requestTimeout`: how long a request may take to arrive; 30 s.
 * - `force`: starts also where `NODE_ENV` is `production`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends InProcessOptions {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly controlToken?: Redacted.Redacted<string> | undefined
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  readonly gracePeriod?: Duration.DurationInput | undefined
  readonly requestTimeout?: Duration.DurationInput | undefined
  readonly force?: boolean | undefined
}

/**
 * The server cannot listen, for example because the port is in use; may not; or has an option that
 * cannot be used.
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
  ERR_SOCKET_BAD_PORT: "a port is a whole number from 0 to 65535",
  CONTROL_TOKEN_MISSING:
    "beyond loopback the control plane needs a token: set controlToken (IDV_MOCK_CONTROL_TOKEN or --control-token)",
  GRACE_PERIOD: `gracePeriod should be ${Wait.expected(0)}`,
  REQUEST_TIMEOUT: `requestTimeout should be ${Wait.expected(1)}`,
  PRODUCTION: "NODE_ENV is production, and this server plays a service: set force (--force) if you mean it"
}

const defaultCustomers: Arr.NonEmptyReadonlyArray<Session.Customer> = [Session.demoCustomer]

/** Where a client takes `http:` without being told that it is meant. */
const withoutTls = ["127.0.0.1", "[::1]", "localhost"]

const service = (url: string, [customer]: Arr.NonEmptyReadonlyArray<Session.Customer>) =>
  MockServer.of({
    url,
    options: {
      authUrl: url,
      baseUrl: url,
      ...customer,
      ...(!withoutTls.includes(new URL(url).hostname) && { allowInsecure: true })
    }
  })

/** In process, whatever guards it from outside: whoever holds the layer holds the server. */
const layerControl = (url: string) =>
  Layer.effect(
    Control.Control,
    Effect.flatMap(App.ControlPlane, (app) =>
      Effect.provideService(Control.make({ url }), HttpClient.HttpClient, InProcess.client(app)))
  )

const mayStart = (
  { controlToken, force }: Options,
  { gracePeriod, host, port, requestTimeout }: {
    readonly host: string
    readonly port: number
    readonly gracePeriod: Duration.DurationInput
    readonly requestTimeout: Duration.DurationInput
  }
) =>
  Effect.gen(function*() {
    const refuse = (code: string) => new MockServerError({ host, port, code })
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return yield* refuse("ERR_SOCKET_BAD_PORT")
    const hasToken = controlToken !== undefined && Redacted.value(controlToken) !== ""
    if (!Guard.isLoopback(host) && !hasToken) return yield* refuse("CONTROL_TOKEN_MISSING")
    if (!Wait.isWait(gracePeriod, 0)) return yield* refuse("GRACE_PERIOD")
    if (!Wait.isWait(requestTimeout, 1)) return yield* refuse("REQUEST_TIMEOUT")
    const environment = yield* Effect.orElseSucceed(Config.option(Config.string("NODE_ENV")), Option.none)
    if (Option.contains(environment, "production") && force !== true) return yield* refuse("PRODUCTION")
  })

class NodeServer extends Context.Tag("@effect-idv/mock-server/NodeServer")<NodeServer, Server>() {}

/** A request that never ends arriving is answered with a 408 by Node itself. */
const layerNodeServer = (requestTimeout: Duration.DurationInput) =>
  Layer.sync(NodeServer, () =>
    createServer({
      requestTimeout: Duration.toMillis(requestTimeout),
      headersTimeout: Duration.toMillis(requestTimeout),
      connectionsCheckingInterval: 500
    }))

/**
 * A server on a port, until the scope closes. A stop answers what was accepted, and cuts what is
 * left after `gracePeriod`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<MockServer | Control.Control, MockServerError> => {
  const {
    allowedHosts = [],
    controlToken,
    customers = defaultCustomers,
    gracePeriod = "5 seconds",
    host = "127.0.0.1",
    port = 4010,
    requestTimeout = "30 seconds"
  } = options

  const layerListening = Layer.unwrapEffect(
    Effect.map(NodeServer, (server) =>
      Layer.mapError(
        NodeHttpServer.layerServer(() => server, { host, port }),
        (error) => new MockServerError({ host, port, code: codeOf(error) })
      ))
  )

  const layerServing = Layer.unwrapEffect(Effect.gen(function*() {
    const lifecycle = yield* Lifecycle.Lifecycle
    const server = yield* NodeServer
    const app = yield* App.make(Guard.middleware({ host, token: controlToken, allowedHosts }))
    return Layer.tap(
      HttpServer.serve(OnSocket.middleware(lifecycle.closing(app)), lifecycle.counted),
      () => Unparsed.listen(server)
    )
  }))

  const layerStop = Layer.scopedDiscard(Effect.gen(function*() {
    const server = yield* NodeServer
    const lifecycle = yield* Lifecycle.Lifecycle
    yield* lifecycle.start
    yield* Effect.addFinalizer(() => lifecycle.stop(server, gracePeriod))
  }))

  const layerUrl = Layer.unwrapEffect(
    HttpServer.addressWith((address) => {
      const url = urlOf(address, host)
      return Effect.succeed(Layer.merge(Layer.succeed(MockServer, service(url, customers)), layerControl(url)))
    })
  )

  return layerUrl.pipe(
    Layer.merge(layerStop),
    Layer.provide(HttpMiddleware.withTracerDisabledWhen(layerServing, () => true)),
    Layer.provide(layerListening),
    Layer.provide(layerNodeServer(requestTimeout)),
    Layer.provide(App.layer(customers, options)),
    Layer.provide(Layer.effectDiscard(mayStart(options, { host, port, gracePeriod, requestTimeout })))
  )
}

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
export const layerTest: Layer.Layer<MockServer | Control.Control, MockServerError> = layer({ port: 0 })

/**
 * The service in process, as an `HttpClient` that answers every request itself: without a socket,
 * and in the time of the `TestClock`, where there is one.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpClientWith = (
  options: InProcessOptions
): Layer.Layer<MockServer | Control.Control | HttpClient.HttpClient> => {
  const { customers = defaultCustomers } = options
  const url = "http://localhost"
  return Layer.mergeAll(
    Layer.succeed(MockServer, service(url, customers)),
    layerControl(url),
    Layer.effect(
      HttpClient.HttpClient,
      Effect.gen(function*() {
        const lifecycle = yield* Lifecycle.Lifecycle
        yield* lifecycle.start
        return InProcess.client(
          yield* App.make(Guard.middleware({ host: "localhost", token: undefined, allowedHosts: [] }))
        )
      })
    )
  ).pipe(Layer.provide(App.layer(customers, options)))
}

/**
 * `layerHttpClientWith` of the demo customer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpClient: Layer.Layer<MockServer | Control.Control | HttpClient.HttpClient> = layerHttpClientWith(
  {}
)
