/** Handles the requests of Node's HTTP server: those to the data plane directly, without the HTTP library. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import type { RequestListener, ServerResponse } from "node:http"
import type * as Lifecycle from "../wire/lifecycle.ts"
import * as Request from "../wire/request.ts"
import * as Response from "../wire/response.ts"
import * as SocketScript from "../wire/socketScript.ts"
import * as App from "./app.ts"

const send = (response: ServerResponse, whole: Response.Response) =>
  Effect.sync(() => {
    response.writeHead(whole.status, Response.framedHeaders(whole))
    response.end(response.req.method === "HEAD" ? undefined : whole.body)
  })

const deliver = (response: ServerResponse) => (delivery: Response.Delivery): Effect.Effect<void> =>
  delivery._tag === "Whole"
    ? send(response, delivery.response)
    : Effect.interruptible(SocketScript.play(response, delivery.steps))

/** The listener of the control plane. Its modules contain the HTTP library's server, so they are loaded on demand. */
const listenerOf = (controlPlane: HttpApp.Default) =>
  Effect.flatMap(
    Effect.promise(() =>
      Promise.all([import("@effect/platform-node/NodeHttpServer"), import("@effect/platform/HttpMiddleware")])
    ),
    ([{ makeHandler }, { currentTracerDisabledWhen }]) =>
      Effect.locally(makeHandler(controlPlane), currentTracerDisabledWhen, () => true)
  )

/**
 * Makes the listener. The data plane handles each request to its end even if the client closes the connection, so that
 * the journal has every request. Only a script then ends at once.
 */
export const make = (
  { controlPlane, dataPlane }: App.App,
  { countRequest }: Lifecycle.Service
): Effect.Effect<RequestListener> =>
  Effect.gen(function*() {
    const runFork = Runtime.runFork(yield* Effect.runtime())
    const controlListener = yield* Effect.cached(listenerOf(controlPlane))
    return (source, response) => {
      countRequest(response)
      const { headers, method = "", url = "" } = source
      if (App.isControl(Request.pathOf(url))) {
        // While the listener loads, the client may close the connection. An event stream would then never end.
        runFork(
          Effect.map(controlListener, (listener) => response.destroyed ? undefined : listener(source, response)).pipe(
            Effect.onError(() => Effect.sync(() => response.destroy()))
          )
        )
        return
      }
      const delivery = dataPlane(Request.head({ headers, method, source, url }), Request.readBody(source))
      const exchange = Effect.flatMap(delivery, deliver(response)).pipe(
        // The program's `onExchange` may fail even for the entry of a defect.
        Effect.onError(() => Effect.sync(() => response.destroy()))
      )
      const fiber = runFork(Effect.uninterruptible(exchange))
      response.once("close", () => {
        if (!response.writableEnded) fiber.unsafeInterruptAsFork(FiberId.none)
      })
    }
  })
