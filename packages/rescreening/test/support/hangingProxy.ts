/** A TCP proxy that can stop forwarding without closing a connection, like a network that drops every packet. */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

export const make = (port: number) =>
  Effect.gen(function*() {
    const pairs = new Set<readonly [Socket, Socket]>()
    let isHanging = false
    const forward = ([from, to]: readonly [Socket, Socket]) => isHanging ? from.unpipe(to).pause() : from.pipe(to)
    const server = createServer((client) => {
      const upstream = connect(port, "127.0.0.1")
      for (const pair of [[client, upstream], [upstream, client]] as const) {
        const [from, to] = pair
        pairs.add(pair)
        from.on("error", () => to.destroy()).on("close", () => {
          pairs.delete(pair)
          to.destroy()
        })
        forward(pair)
      }
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          for (const [from] of pairs) from.destroy()
          server.close()
        })
    )
    const address = server.address()
    const hang = (hangs: boolean) =>
      Effect.sync(() => {
        isHanging = hangs
        pairs.forEach(forward)
      })
    return { port: typeof address === "object" ? address?.port ?? 0 : 0, hang }
  })
