/**
 * An `HttpClient` for the two requests of this library. A check takes about two thirds of the CPU time that it takes
 * over the platform's clients, see the page about performance. It requires the package `undici`, so it is not part of
 * the main module: import `@effect-idv/core/IdvHttp`.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as UrlParams from "@effect/platform/UrlParams"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { isIP } from "node:net"
import * as Undici from "undici"
import * as NetworkOptions from "./internal/wire/networkOptions.ts"
import * as Transport from "./internal/wire/transport.ts"
import * as UndiciExchange from "./internal/wire/undiciExchange.ts"
import { isLoopback } from "./Loopback.ts"

/**
 * - As many connections as the default of `AmlClient` has checks in flight.
 * - No timeout before the head of a response: until then the deadline of a check interrupts the request, and the
 *   interruption closes the connection. Undici's timeout within a body remains, for a body that nobody reads: an
 *   `HttpClient` that retries drops the response, and a connection whose body never ended would be lost.
 */
const withDefaults = ({ connections = 128, headersTimeout = 0, ...options }: Undici.Agent.Options = {}) => ({
  ...options,
  connections,
  headersTimeout
})

/**
 * Provides an `HttpClient` over a pool of connections of Undici. The options are those of Undici's `Agent`, for example
 * `keepAliveTimeout`, in milliseconds, for idle connections, or within `connect`, all in PEM:
 *
 * - `ca`: the certificate authorities to trust, instead of those of Node
 * - `cert` and `key`: the client certificate, followed by its chain, and its private key
 *
 * `ConfigError` names a certificate or key that cannot be used.
 *
 * At most 128 connections to each origin are open, and further checks wait for one within their deadline. Set
 * `connections` if all clients and screenings over this layer together may have more checks in flight. Token requests
 * use other connections, so that slow checks do not delay them. A response may take until the deadline of the check to
 * begin, unless you set `headersTimeout`.
 *
 * It is not a general client. It follows no redirects, sends no trace headers, makes no span, and decompresses no body.
 * It keeps the whole body in memory, and refuses a body over 1 MiB. A request body must be text, bytes or empty.
 *
 * It connects directly: {@link layerEnv} uses proxies.
 *
 * @example
 * import { Idv } from "@effect-idv/core"
 * import * as IdvHttp from "@effect-idv/core/IdvHttp"
 * import { Layer } from "effect"
 *
 * const layer = Layer.provide(Idv.layerEnv(), IdvHttp.layerUndici())
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUndici = (
  options?: Undici.Agent.Options
): Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError> =>
  Layer.scoped(
    HttpClient.HttpClient,
    Effect.flatMap(
      NetworkOptions.checkTls(options?.connect),
      () => makeClient(acquire(() => new Undici.Agent(withDefaults(options))))
    )
  )

/**
 * {@link layerUndici} with the proxies and the client certificate of the environment, see {@link dispatcherEnv}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEnv = (options?: Undici.Agent.Options): Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError> =>
  Layer.scoped(HttpClient.HttpClient, makeClient(dispatcherEnv(withDefaults(options))))

/**
 * {@link layerUndici} over a dispatcher of yours, such as an agent with interceptors. The layer does not close it.
 * Checks and token requests use it alike.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerDispatcher = (dispatcher: Undici.Dispatcher): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(HttpClient.HttpClient, makeClient(Effect.succeed(dispatcher)))

/**
 * Makes a dispatcher of Undici with the options of Undici's `Agent`, and these variables of the environment, or of another
 * `ConfigProvider`:
 *
 * - `HTTPS_PROXY` and `HTTP_PROXY`, or in lower case, which wins: the address of the proxy for `https:` and `http:`
 *   addresses, with user and password if it requires them. If only `HTTP_PROXY` is set, it is used for both. Each
 *   connection is a tunnel (CONNECT), to which the proxy must respond within 10 seconds.
 * - `NO_PROXY`, or `no_proxy`: the hosts that are reached directly, separated by commas: a name includes its subdomains,
 *   and `*` is all. Loopback is always reached directly.
 * - `IDV_CLIENT_CERT` and `IDV_CLIENT_KEY`: the files of a client certificate, with its chain, and of its private key, in
 *   PEM. They are not read if `connect` has a `cert`.
 * - `IDV_USER_AGENT`: the `User-Agent` of the requests of this library and of its commands, up to 200 characters of ASCII,
 *   instead of `effect-idv/<version>` and `idv-contract/<version>`.
 *
 * `ConfigError` names each variable or option that cannot be used, and contains no value.
 *
 * The dispatcher also serves other clients, such as `NodeHttpClient.layerUndiciWithoutDispatcher` and `fetch`. If a proxy
 * refuses a connection, a check over any of them fails with the reason `proxy`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const dispatcherEnv = (
  options: Undici.Agent.Options = {}
): Effect.Effect<Undici.Dispatcher, ConfigError.ConfigError, Scope.Scope> =>
  Effect.gen(function*() {
    const { httpProxy, httpsProxy, noProxy } = yield* NetworkOptions.proxies
    const withUserAgent = Option.match(yield* NetworkOptions.userAgent, {
      onNone: () => (dispatcher: Undici.Dispatcher) => dispatcher,
      onSome: (value) => (dispatcher: Undici.Dispatcher) => dispatcher.compose(replaceUserAgent(value))
    })
    const connect = yield* NetworkOptions.withCertificate(options.connect)
    const agentOptions = { ...options, connect }
    const direct = yield* acquire(() => new Undici.Agent(agentOptions))
    if (httpProxy === "" && httpsProxy === "") return withUserAgent(direct)
    const proxied = yield* acquire(() =>
      new Undici.EnvHttpProxyAgent({
        ...agentOptions,
        httpProxy,
        // Undici would read the variables of the process instead of an undefined option.
        httpsProxy: httpsProxy === "" ? httpProxy : httpsProxy,
        noProxy,
        requestTls: typeof connect === "function" ? {} : connect,
        clientFactory: (origin) =>
          new ProxyPool(origin, {
            connect: connectorOf({ ca: NetworkOptions.secureOptions(connect).ca }),
            headersTimeout: 10_000
          })
      })
    )
    return withUserAgent(new ExceptLoopback(direct, proxied))
  })

const acquire = <D extends Undici.Dispatcher>(make: () => D): Effect.Effect<D, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.sync(make), (dispatcher) => Effect.promise(() => dispatcher.destroy()))

/** Undici also gives the IP address of a proxy as a server name, which RFC 6066 forbids and Node 26 refuses. */
const connectorOf = (options: Undici.buildConnector.BuildOptions): Undici.buildConnector.connector => {
  const connect = Undici.buildConnector(options)
  const isAddress = (name: string) => isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0
  return ({ servername, ...target }, callback) =>
    connect(servername && !isAddress(servername) ? { ...target, servername } : target, callback)
}

