/**
 * What arrives on a port and never becomes a request, because Node's parser refuses it. Here it is
 * answered, and the journal of strangers has it: nothing is lost silently.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as Session from "../../Session.ts"
import * as Request from "../http/request.ts"
import * as Masking from "../journal/masking.ts"
import { Recorder } from "../journal/recorder.ts"

interface Refusal {
  readonly status: 400 | 405 | 408 | 413 | 417 | 431
  readonly why: string
  readonly method?: string | undefined
  readonly target?: string | undefined
}

const statuses: Record<string, 408 | 413 | 431> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431
}

/** The first byte of a TLS handshake. */
const handshake = 0x16

/** The reasons of the parser are fixed sentences, without anything of what it read. */
const refusalOf = (error: Error): Refusal => {
  const status = statuses[Predicate.hasProperty(error, "code") ? String(error.code) : ""] ?? 400
  const isTls = Predicate.hasProperty(error, "rawPacket") && error.rawPacket instanceof Uint8Array &&
    error.rawPacket[0] === handshake
  return {
    status,
    why: isTls
      ? "This looks like TLS, and the mock server speaks http: only"
      : Predicate.hasProperty(error, "reason")
      ? `What came is no HTTP request: ${error.reason}`
      : "The request did not arrive in time"
  }
}

const nothing = new Uint8Array()

const requestOf = ({ method = "?", target }: Refusal, reveal: boolean) =>
  target === undefined
    ? { method, target: "?", headers: {}, body: "" }
    : Masking.maskRequest(
      { operation: "other", method, target: Request.targetOf(target), headers: {}, body: nothing },
      reveal
    )

const entryOf = (refusal: Refusal, reveal: boolean) => ({
  customerId: null,
  operation: "other" as const,
  request: requestOf(refusal, reveal),
  response: { status: refusal.status, headers: { connection: "close" }, body: "", delivery: "whole" as const },
  rule: "http.malformed",
  why: refusal.why,
  claims: [],
  faults: [],
  unexpected: true,
  millis: 0
})

const answerOf = (status: Refusal["status"]): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`

/**
 * A raw socket that Node hands over has no listener of Node's any more: without one, a client that
 * resets its connection would end the process. A socket may be handed over more than once.
 */
const guard = (socket: Duplex): void => {
  socket.off("error", destroy).on("error", destroy)
}

function destroy(this: Duplex) {
  this.destroy()
}

/**
 * To be called once the server serves: its HTTP library also takes upgrades, and loses the body of a
 * request that only offers one, as some clients do with `h2c`. Without a listener Node passes over
 * the offer.
 */
export const listen = (server: Server): Effect.Effect<void, never, Session.Sessions | Recorder> =>
  Effect.gen(function*() {
    const { unmatched } = yield* Session.Sessions
    const { record, reveal } = yield* Recorder
    const runFork = Runtime.runFork(yield* Effect.runtime())
    const pending = new WeakMap<Duplex, { readonly request: IncomingMessage; readonly response: ServerResponse }>()

    const answer = (socket: Duplex, status: Refusal["status"]) =>
      Effect.sync(() => {
        if (socket.writable) socket.end(answerOf(status), () => socket.destroy())
        else socket.destroy()
      })

    const refuse = (socket: Duplex, refusal: Refusal) => {
      // A client that went away, or a connection that a browser opened for later and never used.
      if (!socket.writable || socket instanceof Socket && socket.bytesRead === 0) return void socket.destroy()
      runFork(
        Effect.flatMap(unmatched.write(entryOf(refusal, reveal)), record).pipe(
          Effect.ensuring(answer(socket, refusal.status))
        )
      )
    }

    server.removeAllListeners("upgrade")
    server.on("request", (request, response) => {
      pending.set(request.socket, { request, response })
      response.once("close", () => {
        if (pending.get(request.socket)?.response === response) pending.delete(request.socket)
      })
    })
    server.on(
      "connect",
      ({ method, url }, socket) => {
        guard(socket)
        refuse(socket, { status: 405, why: "CONNECT is for a proxy, and this is none", method, target: url })
      }
    )
    server.on(
      "checkExpectation",
      ({ method, socket, url }) =>
        refuse(socket, { status: 417, why: "Expect can only be 100-continue", method, target: url })
    )
    server.on("clientError", (error, socket) => {
      guard(socket)
      const refusal = refusalOf(error)
      const before = pending.get(socket)
      if (before === undefined) return refuse(socket, refusal)
      // Answers keep the order of their requests; one that broke off has its entry already.
      if (before.request.complete) before.response.once("close", () => refuse(socket, refusal))
      else runFork(answer(socket, refusal.status))
    })
  })
