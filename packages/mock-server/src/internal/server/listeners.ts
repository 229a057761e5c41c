/**
 * Handles the requests that Node's HTTP server receives; those to the data plane without the HTTP library. It also
 * responds to input for which Node makes no request, because the parser rejects it, or because it is a CONNECT or has an
 * unknown `Expect` header. The journal of unmatched requests records each such input.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as Session from "../../Session.ts"
import { noTarget } from "../journal/maskedTarget.ts"
import { Recorder } from "../journal/recorder.ts"
import * as DataPlane from "../service/dataPlane.ts"
import { refused } from "../service/decision.ts"
import type * as Lifecycle from "../wire/lifecycle.ts"
import * as Request from "../wire/request.ts"
import * as Response from "../wire/response.ts"
import { runOnce } from "../wire/runOnce.ts"
import { playOnSocket } from "../wire/script.ts"
import * as App from "./app.ts"

const send = (response: ServerResponse, whole: Response.Response) =>
  Effect.sync(() => {
    response.writeHead(whole.status, Response.framedHeaders(whole))
    response.end(response.req.method === "HEAD" ? undefined : whole.body)
  })

const deliver = (response: ServerResponse) => (delivery: Response.Delivery): Effect.Effect<void> =>
  delivery._tag === "Whole"
    ? send(response, delivery.response)
    : Effect.interruptible(playOnSocket(response, delivery.steps))

/** The listener of the control plane. Its modules contain the HTTP library's server, so they are loaded on demand. */
const listenerOf = (controlPlane: HttpApp.Default) =>
  Effect.flatMap(
    Effect.promise(() =>
      Promise.all([import("@effect/platform-node/NodeHttpServer"), import("@effect/platform/HttpMiddleware")])
    ),
    ([{ makeHandler }, { currentTracerDisabledWhen }]) =>
      Effect.locally(makeHandler(controlPlane), currentTracerDisabledWhen, () => true)
  )

/**
 * The data plane handles each request to its end even if the client closes the connection, so that
 * the journal has every request. Only a script then ends at once.
 */
const listenToRequests = (
  server: Server,
  { controlPlane, dataPlane, health }: App.App,
  { countRequest }: Lifecycle.Service
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const runFork = Runtime.runFork(yield* Effect.runtime())
    const controlListener = yield* runOnce(listenerOf(controlPlane))
    server.on("request", (source, response) => {
      countRequest(response)
      const { headers, method = "", url = "" } = source
      if (Request.isControl(Request.pathOf(url))) {
        const healthPath = method === "GET" ? Request.healthPathOf(url) : undefined
        const handled = healthPath !== undefined
          ? Effect.flatMap(health(healthPath, source), (whole) => send(response, whole))
          // While the listener loads, the client may close the connection. An event stream would then never end.
          : Effect.map(controlListener, (listener) => response.destroyed ? undefined : listener(source, response))
        runFork(Effect.catchAllDefect(handled, (defect) =>
          Effect.flatMap(App.loadFailed(defect), (problem) =>
            send(response, problem))))
        return
      }
      const delivery = dataPlane(Request.head({ headers, method, source, url }), Request.readBody(source))
      const exchange = Effect.flatMap(delivery, deliver(response)).pipe(
        // The program's `onExchange` may fail even for the entry of a defect.
        Effect.onError(() =>
          Effect.sync(() => response.destroy())
        )
      )
      const fiber = runFork(Effect.uninterruptible(exchange))
      response.once("close", () => {
        if (!response.writableEnded) fiber.unsafeInterruptAsFork(FiberId.none)
      })
    })
  })

