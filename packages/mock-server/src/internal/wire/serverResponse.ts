/** Responses of the HTTP library, for the control API and the proxy. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Response from "./response.ts"

export const make = (response: Response.Response): HttpServerResponse.HttpServerResponse => {
  const { body, status } = response
  const headers = Response.framedHeaders(response)
  return body.length === 0
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.uint8Array(body, { status, headers, contentType: headers["content-type"] })
}

export const problem = (
  status: Response.ProblemStatus,
  detail: string,
  headers?: Response.Headers
): HttpServerResponse.HttpServerResponse => make(Response.problem(status, detail, headers))
