/** A TCP proxy that can stop to forward without closing anything, as a network that drops every packet. */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

export const make = (port: number) =>
  Effect.gen(function*() {
    const sockets = new Set<Socket>()
    let isHanging = false
    const server = createServer((client) => {
      const upstream = connect(port, "127.0.0.1")
      const pairs = [[client, upstream], [upstream, client]] as const
      for (const [from, to] of pairs) {
        sockets.add(from)
        from.on("error", () => to.destroy()).on("close", () => {
          sockets.delete(from)
          to.destroy()
        })
        from.pipe(to)
        if (isHanging) from.pause()
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
    const hang = (hangs: boolean) =>
      Effect.sync(() => {
        isHanging = hangs
        for (const socket of sockets) {
          if (hangs) socket.unpipe().pause()
        }
      })
    return { port: typeof address === "object" ? address?.port ?? 0 : 0, hang }
  })
