/** Plays the script of a scripted response: on a socket below the HTTP library, or in process into an HTTP parser. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ServerResponse } from "node:http"
import type { Server, Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { Step } from "./response.ts"

/** The server's side of a connection. */
export interface Connection {
  readonly out: Duplex
  /** Ends the outgoing stream. */
  readonly fin: Effect.Effect<void>
  /** Resets both directions. */
  readonly reset: Effect.Effect<void>
}

/** Performs the steps of a script in order. */
export const play = (steps: ReadonlyArray<Step>, { fin, out, reset }: Connection): Effect.Effect<void> =>
  Effect.forEach(steps, (step) => {
    switch (step._tag) {
      case "Write":
        return Effect.async<void>((resume) => {
          out.write(step.bytes, () => resume(Effect.void))
        })
      case "Wait":
        return Effect.sleep(step.millis)
      case "Fin":
        return fin
      case "Reset":
        return reset
      case "Hang":
        return Effect.never
    }
  }, { discard: true })

/** The TCP sockets below TLS, because only those can be reset. */
const rawSockets = new WeakMap<Socket, Socket>()

const keyOf = ({ localPort, remoteAddress, remotePort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localPort}`

/** Records the sockets of a server that speaks TLS. */
export const recordSockets = (server: Server): void => {
  const raw = new Map<string, Socket>()
  server.on("connection", (socket: Socket) => {
    const key = keyOf(socket)
    raw.set(key, socket)
    socket.once("close", () => raw.delete(key))
  })
  server.on("secureConnection", (secure: Socket) => {
    const socket = raw.get(keyOf(secure))
    if (socket !== undefined) rawSockets.set(secure, socket)
  })
}

/** Returns the TCP socket of a connection, which without TLS is the socket itself. */
export const rawOf = (socket: Socket): Socket => rawSockets.get(socket) ?? socket

/**
 * Without a wait, the client may see the reset before it has read the bytes that were sent before it. The wait takes
 * real time, because the network does.
 */
const waitBeforeReset = Effect.withClock(Effect.sleep("50 millis"), Clock.make())

const connection = (socket: Socket): Connection => ({
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
export const playOnSocket = (response: ServerResponse, steps: ReadonlyArray<Step>): Effect.Effect<void> =>
  Effect.flatMap(awaitSocket(response), (socket) =>
    socket?.writable === true
      ? Effect.ensuring(
        play(steps, connection(socket)),
        Effect.sync(() => socket.destroySoon())
      )
      : Effect.void)
