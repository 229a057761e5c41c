/** The control API as other programs and browsers reach it. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Operation from "../operations/operation.ts"
import { server } from "../operations/server.ts"
import * as Request from "../wire/request.ts"
import * as Guard from "./guard.ts"
import * as SecurityHeaders from "./securityHeaders.ts"

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

export const make = (
  options: Guard.Options,
  app: HttpApp.Default
): Effect.Effect<HttpApp.Default, never, Operation.Services> =>
  Effect.map(
    Effect.context<Operation.Services>(),
    (context) => Effect.provide(SecurityHeaders.middleware(Guard.middleware(options)(withHealthChecks(app))), context)
  )
