/** What a browser may do with what the control plane answers, wherever an answer has no rules of its own. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Request from "../http/request.ts"

export const docsPath = "/_mock/docs"

const rules = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer"
}

/** The page has its script and its style in itself, and may load nothing but the control plane. */
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
          ...rules,
          ...(Request.pathOf(url) === docsPath && { "content-security-policy": docsPolicy }),
          ...response.headers
        }))
  )
