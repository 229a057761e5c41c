/** A proxy for tunnels (CONNECT), which leads every host to one port of this machine. */
import { Effect } from "effect"
import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { connect } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"
import { listening } from "./listening.ts"

/** The status with which it refuses a connection, or how it fails. */
export type Refusal = number | "closes" | "hangs"

export interface Options {
  readonly target: number
  /** As in the address of the proxy, such as `user:password`. */
  readonly login?: string | undefined
  /** The proxy speaks TLS. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  readonly refuse?: ((host: string) => Refusal | undefined) | undefined
}

export const make = ({ login, refuse, target, tls }: Options) =>
  Effect.gen(function*() {
    const connects: Array<string> = []
    const serverNames = new Set<string>()
    const sockets = new Set<Duplex>()
    const keep = (socket: Duplex) => {
      sockets.add(socket)
      socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket))
    }
    const server = tls === undefined ? createServer() : createTlsServer(tls)
    server.on("connect", (request, client, head) => {
      keep(client)
      connects.push(request.url ?? "")
      if (client instanceof TLSSocket && typeof client.servername === "string") serverNames.add(client.servername)
      const { "proxy-authorization": authorization = "" } = request.headers
      const isRefused = login !== undefined &&
        Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString() !== login
      const refusal = isRefused ? 407 : refuse?.(request.url ?? "")
      if (refusal === "hangs") return
      if (refusal === "closes") return void client.destroy()
      if (refusal !== undefined) {
        return void client.end(`HTTP/1.1 ${refusal} No\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n`)
      }
      const upstream = connect(target, "127.0.0.1", () => {
        client.write("HTTP/1.1 200 OK\r\n\r\n")
        upstream.write(head)
        client.pipe(upstream).pipe(client)
      })
      keep(upstream)
      client.on("close", () => upstream.destroy())
      upstream.on("close", () => client.destroy())
    })
    const cut = () => {
      for (const socket of sockets) socket.destroy()
    }
    yield* Effect.addFinalizer(() => Effect.sync(cut))
    return { port: yield* listening(server), connects, cut, serverNames }
  })