interface Rejection {
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

/** The reasons of the parser are safe to show: they are fixed sentences without a part of the input. */
const rejectionOf = (error: Error): Rejection => {
  const status = statuses[Predicate.hasProperty(error, "code") ? String(error.code) : ""] ?? 400
  const isTls = Predicate.hasProperty(error, "rawPacket") && error.rawPacket instanceof Uint8Array &&
    error.rawPacket[0] === handshake
  return {
    status,
    why: isTls
      ? "The client speaks TLS, and the mock server was started without --tls"
      : Predicate.hasProperty(error, "reason")
      ? `The input is not an HTTP request: ${error.reason}`
      : "The request did not arrive in time"
  }
}

const responseOf = (status: Rejection["status"]): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`

/**
 * Handles errors of a raw socket. Node removes its own listener when it hands the socket over, and without one a
 * connection reset would end the process. Node may hand over the same socket more than once.
 */
const handleErrors = (socket: Duplex): void => {
  socket.off("error", destroy).on("error", destroy)
}

function destroy(this: Duplex) {
  this.destroy()
}

/**
 * Adds the listeners to a server. A listener for upgrades is not among them: it would lose the body of a request that
 * offers an upgrade, as some clients do with `h2c`. Without it, Node ignores the offer.
 */
const listenToErrors = (server: Server): Effect.Effect<void, never, Session.Sessions | Recorder> =>
  Effect.gen(function*() {
    const services = yield* Effect.all({ sessions: Session.Sessions, recorder: Recorder })
    const runFork = Runtime.runFork(yield* Effect.runtime())
    const pendingExchanges = new WeakMap<
      Duplex,
      { readonly request: IncomingMessage; readonly response: ServerResponse }
    >()

    const respond = (socket: Duplex, status: Rejection["status"]) =>
      Effect.sync(() => {
        if (socket.writable) socket.end(responseOf(status), () => socket.destroy())
        else socket.destroy()
      })

    const reject = (socket: Duplex, rejection: Rejection) => {
      // The client closed the connection, or opened it for a later request and never used it, as browsers do.
      if (!socket.writable || socket instanceof Socket && socket.bytesRead === 0) return void socket.destroy()
      const { method = "?", status, target = noTarget, why } = rejection
      const recorded = DataPlane.recordUnmatched(services, {
        request: { method, target: Request.targetOf(target), headers: {}, body: new Uint8Array() },
        response: Response.empty(status, { connection: "close" }),
        rule: "http.malformed",
        facts: refused(why),
        unexpected: true
      })
      runFork(Effect.ensuring(recorded, respond(socket, status)))
    }

    /** Responses are sent in the order of their requests, so it waits for the response before it. */
    const rejectInOrder = (socket: Duplex, rejection: Rejection) => {
      const pendingExchange = pendingExchanges.get(socket)
      if (pendingExchange === undefined) reject(socket, rejection)
      else pendingExchange.response.once("close", () => reject(socket, rejection))
    }

    server.on("request", (request, response) => {
      pendingExchanges.set(request.socket, { request, response })
      response.once("close", () => {
        if (pendingExchanges.get(request.socket)?.response === response) pendingExchanges.delete(request.socket)
      })
    })
    server.on(
      "connect",
      ({ method, url }, socket) => {
        handleErrors(socket)
        rejectInOrder(socket, {
          status: 405,
          why: "CONNECT is for a proxy, and this server is not one",
          method,
          target: url
        })
      }
    )
    server.on(
      "checkExpectation",
      ({ method, socket, url }) =>
        rejectInOrder(socket, { status: 417, why: "The Expect header can only be 100-continue", method, target: url })
    )
    server.on("clientError", (error, socket) => {
      handleErrors(socket)
      const rejection = rejectionOf(error)
      // An incomplete request already has an entry.
      if (pendingExchanges.get(socket)?.request.complete === false) runFork(respond(socket, rejection.status))
      else rejectInOrder(socket, rejection)
    })
  })

/** Adds all listeners to a server. */
export const add = (
  server: Server,
  app: App.App,
  lifecycle: Lifecycle.Service
): Effect.Effect<void, never, Session.Sessions | Recorder> =>
  Effect.zipRight(listenToRequests(server, app, lifecycle), listenToErrors(server))
