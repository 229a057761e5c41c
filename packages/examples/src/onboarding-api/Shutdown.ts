/** A stop that answers what was accepted: no new connections, and a limit to the waiting. */
import { Context, type Duration, Effect, Layer } from "effect"
import { createServer, type Server } from "node:http"

interface Service {
  readonly server: Server
  /** Waits until nobody waits for an answer. */
  readonly idle: Effect.Effect<void>
}

export class NodeServer extends Context.Tag("onboarding-api/NodeServer")<NodeServer, Service>() {
  static readonly layer = Layer.sync(NodeServer, () => {
    const idle = Effect.unsafeMakeLatch(true)
    const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 })
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
 * To be built after the server listens, and so closed before anything else is: while it waits, the
 * handlers, the client and the database are all there. Connections on which nothing is asked are
 * cut, which nobody else does: Node stops looking at how old they are once a server closes.
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
