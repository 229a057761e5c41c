/**
 * An `HttpClient` for the two requests of this library. It needs less than half of the CPU time of the platform's
 * clients, see the page about performance. It requires the package `undici`, so it is not part of the main module:
 * import `@effect-idv/core/IdvHttp`.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Undici from "undici"
import * as Transport from "./internal/wire/transport.ts"
import * as UndiciExchange from "./internal/wire/undiciExchange.ts"

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
 * `connect: { ca }` for another certificate authority, or `keepAliveTimeout`, in milliseconds, for idle connections.
 *
 * At most 128 connections to each origin are open, and further checks wait for one within their deadline. Set
 * `connections` if all clients and screenings over this layer together may have more checks in flight. Token requests
 * use other connections, so that slow checks do not delay them. A response may take until the deadline of the check to
 * begin, unless you set `headersTimeout`.
 *
 * It is not a general client. It follows no redirects, sends no trace headers, makes no span, and decompresses no body.
 * It keeps the whole body in memory, and refuses a body over 1 MiB. A request body must be text, bytes or empty.
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
export const layerUndici = (options?: Undici.Agent.Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.scoped(
    HttpClient.HttpClient,
    Effect.gen(function*() {
      const acquireAgent = Effect.acquireRelease(
        Effect.sync(() => new Undici.Agent(withDefaults(options))),
        (agent) => Effect.promise(() => agent.destroy())
      )
      const pools = { checks: makeSend(yield* acquireAgent), tokens: makeSend(yield* acquireAgent) }
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
  )

const makeSend = (dispatcher: Undici.Dispatcher) => {
  /** The last address, parsed: nearly all requests have the same one. */
  let last: { readonly url: string; readonly parsed: URL } | undefined

  const parse = ({ hash, url, urlParams }: HttpClientRequest.HttpClientRequest) => {
    if (last?.url === url && urlParams.length === 0) return Either.right(last.parsed)
    return Either.map(UrlParams.makeUrl(url, urlParams, hash), (parsed) => {
      if (urlParams.length === 0) last = { url, parsed }
      return parsed
    })
  }

  return (
    request: HttpClientRequest.HttpClientRequest,
    observer: Transport.Observer | undefined
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError> => {
    observer?.sendingIsReported()
    const url = parse(request)
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
