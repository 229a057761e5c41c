/** The control API as other programs and browsers reach it. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as Guard from "./guard.ts"
import * as SecurityHeaders from "./securityHeaders.ts"

export const make = (options: Guard.Options, app: HttpApp.Default): HttpApp.Default =>
  SecurityHeaders.middleware(Guard.middleware(options)(app))
