/** HTTP exchanges as plain data: the request, and the response with its status, headers and unread bytes. */
import type { Person, Step, TogetherStep } from "./steps.ts"

/** A request whose templates are filled, either to be sent or to be shown. */
export interface Request {
  readonly method: string
  /** The address without the query of the step. */
  readonly url: string
  /** The query, without its question mark. */
  readonly query?: string
  readonly headers: Readonly<Record<string, string>>
  readonly contentType?: string
  readonly body?: string
  /**
   * Whether the body is sent in two pieces, split between the bytes of its first non-ASCII character.
   *
   * @default false
   */
  readonly inPieces?: boolean | undefined
}

/**
 * A complete response of the service.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServiceResponse {
  /** The address of the request. */
  readonly url: URL
  readonly status: number
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** When the body was complete, in milliseconds since 1970. */
  readonly receivedAt: number
  /** From the request to the complete body, in milliseconds. */
  readonly millis: number
}

export interface Response extends ServiceResponse {
  readonly _tag: "Response"
}

/**
 * Why there is no complete response: no connection (`no answer`), the deadline passed (`late answer`), the
 * connection broke (`broken answer`), or the body exceeds 1 MiB (`too long`). Reports show these texts as
 * the observation.
 */
export const noResponseReasons = ["no answer", "late answer", "broken answer", "too long"] as const

export type NoResponseReason = (typeof noResponseReasons)[number]

/** At which point a request without a response failed. */
export type Cause =
  | "name resolution failed"
  | "connection refused"
  | "certificate not trusted"
  | "certificate of another host"
  | "certificate expired"
  | "TLS failed"
  | "connection closed"
  | "user and password refused by a proxy"
  | "refused by a proxy"
  | "a response that is not HTTP"
  | "no connection"
  | "no response in time"
  | "response of more than 1 MiB"

export interface NoResponse {
  readonly _tag: "NoResponse"
  readonly reason: NoResponseReason
  readonly cause: Cause
}

export type Exchange = Response | NoResponse

/** Whether an observation says that there was no complete response. */
export const isNoResponse = (observed: string): boolean => noResponseReasons.some((reason) => reason === observed)

/** The exchange of one step. The steps for the control API have none. */
export interface StepExchange {
  /** The number of the request in the run, from 0. */
  readonly number: number
  readonly step: Step
  readonly exchange: Exchange
  /** The person whom a check was about. */
  readonly person?: Person | undefined
  /** Texts that a refusal of this request must not repeat. */
  readonly secrets: ReadonlyArray<string>
  /** The request as a curl command without secrets, names and dates. */
  readonly curl: string
  /** The step that sent it at the same time as others. */
  readonly together?: TogetherStep
}

/** An endpoint of the service. */
export type Endpoint = "token" | "aml"
