/** A server that speaks the protocol of Redis, lets each client connect, and has one reply to all other commands. */
import { Effect } from "effect"
import { createServer, type Socket } from "node:net"

const info = "redis_version:7.0.15\r\nloading:0\r\n"
const ok = "+OK\r\n"
const replies: Record<string, string> = { auth: ok, select: ok, info: `$${info.length}\r\n${info}\r\n` }

/** `reply` has the form of the protocol, such as `:1\r\n`. `changes` are other replies to single commands. */
export const make = (reply: string, changes: Record<string, string> = {}) =>
  Effect.gen(function*() {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("data", (chunk) => {
        for (const [, command = ""] of chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
          const name = command.toLowerCase()
          socket.write(changes[name] ?? replies[name] ?? reply)
        }
      })
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
    return { host: `127.0.0.1:${typeof address === "object" ? address?.port : 0}` }
  })
