/**
 * A TCP proxy that can fail: `hangs` forwards nothing, `late` forwards the responses after 400 ms, `garbage` answers with
 * text of no protocol, and `down` closes.
 */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

export type Mode = "passes" | "hangs" | "late" | "garbage" | "down"

/** Forwards to a port of this machine. `set` also applies to open connections. */
export const make = (target: number) =>
  Effect.gen(function*() {
    let mode: Mode = "passes"
    const sockets = new Set<Socket>()
    const keep = (socket: Socket) => {
      sockets.add(socket)
      socket.on("error", () => socket.destroy())
      socket.on("close", () => sockets.delete(socket))
    }
    const server = createServer((client) => {
      keep(client)
      if (mode === "down") return void client.destroy()
      const upstream = connect(target, "127.0.0.1")
      keep(upstream)
      client.on("data", (chunk) => {
        if (mode === "passes" || mode === "late") upstream.write(chunk)
        if (mode === "garbage") client.write("garbage\r\n".repeat(10))
      })
      upstream.on("data", (chunk) => {
        if (mode === "passes") client.write(chunk)
        if (mode === "late") setTimeout(() => client.write(chunk), 400)
      })
      client.on("close", () => upstream.destroy())
      upstream.on("close", () => client.destroy())
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        })
    )
    const address = server.address()
    return {
      port: typeof address === "object" && address !== null ? address.port : 0,
      set: (next: Mode) =>
        Effect.sync(() => {
          mode = next
          if (next === "down") { for (const socket of sockets) socket.destroy() }
        })
    }
  })
