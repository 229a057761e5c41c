/**
 * The start, the readiness and the graceful stop of a server of Node. After the stop begins, the server accepts no new connections, and closes
 * each open connection with its next response. At the deadline it closes the remaining connections.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { createServer, type Server as HttpServer, type ServerResponse } from "node:http"
import { Server } from "node:net"
import type { KeyPair, Problem } from "./secureServer.ts"

export interface Service {
  /** True from `start` until the stop begins. */
  readonly isReady: Effect.Effect<boolean>
  readonly start: Effect.Effect<void>
  /** Waits until the stop begins. Responses without an end, such as event streams, end then. */
  readonly stopping: Effect.Effect<void>
  /** Counts a request as active until its response is sent or its connection is closed. */
  readonly countRequest: (response: ServerResponse) => void
  /** Stops the server. Returns once no request is active, or at the deadline, after it has closed all connections. */
  readonly stop: (server: HttpServer, deadline: Duration.DurationInput) => Effect.Effect<void>
}

export class Lifecycle extends Context.Tag("@effect-idv/mock-server/internal/Lifecycle")<Lifecycle, Service>() {}

/** How long the stop waits for requests that clients sent on open connections just before it. */
const arrivalTime = "100 millis"

const make = Effect.sync((): Service => {
  const stopLatch = Effect.unsafeMakeLatch()
  const idle = Effect.unsafeMakeLatch(true)
  let phase: "starting" | "ready" | "stopping" = "starting"
  const active = new Set<ServerResponse>()

  const addConnectionClose = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader("connection", "close")
  }

  const close = (server: HttpServer) =>
    Effect.async<void>((resume) => {
      // The `close` of `node:http` closes idle connections at once, and loses requests that clients have sent on them.
      Server.prototype.close.call(server, () => resume(Effect.void))
    })

  return {
    isReady: Effect.sync(() => phase === "ready"),
    start: Effect.sync(() => {
      phase = "ready"
    }),
    stopping: stopLatch.await,
    countRequest: (response) => {
      if (phase === "stopping") addConnectionClose(response)
      active.add(response)
      idle.unsafeClose()
      const { req: { socket } } = response
      const finish = () => {
        socket.off("close", finish)
        active.delete(response)
        if (active.size === 0) idle.unsafeOpen()
      }
      response.once("close", finish)
      // Node emits no event on a response that waits for an earlier one when the connection closes.
      if (response.socket === null) socket.setMaxListeners(0).once("close", finish)
    },
    stop: (server, deadline) => {
      const closeAll = Effect.sync(() => server.closeAllConnections())
      // The check and the close are one step: a request that arrived in between would be lost.
      const closeAllOnceIdle: Effect.Effect<void> = Effect.suspend(() =>
        active.size === 0 ? closeAll : Effect.zipRight(idle.await, closeAllOnceIdle)
      )
      return Effect.gen(function*() {
        phase = "stopping"
        active.forEach(addConnectionClose)
        yield* stopLatch.open
        yield* close(server).pipe(
          Effect.race(Effect.zipRight(Effect.sleep(arrivalTime), closeAllOnceIdle)),
          Effect.interruptible,
          Effect.timeoutOption(deadline)
        )
        yield* closeAll
      }).pipe(Effect.withClock(Clock.make()))
    }
  }
})

export const layer: Layer.Layer<Lifecycle> = Layer.effect(Lifecycle, make)

/** Node itself responds with 408 to a request that does not arrive in time. TLS is loaded only if it is used. */
export const makeServer = (
  requestTimeout: Duration.DurationInput,
  tls: KeyPair | undefined
): Effect.Effect<HttpServer, Problem> => {
  const options = {
    requestTimeout: Duration.toMillis(requestTimeout),
    headersTimeout: Duration.toMillis(requestTimeout),
    connectionsCheckingInterval: 500
  }
  return tls === undefined
    ? Effect.sync(() => createServer(options))
    : Effect.flatMap(Effect.promise(() => import("./secureServer.ts")), ({ make }) => make(tls, options))
}

/** Listens, and returns the port. Fails with the code of Node's error, such as `EADDRINUSE`. */
export const listen = (
  server: HttpServer,
  options: { readonly host: string; readonly port: number }
): Effect.Effect<number, string> =>
  Effect.async((resume) => {
    const onError = (error: Error) =>
      resume(Effect.fail(Predicate.hasProperty(error, "code") ? String(error.code) : "unknown"))
    server.once("error", onError)
    server.listen(options, () => {
      server.off("error", onError)
      const address = server.address()
      resume(Effect.succeed(Predicate.isObject(address) ? address.port : 0))
    })
  })
