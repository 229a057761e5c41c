/** A TCP proxy that delays each direction, like a database that is far away. */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** `roundTrip` is in milliseconds. */
export const make = (port: number, roundTrip: number) =>
  Effect.gen(function*() {
    const sockets = new Set<Socket>()
    const server = createServer((client) => {
      const upstream = connect(port, "127.0.0.1")
      for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
        from.setNoDelay(true)
        sockets.add(from)
        from.on("data", (chunk) => void setTimeout(() => to.write(chunk), roundTrip / 2))
        from.on("error", () => to.destroy()).on("close", () => {
          sockets.delete(from)
          setTimeout(() => to.destroy(), roundTrip / 2)
        })
      }
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          server.close()
        })
    )
    const address = server.address()
    return typeof address === "object" ? address?.port ?? 0 : 0
  })
