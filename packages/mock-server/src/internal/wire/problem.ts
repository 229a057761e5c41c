/** Problem details (RFC 9457): the body of an error that people and programs can read. */
import * as Response from "./response.ts"

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
