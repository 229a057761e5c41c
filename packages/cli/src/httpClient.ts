/** The HTTP client of a command: one pool of connections for each origin, the proxies of variables, and the number of requests. */
import * as Idv from "@effect-idv/core/Idv"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as UsageError from "./usageError.ts"

/**
 * The `Agent` of undici 7 counts the connections that an earlier pool of the origin closes as connections of the
 * current one. After the first HEAD request it therefore opens a connection for almost every request. This pool emits no
 * events, so that the agent keeps it.
 */
class QuietPool extends Undici.Dispatcher {
  readonly #pool: Undici.Pool

  constructor(origin: string | URL, options: Undici.Pool.Options) {
    super()
    this.#pool = new Undici.Pool(origin, options)
  }

  override dispatch(options: Undici.Dispatcher.DispatchOptions, handler: Undici.Dispatcher.DispatchHandler): boolean {
    return this.#pool.dispatch(options, handler)
  }

  override destroy(): Promise<void> {
    return this.#pool.destroy()
  }
}

const dispatcher = Layer.scoped(
  NodeHttpClient.Dispatcher,
  Effect.mapError(
    IdvHttp.dispatcherEnv({ factory: (origin, options) => new QuietPool(origin, options) }),
    (error) => new UsageError.UsageError({ text: Idv.describeConfigError(error).replaceAll("\n", "; ") })
  )
)

/** The client. Its connections close with the scope. */
export const layer = Layer.provide(NodeHttpClient.layerUndiciWithoutDispatcher, dispatcher)

/** Counts requests, because a service may bill them. An interrupted run reports the count too. */
export interface RequestCount {
  readonly client: HttpClient.HttpClient
  /** How many requests were started, without those to the control API. */
  readonly requests: () => number
  /** How many checks had a 2xx response. */
  readonly checks: () => number
}

const pathOf = (url: string): string => URL.canParse(url) ? new URL(url).pathname : ""

/** `onRequest` runs for each request. */
export const countRequests = (
  client: HttpClient.HttpClient,
  onRequest: Effect.Effect<void> = Effect.void
): RequestCount => {
  let requests = 0
  let checks = 0
  return {
    client: client.pipe(
      HttpClient.tapRequest(({ url }) =>
        Effect.suspend(() => {
          if (pathOf(url).includes("/_mock/")) return Effect.void
          requests++
          return onRequest
        })
      ),
      HttpClient.tap(({ request: { method, url }, status }) =>
        Effect.sync(() => {
          if (method === "POST" && pathOf(url).endsWith("/api/aml") && status >= 200 && status < 300) checks++
        })
      )
    ),
    requests: () => requests,
    checks: () => checks
  }
}
