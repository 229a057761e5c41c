/** Scripted answers on a real connection, beside and below the HTTP library. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Step } from "../http/response.ts"
import * as Script from "../http/script.ts"

/** A reset may overtake the bytes before it, which then nobody sees. In real time: the network is real. */
const settled = Effect.withClock(Effect.sleep("50 millis"), Clock.make())

const connection = (socket: Socket): Script.Connection => ({
  out: socket,
  fin: Effect.async<void>((resume) => {
    socket.end(() => resume(Effect.void))
  }),
  reset: Effect.zipRight(settled, Effect.sync(() => socket.resetAndDestroy()))
})

/**
 * The socket, once it is the turn of this response: of pipelined requests, those before it are
 * answered first. Nothing if the connection ends before that, which Node tells no such response.
 */
const turn = (response: ServerResponse) =>
  Effect.async<Socket | undefined>((resume) => {
    const { req: { socket } } = response
    if (response.socket !== null || socket.destroyed) return resume(Effect.succeed(response.socket ?? undefined))
    const stop = () => {
      response.off("socket", onTurn)
      socket.off("close", onClose)
    }
    const settle = (found: Socket | undefined) => {
      stop()
      resume(Effect.succeed(found))
    }
    const onTurn = () => settle(socket)
    const onClose = () => settle(undefined)
    // Any number of requests may wait on one connection.
    socket.setMaxListeners(0)
    response.on("socket", onTurn)
    socket.on("close", onClose)
    return Effect.sync(stop)
  })

/** An answer before this one may have ended the connection. */
const play = (response: ServerResponse, steps: ReadonlyArray<Step>) =>
  Effect.flatMap(turn(response), (socket) =>
    socket?.writable === true
      ? Effect.ensuring(
        Script.play(steps, connection(socket)),
        Effect.sync(() => socket.destroySoon())
      )
      : Effect.void)

/**
 * The connection of a script ends with it. What the HTTP library writes after that goes nowhere:
 * the socket is closed by then. A client that gives up ends the script with its connection.
 */
export const middleware = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
  Effect.flatMap(app, (response) => {
    const steps = Script.stepsOf(response)
    if (steps === undefined) return Effect.succeed(response)
    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request) => Effect.interruptible(play(NodeHttpServerRequest.toServerResponse(request), steps))
    ).pipe(Effect.as(HttpServerResponse.empty()))
  })
