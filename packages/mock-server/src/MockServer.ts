/**
 * The mock server: it emulates the identity verification service on a port, or in process without a socket. Each layer
 * provides `MockServer`, which has the options for `Idv.layer`, and `Control`.
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
import * as InProcessClient from "./internal/http/inProcessClient.ts"
import * as Lifecycle from "./internal/http/lifecycle.ts"
import * as Wait from "./internal/schema/wait.ts"
import * as App from "./internal/transport/app.ts"
import type { InProcessOptions } from "./internal/transport/inProcessOptions.ts"
import * as ParserErrors from "./internal/transport/parserErrors.ts"
import * as SocketScript from "./internal/transport/socketScript.ts"
import * as Session from "./Session.ts"

export type { InProcessOptions }

/**
 * A running mock server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** The address of both the token endpoint and the API. */
  readonly url: string
  /**
   * The options of `Idv.layer` for the first customer of this server. For a test customer of your own, use
   * `{ ...options, ...Session.testCustomer("test-mine") }`.
   */
  readonly options: Idv.Options
}

/**
 * The mock server of this layer.
 *
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
 * The options of a server on a port.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends InProcessOptions {
  /**
   * The address to listen on. An address other than loopback admits other machines, and requires a `controlToken`.
   *
   * @default "127.0.0.1"
   */
  readonly host?: string | undefined
  /**
   * The port to listen on. 0 selects a free one.
   *
   * @default 4010
   */
  readonly port?: number | undefined
  /**
   * The token that the control API requires.
   *
   * @default undefined
   */
  readonly controlToken?: Redacted.Redacted<string> | undefined
  /**
   * Further host names that a request to the control API may have. `host` and the names of loopback are always allowed.
   *
   * @default []
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * The longest time that a stop waits for requests without a response.
   *
   * @default "5 seconds"
   */
  readonly gracePeriod?: Duration.DurationInput | undefined
  /**
   * The longest time that a request may take to arrive. After this time the server responds with 408.
   *
   * @default "30 seconds"
   */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /**
   * Speaks TLS with this certificate and its private key, both in PEM. The client needs the CA that issued it.
   *
   * @default undefined
   */
  readonly tls?: { readonly cert: string; readonly key: Redacted.Redacted<string> } | undefined
  /**
   * Starts the server even if `NODE_ENV` is `production`.
   *
   * @default false
   */
  readonly force?: boolean | undefined
}

/**
 * The server did not start. `code` is the code of Node's error, such as `EADDRINUSE`, or one of
 * `CONTROL_TOKEN_MISSING`, `GRACE_PERIOD`, `REQUEST_TIMEOUT`, `TLS_CERT`, `TLS_KEY`, `TLS_PAIR` and `PRODUCTION`.
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
  EACCES: "this user may not open the port",
  EADDRNOTAVAIL: "the host is not an address of this machine",
  ENOTFOUND: "the host is not an address of this machine",
  ERR_SOCKET_BAD_PORT: "a port must be a whole number from 0 to 65535",
  CONTROL_TOKEN_MISSING:
    "beyond loopback the control API needs a token: set controlToken (IDV_MOCK_CONTROL_TOKEN or --control-token)",
  GRACE_PERIOD: `gracePeriod should be ${Wait.expected(0)}`,
  REQUEST_TIMEOUT: `requestTimeout should be ${Wait.expected(1)}`,
  TLS_CERT: "tls.cert (--tls-cert) should be a certificate in PEM",
  TLS_KEY: "tls.key (--tls-key) should be a private key in PEM, without a passphrase",
  TLS_PAIR:
    "tls.key (--tls-key) should be the private key of tls.cert (--tls-cert), but belongs to another certificate",
  PRODUCTION: "NODE_ENV is production, and a mock server does not belong there: set force (--force) to start it anyway"
}

const defaultCustomers: Arr.NonEmptyReadonlyArray<Session.Customer> = [Session.demoCustomer]

/** The hosts to which the client sends `http:` without `allowInsecure`. */
const insecureHosts = ["127.0.0.1", "[::1]", "localhost"]

const service = (url: string, [customer]: Arr.NonEmptyReadonlyArray<Session.Customer>) =>
  MockServer.of({
    url,
    options: {
      authUrl: url,
      baseUrl: url,
      ...customer,
      ...(url.startsWith("http:") && !insecureHosts.includes(new URL(url).hostname) && { allowInsecure: true })
    }
  })

