/**
 * From the first request to the last: readiness, and a stop that answers what was accepted: no new connections, an end to those that are kept alive
 * with their next answer, and whatever is left is cut when the deadline passes.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Server as HttpServer } from "node:http"
import { Server } from "node:net"

/**
 * - `isReady`: between `start` and the stop.
 * - `stopping`: waits until the stop begins, for what would otherwise never end.
 * - `closing`: tells clients that their connection ends, once the stop has begun.
 * - `counted`: around a request with its answer.
 * - `stop`: returns once all requests are answered, or cut at the deadline.
 */
export interface Service {
  readonly isReady: Effect.Effect<boolean>
  readonly start: Effect.Effect<void>
  readonly stopping: Effect.Effect<void>
  readonly closing: <E, R>(app: HttpApp.Default<E, R>) => HttpApp.Default<E, R>
  readonly counted: <A, E, R>(handling: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly stop: (server: HttpServer, deadline: Duration.DurationInput) => Effect.Effect<void>
}

export class Lifecycle extends Context.Tag("@effect-idv/mock-server/internal/Lifecycle")<Lifecycle, Service>() {}

/** A request that was sent just before the stop still has this time to arrive, on a kept connection. */
const linger = "100 millis"

const make = Effect.sync((): Service => {
  const begun = Effect.unsafeMakeLatch()
  const idle = Effect.unsafeMakeLatch(true)
  let phase: "starting" | "ready" | "stopping" = "starting"
  let active = 0

  const close = (server: HttpServer) =>
    Effect.async<void>((resume) => {
      // Not that of HTTP, which cuts kept connections at once, with requests that are on their way.
      Server.prototype.close.call(server, () => resume(Effect.void))
    })

  return {
    isReady: Effect.sync(() => phase === "ready"),
    start: Effect.sync(() => {
      phase = "ready"
    }),
    stopping: begun.await,
    closing: (app) =>
      Effect.map(
        app,
        (response) => phase === "stopping" ? HttpServerResponse.setHeader(response, "connection", "close") : response
      ),
    counted: (handling) =>
      Effect.suspend(() => {
        active++
        idle.unsafeClose()
        return Effect.ensuring(
          handling,
          Effect.sync(() => {
            active--
            if (active === 0) idle.unsafeOpen()
          })
        )
      }),
    stop: (server, deadline) =>
      Effect.gen(function*() {
        phase = "stopping"
        yield* begun.open
        const answered = Effect.zipRight(Effect.sleep(linger), idle.await)
        yield* close(server).pipe(
          Effect.race(answered),
          Effect.interruptible,
          Effect.timeoutOption(deadline)
        )
        server.closeAllConnections()
      }).pipe(Effect.withClock(Clock.make()))
  }
})

export const layer: Layer.Layer<Lifecycle> = Layer.effect(Lifecycle, make)
