/** A response as plain data, and how it is sent: what the endpoints return and faults change. */
import * as Data from "effect/Data"
import { STATUS_CODES } from "node:http"

export type Headers = Readonly<Record<string, string>>

export interface Response {
  readonly status: number
  /** Names in lower case, without `content-length`, which the sender adds. */
  readonly headers: Headers
  readonly body: Uint8Array
}

const utf8 = new TextEncoder()

export const text = (status: number, contentType: string, body: string, headers: Headers = {}): Response => ({
  status,
  headers: { "content-type": contentType, ...headers },
  body: utf8.encode(body)
})

export const json = (
  status: number,
  body: unknown,
  headers: Headers = {},
  contentType = "application/json"
): Response => text(status, contentType, JSON.stringify(body), headers)

export const html = (status: number, body: string, headers?: Headers): Response =>
  text(status, "text/html; charset=utf-8", body, headers)

export const empty = (status: number, headers: Headers = {}): Response => ({
  status,
  headers,
  body: new Uint8Array()
})

/** The reason phrases of RFC 9110. Those of Node 20 are older for 413 and 422. */
export const titles = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  504: "Gateway Timeout"
}

export type ProblemStatus = keyof typeof titles

/** A violation of one field of the request. */
export interface FieldError {
  readonly path: string
  readonly reason: string
}

/** Problem details (RFC 9457): the body of an error that people and programs can read. */
export const problem = (
  status: ProblemStatus,
  detail: string,
  headers?: Headers,
  errors?: ReadonlyArray<FieldError>
): Response =>
  json(
    status,
    { type: "about:blank", title: titles[status], status, detail, ...(errors && { errors }) },
    headers,
    "application/problem+json"
  )

/** Statuses that never have a body, and so must not have a length (RFC 9110, section 8.6). */
const withoutLength = [204, 304]

/** The headers with the length of the body. Without a length, Node sends an empty body in chunks. */
export const framedHeaders = ({ body, headers, status }: Response): Headers =>
  body.length === 0 && withoutLength.includes(status)
    ? headers
    : { ...headers, "content-length": String(body.length) }

/** The bytes before the body of a response that no library sends. `framing` has the headers about its length. */
export const head = ({ headers, status }: Response, framing: ReadonlyArray<string>): Uint8Array =>
  utf8.encode(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...framing,
      "\r\n"
    ].join("\r\n")
  )

/** The head of a response after which the connection closes. */
export const lastHead = (response: Response, framing: ReadonlyArray<string>): Uint8Array =>
  head(response, [...framing, "connection: close"])

/** One step of a script, which controls what a connection sends. */
export type Step = Data.TaggedEnum<{
  /** Sends bytes as they are, head and framing included. */
  Write: { readonly bytes: Uint8Array }
  Wait: { readonly millis: number }
  /** Closes the connection in the regular way (FIN). */
  Fin: object
  /** Resets the connection (RST). */
  Reset: object
  /** Sends nothing more and leaves the connection open until the client gives up. */
  Hang: object
}>

export const Step = Data.taggedEnum<Step>()

/**
 * How a response is sent: `Whole` by the HTTP library, with correct framing, on a connection that may stay open;
 * `Scripted` step by step, on a connection that ends with the script.
 */
export type Delivery = Data.TaggedEnum<{
  Whole: { readonly response: Response }
  Scripted: { readonly response: Response; readonly steps: ReadonlyArray<Step> }
}>

export const Delivery = Data.taggedEnum<Delivery>()
