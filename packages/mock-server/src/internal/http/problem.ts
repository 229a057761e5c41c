/** Problem details (RFC 9457): the body of an error that people and programs can read. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Response from "./response.ts"
import * as Script from "./script.ts"

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

export type Status = keyof typeof titles

/** A violation of one field of the request. */
export interface FieldError {
  readonly path: string
  readonly reason: string
}

export const response = (
  status: Status,
  detail: string,
  headers?: Response.Headers,
  errors?: ReadonlyArray<FieldError>
): Response.Response =>
  Response.json(
    status,
    { type: "about:blank", title: titles[status], status, detail, ...(errors && { errors }) },
    headers,
    "application/problem+json"
  )

/** Like {@link response}, but as a response of the HTTP library. */
export const serverResponse = (
  status: Status,
  detail: string,
  headers?: Response.Headers
): HttpServerResponse.HttpServerResponse =>
  Script.serverResponse(Response.Delivery.Whole({ response: response(status, detail, headers) }))
