/** What the library tells the `HttpClient` of `IdvHttp` about a request. Any other client ignores it. */
import * as Context from "effect/Context"

/** The maximum length of a body: 1 MiB, more than any response of the service needs. */
export const maxBytes = 1024 * 1024

/** Copies the parts into one array. A part that arrives is a view of a larger buffer of the connection. */
export const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Receives the events of a request. */
export interface Observer {
  /** Nobody waits for the response any more. */
  readonly isEnded: boolean
  /** The client will call `requestSent`: the request does not count as sent until then. */
  readonly sendingIsReported: () => void
  /** The request is about to be sent. If this returns `false`, it must not be sent. */
  readonly requestSent: () => boolean
}

/** A request of this library. */
export interface Outgoing {
  /** Slow checks hold no connection of the pool for tokens. */
  readonly pool: "checks" | "tokens"
  readonly observer: Observer | undefined
}

/** The request that this fiber sends. It is in the context, so that it passes through each client that wraps another. */
export class Current extends Context.Reference<Current>()("@effect-idv/core/internal/Transport", {
  defaultValue: (): Outgoing => ({ pool: "checks", observer: undefined })
}) {}

/** The code of an error if no connection through a proxy was made, as Node names it. Its `statusCode` is the proxy's. */
export const proxyFailed = "ERR_PROXY_TUNNEL"
