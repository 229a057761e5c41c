/**
 * The mock server: it emulates the identity verification service on a port, or in process without a socket. Each layer
 * provides `MockServer`, which has the options for `Idv.layer`, and `Control`.
 *
 * @since 0.1.0
 */
import type * as Idv from "@effect-idv/core/Idv"
import { isLoopback } from "@effect-idv/core/Loopback"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Control from "./Control.ts"
import * as OperationsControl from "./internal/operations/control.ts"
import * as DurationText from "./internal/schema/durationText.ts"
import * as App from "./internal/server/app.ts"
import * as Listeners from "./internal/server/listeners.ts"
import * as InProcessClient from "./internal/wire/inProcessClient.ts"
import * as Lifecycle from "./internal/wire/lifecycle.ts"
import * as Request from "./internal/wire/request.ts"
import * as Session from "./Session.ts"

export type { InProcessOptions } from "./internal/server/app.ts"

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
export interface Options extends App.InProcessOptions {
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
  GRACE_PERIOD: `gracePeriod should be ${DurationText.expected(0)}`,
  REQUEST_TIMEOUT: `requestTimeout should be ${DurationText.expected(1)}`,
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
 * The operations in process. They need no guard, because the code that builds this layer has started the server. Fresh,
 * because a program may have several servers.
 */
const layerControl = Layer.fresh(Layer.effect(Control.Control, OperationsControl.local))

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
    if (!isLoopback(host) && !hasToken) return yield* fail("CONTROL_TOKEN_MISSING")
    if (!DurationText.isWait(gracePeriod, 0)) return yield* fail("GRACE_PERIOD")
    if (!DurationText.isWait(requestTimeout, 1)) return yield* fail("REQUEST_TIMEOUT")
    const environment = yield* Effect.orElseSucceed(Config.option(Config.string("NODE_ENV")), Option.none)
    if (Option.contains(environment, "production") && force !== true) return yield* fail("PRODUCTION")
  })

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

  const fail = (code: string) => new MockServerError({ host, port, code })

  const start = Effect.gen(function*() {
    const lifecycle = yield* Lifecycle.Lifecycle
    const app = yield* App.make({ host, token: controlToken, allowedHosts })
    const server = yield* Effect.mapError(Lifecycle.makeServer(requestTimeout, tls), fail)
    yield* Listeners.add(server, app, lifecycle)
    const listeningPort = yield* Effect.acquireRelease(
      Effect.mapError(Lifecycle.listen(server, { host, port }), fail),
      () => lifecycle.stop(server, gracePeriod)
    )
    yield* lifecycle.start
    yield* Effect.forkDaemon(app.loadGuard)
    const url = urlOf(tls === undefined ? "http" : "https", host, listeningPort)
    return Layer.merge(Layer.succeed(MockServer, service(url, customers)), layerControl)
  })

  return Layer.unwrapScoped(start).pipe(
    Layer.provide(App.layer(customers, options)),
    Layer.provide(Layer.effectDiscard(checkOptions(options, { host, port, gracePeriod, requestTimeout })))
  )
}

const urlOf = (scheme: "http" | "https", host: string, port: number): string => {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `${scheme}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

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
  options: App.InProcessOptions
): Layer.Layer<MockServer | Control.Control | HttpClient.HttpClient> => {
  const { customers = defaultCustomers } = options
  const url = "http://localhost"
  return Layer.mergeAll(
    Layer.succeed(MockServer, service(url, customers)),
    layerControl,
    Layer.effect(
      HttpClient.HttpClient,
      Effect.gen(function*() {
        const lifecycle = yield* Lifecycle.Lifecycle
        yield* lifecycle.start
        const { controlPlane, dataPlane } = yield* App.make({ host: "localhost", token: undefined, allowedHosts: [] })
        const control = InProcessClient.ofApp(controlPlane)
        const data = InProcessClient.ofHandler(dataPlane)
        return HttpClient.make((request, url) => (Request.isControl(url.pathname) ? control : data).execute(request))
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
