/**
 * HTTP clients that run a server in process: the fiber that sends a request also handles it, without a socket and with
 * the same clock.
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Agent } from "node:http"
import { Agent as SecureAgent } from "node:https"
import { Duplex } from "node:stream"
import * as RequestData from "./request.ts"
import * as Response from "./response.ts"
import * as Script from "./script.ts"
import * as ServerResponse from "./serverResponse.ts"

/** The client of an app of the HTTP library. */
export const ofApp = (app: HttpApp.Default): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    serverRequest(request, url).pipe(
      Effect.flatMap((source) => Effect.provideService(app, HttpServerRequest.HttpServerRequest, source)),
      Effect.scoped,
      Effect.map((response) => clientResponse(request, response))
    )
  )

/** The client of a handler. */
export const ofHandler = (handle: RequestData.Handler): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const source = yield* serverRequest(request, url)
      const delivery = yield* handle(RequestData.headOf(source), RequestData.readBodyOf(source))
      const steps = delivery._tag === "Scripted" ? delivery.steps : encodedSteps(delivery.response)
      return steps === undefined
        ? clientResponse(request, ServerResponse.make(delivery.response))
        : yield* Effect.flatMap(clientOf(steps), (client) => client.execute(request))
    })
  )

const serverRequest = ({ body, headers, method }: HttpClientRequest.HttpClientRequest, url: URL) =>
  Effect.map(bodyOf(body), (present: BodyInit | undefined) => {
    // A missing body becomes an empty one, because a server would treat a missing body as incomplete.
    const body = present ?? (HttpMethod.hasBody(method) ? new Uint8Array() : undefined)
    const source = new Request(url, { method, headers, ...(body !== undefined && { body, duplex: "half" }) })
    return HttpServerRequest.fromWeb(source).modify({ headers: Headers.set(headers, "host", url.host) })
  })

const clientResponse = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpServerResponse.HttpServerResponse
) => HttpClientResponse.fromWeb(request, HttpServerResponse.toWeb(response))

/**
 * The bytes of a response with a content coding, which the fault `falseGzip` has. A response of `fetch` would count as
 * decompressed, and this fault would have no effect.
 */
const encodedSteps = (response: Response.Response): ReadonlyArray<Response.Step> | undefined =>
  response.headers["content-encoding"] === undefined ? undefined : [
    Response.Step.Write({ bytes: Response.head(response, [`content-length: ${response.body.length}`]) }),
    Response.Step.Write({ bytes: response.body }),
    Response.Step.Fin()
  ]

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
const clientOf = (steps: ReadonlyArray<Response.Step>) =>
  Effect.gen(function*() {
    // Loaded on demand, because it also loads Undici.
    const NodeHttpClient = yield* Effect.promise(() => import("@effect/platform-node/NodeHttpClient"))
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

const bodyOf = (body: HttpBody.HttpBody): Effect.Effect<BodyInit | undefined> => {
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
