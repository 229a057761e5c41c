/** Writes scripted responses to a real socket, below the HTTP library. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { rawOf } from "./rawSockets.ts"
import type { Step } from "./response.ts"
import * as Script from "./script.ts"

/**
 * Without a wait, the client may see the reset before it has read the bytes that were sent before it. The wait takes
 * real time, because the network does.
 */
const waitBeforeReset = Effect.withClock(Effect.sleep("50 millis"), Clock.make())

const connection = (socket: Socket): Script.Connection => ({
  out: socket,
  fin: Effect.async<void>((resume) => {
    socket.end(() => resume(Effect.void))
  }),
  reset: Effect.zipRight(waitBeforeReset, Effect.sync(() => rawOf(socket).resetAndDestroy()))
})

/**
 * Waits until the response may use the socket: with pipelined requests, the earlier responses are sent first. Returns
 * `undefined` if the connection is closed before that. Node emits no event on a response that still waits.
 */
const awaitSocket = (response: ServerResponse) =>
  Effect.async<Socket | undefined>((resume) => {
    const { req: { socket } } = response
    if (response.socket !== null || socket.destroyed) return resume(Effect.succeed(response.socket ?? undefined))
    const stop = () => {
      response.off("socket", onSocket)
      socket.off("close", onClose)
    }
    const finish = (result: Socket | undefined) => {
      stop()
      resume(Effect.succeed(result))
    }
    const onSocket = () => finish(socket)
    const onClose = () => finish(undefined)
    // Any number of requests may wait on one connection.
    socket.setMaxListeners(0)
    response.on("socket", onSocket)
    socket.on("close", onClose)
    return Effect.sync(stop)
  })

/**
 * Performs the steps and then closes the connection. Writes nothing if an earlier response has ended the connection.
 */
export const play = (response: ServerResponse, steps: ReadonlyArray<Step>): Effect.Effect<void> =>
  Effect.flatMap(awaitSocket(response), (socket) =>
    socket?.writable === true
      ? Effect.ensuring(
        Script.play(steps, connection(socket)),
        Effect.sync(() => socket.destroySoon())
      )
      : Effect.void)
