/** The control API as other programs and browsers reach it. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Operation from "../operations/operation.ts"
import { server } from "../operations/server.ts"
import * as Request from "../wire/request.ts"
import * as Guard from "./guard.ts"

const checks = new Map([server.live, server.ready].map((operation) => [`/_mock${operation.path}`, operation]))

/** Responds to health checks without the control API, which takes seconds to load on a busy machine. */
const withHealthChecks = (app: HttpApp.Default): HttpApp.Default<never, Operation.Services> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }): HttpApp.Default<never, Operation.Services> => {
    const check = method === "GET" ? checks.get(Request.pathOf(url)) : undefined
    return check === undefined
      ? app
      : Effect.flatMap(
        Effect.orDie(check.respond({}, undefined)),
        ({ status, value }) => Effect.orDie(HttpServerResponse.json(value, { status }))
      )
  })

/** Security headers for browsers, on each response that does not set its own. */
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

const securityHeaders = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
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

export const make = (
  options: Guard.Options,
  app: HttpApp.Default
): Effect.Effect<HttpApp.Default, never, Operation.Services> =>
  Effect.map(
    Effect.context<Operation.Services>(),
    (context) => Effect.provide(securityHeaders(Guard.middleware(options)(withHealthChecks(app))), context)
  )
