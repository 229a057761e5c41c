/** A request and its response as a HAR shows them. */
import type { Cause } from "./exchange.ts"

/** A request without secrets, names and years. */
export interface MaskedRequest {
  readonly method: string
  /** The address, with placeholders such as `$TOKEN` in its query. */
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** A GET or HEAD request has none. */
  readonly body?: string
}

/** A response without secrets and personal data. */
export interface MaskedResponse {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Without parameters; `application/octet-stream` if there is none. */
  readonly mediaType: string
  /** The length of the body in bytes. */
  readonly size: number
  /** The body, if it is JSON. */
  readonly body?: string
}

/**
 * A request of a run and its response, without secrets and personal data. The requests to the control API of a mock
 * server are not among them.
 *
 * @category models
 * @since 0.1.0
 */
export interface MaskedExchange {
  /** When the request was sent, in milliseconds since 1970, by the clock of this program. */
  readonly startedAt: number
  /** How long the exchange took, in milliseconds. */
  readonly millis: number
  /** The request, with placeholders such as `$TOKEN` and `$NAME`. */
  readonly request: MaskedRequest
  /** The response with its known fields; none if no complete response came. */
  readonly response?: MaskedResponse
  /** Why no complete response came. */
  readonly failure?: Cause
}