/**
 * Calls the control API in process. It needs no guard, because the code that builds this layer has started the server.
 */
const layerControl = (url: string) =>
  Layer.effect(
    Control.Control,
    Effect.flatMap(App.ControlPlane, (app) =>
      Effect.provideService(Control.make({ url }), HttpClient.HttpClient, InProcessClient.client(app)))
  )

const checkOptions = (
  { controlToken, force }: Options,
  { gracePeriod, host, port, requestTimeout }: {
    readonly host: string
    readonly port: number
    readonly gracePeriod: Duration.DurationInput
    readonly requestTimeout: Duration.DurationInput
  }
) =>
  Effect.gen(function*() {
    const fail = (code: string) => new MockServerError({ host, port, code })
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return yield* fail("ERR_SOCKET_BAD_PORT")
    const hasToken = controlToken !== undefined && Redacted.value(controlToken) !== ""
    if (!Guard.isLoopback(host) && !hasToken) return yield* fail("CONTROL_TOKEN_MISSING")
    if (!Wait.isWait(gracePeriod, 0)) return yield* fail("GRACE_PERIOD")
    if (!Wait.isWait(requestTimeout, 1)) return yield* fail("REQUEST_TIMEOUT")
    const environment = yield* Effect.orElseSucceed(Config.option(Config.string("NODE_ENV")), Option.none)
    if (Option.contains(environment, "production") && force !== true) return yield* fail("PRODUCTION")
  })

class NodeServer extends Context.Tag("@effect-idv/mock-server/NodeServer")<NodeServer, Server>() {}

/** Node itself responds with 408 to a request that does not arrive in time. TLS is loaded only if it is used. */
const layerNodeServer = (requestTimeout: Duration.DurationInput, tls: Options["tls"]) => {
  const options = {
    requestTimeout: Duration.toMillis(requestTimeout),
    headersTimeout: Duration.toMillis(requestTimeout),
    connectionsCheckingInterval: 500
  }
  return Layer.effect(
    NodeServer,
    tls === undefined
      ? Effect.sync(() => createServer(options))
      : Effect.flatMap(Effect.promise(() => import("./internal/tls/secureServer.ts")), ({ make }) => make(tls, options))
  )
}

/**
 * A server on a port. When the scope closes, it responds to the requests that it has accepted, and closes the remaining
 * connections after `gracePeriod`.
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
    requestTimeout = "30 seconds",
    tls
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
      HttpServer.serve(SocketScript.middleware(lifecycle.addConnectionClose(app)), lifecycle.countRequest),
      () => ParserErrors.listen(server)
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
      const url = urlOf(tls === undefined ? "http" : "https", address, host)
      return Effect.succeed(Layer.merge(Layer.succeed(MockServer, service(url, customers)), layerControl(url)))
    })
  )

  return layerUrl.pipe(
    Layer.merge(layerStop),
    Layer.provide(HttpMiddleware.withTracerDisabledWhen(layerServing, () => true)),
    Layer.provide(layerListening),
    Layer.provide(
      Layer.mapError(layerNodeServer(requestTimeout, tls), (code) => new MockServerError({ host, port, code }))
    ),
    Layer.provide(App.layer(customers, options)),
    Layer.provide(Layer.effectDiscard(checkOptions(options, { host, port, gracePeriod, requestTimeout })))
  )
}

const urlOf = (scheme: "http" | "https", address: HttpServer.Address, host: string): string => {
  const port = address._tag === "TcpAddress" ? address.port : 0
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `${scheme}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

const codeOf = ({ cause }: ServeError): string => Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown"

/**
 * A server with the default options on a free port, for a test that needs a socket.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTest: Layer.Layer<MockServer | Control.Control, MockServerError> = layer({ port: 0 })

/**
 * A server in process: the `HttpClient` of this layer handles each request itself. It opens no socket, and uses the
 * `TestClock` in a test.
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
        return InProcessClient.client(
          yield* App.make(Guard.middleware({ host: "localhost", token: undefined, allowedHosts: [] }))
        )
      })
    )
  ).pipe(Layer.provide(App.layer(customers, options)))
}

/**
 * `layerHttpClientWith` with the default options.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpClient: Layer.Layer<MockServer | Control.Control | HttpClient.HttpClient> = layerHttpClientWith(
  {}
)
