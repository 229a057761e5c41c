/** Scripted answers on a real connection, beside and below the HTTP library. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type { Socket } from "node:net"
import * as Delivered from "./delivered.ts"

const connection = (socket: Socket): Delivered.Connection => ({
  out: socket,
  fin: Effect.async<void>((resume) => {
    socket.end(() => resume(Effect.void))
  }),
  reset: Effect.sync(() => socket.resetAndDestroy())
})

/**
 * The connection of a script ends with it. What the HTTP library writes after that goes nowhere:
 * the socket is closed by then. A client that gives up ends the script with its connection.
 */
export const middleware = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
  Effect.flatMap(app, (response) => {
    const steps = Delivered.scriptOf(response)
    if (steps === undefined) return Effect.succeed(response)
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const { socket } = NodeHttpServerRequest.toServerResponse(request)
      return socket === null ? Effect.void : Effect.interruptible(Delivered.play(steps, connection(socket))).pipe(
        Effect.ensuring(Effect.sync(() => socket.destroySoon()))
      )
    }).pipe(Effect.as(HttpServerResponse.empty()))
  })
