/** Servers of the tests. */
import { Effect } from "effect"
import type { AddressInfo } from "node:net"

interface Server {
  readonly listen: (port: number, host: string, done: () => void) => unknown
  readonly address: () => AddressInfo | string | null
  readonly close: () => unknown
  readonly closeAllConnections?: () => void
}

/** Runs a server on a free port of loopback until the scope closes, and returns the port. */
export const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections?.()
      })
  )