/** The pool of a proxy, to which it sends only CONNECT. */
class ProxyPool extends Undici.Pool {
  /** Otherwise, Undici repeats a CONNECT endlessly if the proxy closes the connection. */
  override connect(options: Undici.Dispatcher.ConnectOptions): Promise<Undici.Dispatcher.ConnectData> {
    return super.connect(options).then(
      (data) => {
        if (data.statusCode === 200) return data
        data.socket.on("error", () => {}).destroy()
        return Promise.reject(new ProxyFailed(data.statusCode))
      },
      () => Promise.reject(new ProxyFailed())
    )
  }
}

class ProxyFailed extends Error {
  readonly code = Transport.proxyFailed
  readonly statusCode: number | undefined
  constructor(statusCode?: number) {
    super("No connection through the proxy")
    this.statusCode = statusCode
  }
}

class ExceptLoopback extends Undici.Dispatcher {
  readonly #direct: Undici.Dispatcher
  readonly #proxied: Undici.Dispatcher

  constructor(direct: Undici.Dispatcher, proxied: Undici.Dispatcher) {
    super()
    this.#direct = direct
    this.#proxied = proxied
  }

  override dispatch(options: Undici.Dispatcher.DispatchOptions, handler: Undici.Dispatcher.DispatchHandler): boolean {
    if (isLoopback(new URL(String(options.origin)).hostname)) return this.#direct.dispatch(options, handler)
    // Undici adds the host to the headers of the caller, who may use them for another host.
    const { headers } = options
    return this.#proxied.dispatch(
      headers === undefined || headers === null ? options : { ...options, headers: copied(headers) },
      handler
    )
  }
}

/** The names and values, one after the other. */
const copied = (headers: NonNullable<Undici.Dispatcher.DispatchOptions["headers"]>): Array<string> =>
  Array.isArray(headers)
    ? [...headers]
    : Array.from(Symbol.iterator in headers ? headers : Object.entries(headers)).flatMap(([name, values]) =>
      [values ?? []].flat().flatMap((value) => [name, value])
    )

/** The `User-Agent` that this library sets. Others stay unchanged, such as one that a case of the suite sends. */
const isOurs = /^(effect-idv|idv-contract)\//

const replaceUserAgent =
  (userAgent: string): Undici.Dispatcher.DispatcherComposeInterceptor => (dispatch) => (options, handler) =>
    dispatch({
      ...options,
      headers: copied(options.headers ?? []).map((text, i, headers) =>
        headers[i - 1]?.toLowerCase() === "user-agent" && i % 2 === 1 && isOurs.test(text) ? userAgent : text
      )
    }, handler)

/** A client over two dispatchers: slow checks do not delay token requests. */
const makeClient = <E, R>(acquireDispatcher: Effect.Effect<Undici.Dispatcher, E, R>) =>
  Effect.gen(function*() {
    const pools = { checks: makeSend(yield* acquireDispatcher), tokens: makeSend(yield* acquireDispatcher) }
    const send = (request: HttpClientRequest.HttpClientRequest) =>
      Effect.withFiberRuntime<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError>((fiber) => {
        const { observer, pool } = Context.get(fiber.currentContext, Transport.Current)
        return pools[pool](request, observer)
      })
    return HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
      Effect.flatMap(send),
      Effect.succeed
    )
  })

const makeSend = (dispatcher: Undici.Dispatcher) =>
(
  request: HttpClientRequest.HttpClientRequest,
  observer: Transport.Observer | undefined
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError> => {
  observer?.sendingIsReported()
  const url = UrlParams.makeUrl(request.url, request.urlParams, request.hash)
  if (Either.isLeft(url)) {
    return new HttpClientError.RequestError({ request, reason: "InvalidUrl", cause: url.left })
  }
  const body = bodyOf(request)
  if (body === undefined) {
    return new HttpClientError.RequestError({ request, reason: "Encode", description: "unsupported request body" })
  }
  return UndiciExchange.async((resume) => {
    const receiver = new UndiciExchange.Receiver(request, observer, resume)
    const { origin, pathname, search } = url.right
    dispatcher.dispatch({
      origin,
      path: pathname + search,
      method: request.method,
      headers: request.headers,
      body
    }, receiver)
    return () => receiver.abort()
  })
}

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): Uint8Array | string | null | undefined => {
  switch (body._tag) {
    case "Empty":
      return null
    case "Uint8Array":
      return body.body
    case "Raw":
      return typeof body.body === "string" ? body.body : undefined
    default:
      return undefined
  }
}
