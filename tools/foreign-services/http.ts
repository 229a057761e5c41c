/** A service on a free port of this machine. */
import { Effect } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { type Incoming, type Reply, type Service } from "./service.ts"

const write = (s: Service, response: ServerResponse, reply: Reply) =>
  Effect.gen(function*() {
    if (reply === "cut") return void response.destroy()
    const { body, headers, pieces, status, statusMessage } = reply
    const [bytes, length] = s.encode(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body))
    if (statusMessage !== undefined) response.statusMessage = statusMessage
    response.writeHead(status, pieces === undefined ? { ...headers, "Content-Length": length } : headers)
    if (pieces === undefined) return void response.end(bytes)
    const size = Math.ceil(bytes.length / Math.max(pieces, 1))
    for (let from = 0; from < bytes.length && pieces > 0; from += size) {
      response.write(bytes.subarray(from, from + size))
      yield* Effect.yieldNow()
    }
    response.end()
  })

const handler = (s: Service) => {
  const connections = new WeakMap<Socket, number>()
  let count = 0
  return (message: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(message.socket) ?? (count += 1)
    connections.set(message.socket, connection)
    const chunks: Array<Buffer> = []
    message.on("error", () => {})
    message.on("data", (chunk: Buffer) => chunks.push(chunk))
    message.on("end", () => {
      const { headers, method = "", url = "" } = message
      const [path = "", ...query] = url.split("?")
      const q: Incoming = {
        ...{ method, path, query: query.join("?"), headers, body: s.decode(chunks), connection, at: s.now() }
      }
      Effect.runFork(
        Effect.suspend(() => s.handle(q)).pipe(
          Effect.catchAllDefect(() => Effect.sync(() => s.refuse("failed", q))),
          Effect.andThen((reply) => write(s, response, reply))
        )
      )
    })
  }
}

/** Starts the service, and stops it when the scope closes. Returns its address. */
export const serve = (s: Service) =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server = createServer(handler(s))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }))
