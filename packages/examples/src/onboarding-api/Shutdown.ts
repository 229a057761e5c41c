/** Graceful shutdown: accepts no new connections, and completes accepted requests within a time limit. */
import { Context, type Duration, Effect, Layer } from "effect"
import { createServer, type Server } from "node:http"

interface Service {
  readonly server: Server
  /** Completes when no request is in flight. */
  readonly idle: Effect.Effect<void>
}

export class NodeServer extends Context.Tag("onboarding-api/NodeServer")<NodeServer, Service>() {
  static readonly layer = Layer.sync(NodeServer, () => {
    const idle = Effect.unsafeMakeLatch(true)
    // Idle connections stay open longer than those of a usual proxy: it never sends a request on one that just closes.
    const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, keepAliveTimeout: 65_000 })
    let active = 0
    server.on("request", (_, response) => {
      active++
      idle.unsafeClose()
      response.once("close", () => {
        active--
        if (active === 0) idle.unsafeOpen()
      })
    })
    return { server, idle: idle.await }
  })
}

/**
 * Must be built after the server listens. It is then closed first, and the handlers, the client and the
 * database still work while it waits. At the end it closes idle connections, because Node no longer
 * applies its timeouts to them once the server is closed.
 */
export const layer = (gracePeriod: Duration.DurationInput) =>
  Layer.scopedDiscard(
    Effect.flatMap(NodeServer, ({ idle, server }) =>
      Effect.addFinalizer(() =>
        Effect.sync(() => server.close()).pipe(
          Effect.zipRight(Effect.timeoutOption(Effect.interruptible(idle), gracePeriod)),
          Effect.zipRight(Effect.sync(() => server.closeAllConnections()))
        )
      ))
  )
