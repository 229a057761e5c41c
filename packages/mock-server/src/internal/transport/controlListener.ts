/** The listener of Node's HTTP server for the control plane. Its module loads the HTTP library's server. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as Effect from "effect/Effect"
import type { RequestListener } from "node:http"

export const make = (app: HttpApp.Default): Effect.Effect<RequestListener> =>
  Effect.locally(NodeHttpServer.makeHandler(app), HttpMiddleware.currentTracerDisabledWhen, () => true)
