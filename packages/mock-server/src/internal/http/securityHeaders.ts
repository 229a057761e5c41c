/** Security headers for browsers, on each response of the control API that does not set its own. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Request from "../wire/request.ts"

export const docsPath = "/_mock/docs"

const defaults = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer"
}

/** The documentation page contains its script and style inline, and may connect only to the control API. */
const docsPolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'"
].join("; ")

export const middleware = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ url }) =>
      Effect.map(app, (response) =>
        HttpServerResponse.setHeaders(response, {
          ...defaults,
          ...(Request.pathOf(url) === docsPath && { "content-security-policy": docsPolicy }),
          ...response.headers
        }))
  )
