/**
 * An HTTP client that runs a server app in process: the fiber that sends a request also handles it, without a socket
 * and with the same clock.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Headers from "@effect/platform/Headers"
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Agent, STATUS_CODES } from "node:http"
import { Agent as SecureAgent } from "node:https"
import { Duplex } from "node:stream"
import { Step } from "./response.ts"
import * as Script from "./script.ts"

export const client = (app: HttpApp.Default): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const { headers, method } = request
      // A missing body becomes an empty one, because a server would treat a missing body as incomplete.
      const body = (yield* bodyOf(request.body)) ?? (HttpMethod.hasBody(method) ? new Uint8Array() : undefined)
      const source = new Request(url, { method, headers, ...(body !== undefined && { body, duplex: "half" }) })
      const response = yield* app.pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(source).modify({ headers: Headers.set(headers, "host", url.host) })
        ),
        Effect.scoped
      )
      const steps = Script.stepsOf(response)
      const played = steps ?? (Headers.has(response.headers, "content-encoding") ? yield* encoded(response) : undefined)
      return played === undefined
        ? HttpClientResponse.fromWeb(request, HttpServerResponse.toWeb(response))
        : yield* Effect.flatMap(clientOf(played), (client) => client.execute(request))
    })
  )

/**
 * The bytes of a response with a content coding, which the fault `falseGzip` has. A response of `fetch` would count as
 * decompressed, and this fault would have no effect.
 */
const encoded = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.map(Effect.promise(() => HttpServerResponse.toWeb(response).arrayBuffer()), (body) => {
    const headers = { ...response.headers, "content-length": String(body.byteLength) }
    const head = [
      `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      "\r\n"
    ].join("\r\n")
    return [
      Step.Write({ bytes: new TextEncoder().encode(head) }),
      Step.Write({ bytes: new Uint8Array(body) }),
      Step.Fin()
    ]
  })

/** The client's side of a connection: it ignores what the client sends, and receives the bytes of a script. */
class ScriptConnection extends Duplex {
  override _read() {}
  override _write(_chunk: unknown, _encoding: string, done: () => void) {
    done()
  }
}

class ScriptAgent extends Agent {
  readonly connection: Duplex
  constructor(connection: Duplex) {
    super()
    this.connection = connection
  }
  override createConnection() {
    return this.connection
  }
}

/** Node's own HTTP client, whose parser reads the bytes of the script. */
const clientOf = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function*() {
    const stream = new ScriptConnection()
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" })
    const out = new Duplex({
      read: () => {},
      write: (chunk, _encoding, done) => {
        stream.push(chunk)
        done()
      }
    })
    const fiber = yield* Effect.forkDaemon(Script.play(steps, {
      out,
      fin: Effect.sync(() => stream.push(null)),
      reset: Effect.sync(() => stream.destroy(reset))
    }))
    stream.once("close", () => fiber.unsafeInterruptAsFork(fiber.id()))
    const https = new SecureAgent()
    return yield* Effect.provideService(NodeHttpClient.make, NodeHttpClient.HttpAgent, {
      [NodeHttpClient.HttpAgentTypeId]: NodeHttpClient.HttpAgentTypeId,
      http: new ScriptAgent(stream),
      https
    })
  })

const bodyOf = (body: HttpBody.HttpBody) => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(undefined)
    case "Uint8Array":
      return Effect.succeed(new Uint8Array(body.body))
    case "FormData":
      return Effect.succeed(body.formData)
    case "Stream":
      return Stream.toReadableStreamEffect(Stream.orDie(body.stream))
    case "Raw":
      return typeof body.body === "string"
        ? Effect.succeed(body.body)
        : body.body instanceof Uint8Array
        ? Effect.succeed(new Uint8Array(body.body))
        : Effect.dieMessage("In process, a raw body must be text or bytes")
  }
}
