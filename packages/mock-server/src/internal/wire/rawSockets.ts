/** The TCP sockets below TLS, because only those can be reset. */
import type { Server, Socket } from "node:net"

const rawSockets = new WeakMap<Socket, Socket>()

const keyOf = ({ localPort, remoteAddress, remotePort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localPort}`

/** Records the sockets of a server that speaks TLS. */
export const record = (server: Server): void => {
  const raw = new Map<string, Socket>()
  server.on("connection", (socket: Socket) => {
    const key = keyOf(socket)
    raw.set(key, socket)
    socket.once("close", () => raw.delete(key))
  })
  server.on("secureConnection", (secure: Socket) => {
    const socket = raw.get(keyOf(secure))
    if (socket !== undefined) rawSockets.set(secure, socket)
  })
}

/** Returns the TCP socket of a connection, which without TLS is the socket itself. */
export const rawOf = (socket: Socket): Socket => rawSockets.get(socket) ?? socket
