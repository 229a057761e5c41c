/** A TCP server that records the received bytes and sends given bytes. */
import * as Effect from "effect/Effect"
import { createServer, type Socket } from "node:net"

export interface RawServer {
  readonly url: string
  /** One entry for each request: everything that arrived before the response. */
  readonly requests: Array<string>
}

/** Calls `respond` once a whole request has arrived, according to its `Content-Length`. */
export const make = (respond: (request: string, socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.async<{ readonly close: Effect.Effect<void>; readonly raw: RawServer }>((resume) => {
      const requests: Array<string> = []
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        let received = ""
        sockets.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => sockets.delete(socket))
        socket.on("data", (chunk) => {
          received += chunk.toString("latin1")
          const [head = "", body = ""] = received.split("\r\n\r\n")
          const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
          if (!received.includes("\r\n\r\n") || body.length < length) return
          const request = Buffer.from(received, "latin1").toString("utf8")
          received = ""
          requests.push(request)
          respond(request, socket)
        })
      })
      const close = Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const socket of sockets) socket.destroy()
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ close, raw: { url: `http://127.0.0.1:${port}`, requests } }))
      })
    }),
    ({ close }) => close
  ).pipe(Effect.map(({ raw }) => raw))

export const ok = (body: unknown): string => {
  const text = JSON.stringify(body)
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${
    Buffer.byteLength(text)
  }\r\nconnection: close\r\n\r\n${text}`
}
