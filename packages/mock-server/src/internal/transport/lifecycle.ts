/**
 * From the first request to the last: readiness, and a stop that answers what was accepted: no new
 * connections, an end to those that are kept alive with their next answer, and whatever is left is
 * cut when the deadline passes.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Server as HttpServer } from "node:http"
import { Server } from "node:net"

/**
 * - `isReady`: between `start` and the stop.
 * - `stopping`: waits until the stop begins, for what would otherwise never end.
 * - `closing`: tells clients that their connection ends, once the stop has begun.
 * - `counted`: around a request. It counts until its answer has left, or its connection is gone.
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
      Effect.zipRight(
        Effect.map(
          Effect.serviceOption(HttpServerRequest.HttpServerRequest),
          Option.map((request) => {
            active++
            idle.unsafeClose()
            NodeHttpServerRequest.toServerResponse(request).once("close", () => {
              active--
              if (active === 0) idle.unsafeOpen()
            })
          })
        ),
        handling
      ),
    stop: (server, deadline) => {
      const cut = Effect.sync(() => server.closeAllConnections())
      // In one go: a request that came between the look and the cut would be lost.
      const cutOnceIdle: Effect.Effect<void> = Effect.suspend(() =>
        active === 0 ? cut : Effect.zipRight(idle.await, cutOnceIdle)
      )
      return Effect.gen(function*() {
        phase = "stopping"
        yield* begun.open
        yield* close(server).pipe(
          Effect.race(Effect.zipRight(Effect.sleep(linger), cutOnceIdle)),
          Effect.interruptible,
          Effect.timeoutOption(deadline)
        )
        yield* cut
      }).pipe(Effect.withClock(Clock.make()))
    }
  }
})

export const layer: Layer.Layer<Lifecycle> = Layer.effect(Lifecycle, make)
