/**
 * Faults of a network or a server, as bytes on a socket. Each changes a response whose body would be the valid `body`.
 */
import type { Socket } from "node:net"
import { brotliCompressSync, gzipSync } from "node:zlib"

export type Fault = (socket: Socket, body: string) => void

const head = (...lines: ReadonlyArray<string>) =>
  `${["HTTP/1.1 200 OK", "content-type: application/json", "connection: close", ...lines].join("\r\n")}\r\n\r\n`

const withLength = (body: string | Uint8Array, ...lines: ReadonlyArray<string>) =>
  Buffer.concat([Buffer.from(head(`content-length: ${Buffer.byteLength(body)}`, ...lines)), Buffer.from(body)])

/** Resets the connection after these bytes, without closing it. */
const resetAfter = (bytes: string | Uint8Array): Fault => (socket) =>
  void socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 20))

/** `fetch` decodes zstd since Undici 7, which Node 24 has. */
const fetchDecodesZstd = Number.parseInt(process.versions["undici"] ?? "0") >= 7

/**
 * Faults around the complete `body`, which is valid. Some clients do not show them, and then the response counts: a part
 * of a JSON object is not valid JSON, so nothing is missing.
 */
export const hiddenFaults: Readonly<Record<string, { readonly fault: Fault; readonly isShownBy: RegExp }>> = {
  "a gzip without its last byte": {
    fault: (socket, body) => void socket.end(withLength(gzipSync(body).subarray(0, -1), "content-encoding: gzip")),
    isShownBy: /Undici|Node/
  },
  "a body that is not the zstd of its header": {
    fault: (socket, body) => void socket.end(withLength(body, "content-encoding: zstd")),
    isShownBy: fetchDecodesZstd ? /^/ : /Undici|Node/
  },
  "a reset after a body without a length": {
    fault: (socket, body) => resetAfter(head() + body)(socket, body),
    isShownBy: /^$/
  },
  "the version 2.0 in the status line": {
    fault: (socket, body) => void socket.end(withLength(body).toString().replace("HTTP/1.1", "HTTP/2.0")),
    isShownBy: /^$/
  }
}

const randomBytes = Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 7919 + 31) % 256))

export const faults: Readonly<Record<string, Fault>> = {
  "reset before headers": (socket) => void socket.resetAndDestroy(),
  "reset mid headers": resetAfter("HTTP/1.1 200 OK\r\ncontent-ty"),
  "reset mid body": (socket, body) =>
    resetAfter(head(`content-length: ${Buffer.byteLength(body)}`) + body.slice(0, 10))(socket, body),
  "early FIN": (socket) => void socket.end(),
  "FIN mid headers": (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-ty"),
  "truncated": (socket, body) => void socket.end(withLength(body).subarray(0, -5)),
  "truncated chunks": (socket, body) =>
    void socket.end(
      head("transfer-encoding: chunked") + `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`
    ),
  "bad chunk": (socket, body) => void socket.end(head("transfer-encoding: chunked") + `zz\r\n${body}\r\n0\r\n\r\n`),
  "false gzip": (socket, body) => void socket.end(withLength(body, "content-encoding: gzip")),
  "truncated gzip": (socket, body) =>
    void socket.end(withLength(gzipSync(body).subarray(0, -12), "content-encoding: gzip")),
  "a reset in a body without a length": (socket, body) => resetAfter(head() + body.slice(0, -1))(socket, body),
  "an unknown content coding": (socket, body) =>
    void socket.end(withLength(brotliCompressSync(body), "content-encoding: klingon")),
  "an unknown content coding of a plain body": (socket, body) =>
    void socket.end(withLength(body, "content-encoding: klingon")),
  "a gzip that was compressed twice": (socket, body) =>
    void socket.end(withLength(gzipSync(gzipSync(body)), "content-encoding: gzip")),
  "duplicate Content-Length": (socket, body) => void socket.end(withLength(body, "content-length: 5")),
  "Content-Length and chunks": (socket, body) => void socket.end(withLength(body, "transfer-encoding: chunked")),
  "random bytes": (socket) => void socket.end(randomBytes),
  "drip": (socket, body) => {
    socket.write(head("content-length: 100000"))
    const timer = setInterval(() => socket.write(" "), 50)
    socket.on("close", () => clearInterval(timer))
    void body
  },
  "drip of headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n")
    const timer = setInterval(() => socket.write("x-drip: 1\r\n"), 50)
    socket.on("close", () => clearInterval(timer))
  },
  "hang": () => {},
  "hang mid body": (socket, body) =>
    void socket.write(head(`content-length: ${Buffer.byteLength(body)}`) + body.slice(0, 10)),
  "5 MB body": (socket, body) => void socket.end(withLength(body.replace(/^\{/, `{"pad":"${"x".repeat(5_000_000)}",`))),
  "5 MB in a gzip of a few bytes": (socket, body) =>
    void socket.end(
      withLength(gzipSync(body.replace(/^\{/, `{"pad":"${"x".repeat(5_000_000)}",`)), "content-encoding: gzip")
    ),
  "HTML 200": (socket) =>
    void socket.end(
      "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 14\r\nconnection: close\r\n\r\n<html></html>\n"
    ),
  "invalid UTF-8": (socket, body) =>
    void socket.end(
      withLength(Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from([0xc3, 0x28]), Buffer.from("}")]))
    ),
  "no content": (socket) => void socket.end("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
}
