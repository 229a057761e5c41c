/** A mutant between a client and the right server, which answers in process. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import { Delivery } from "../../../mock-server/src/internal/http/response.ts"
import * as Script from "../../../mock-server/src/internal/http/script.ts"
import * as Parts from "./parts.ts"
import type { Answer, Handler, Request, Serve, Wrapper } from "./wire.ts"

/** An answer that breaks off, as a fault has it: no mutant changes it. */
class BrokenOff extends Data.Error<{ readonly error: HttpClientError }> {}

const methods: ReadonlyArray<HttpMethod> = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]

const bodyOf = ({ body, method }: Request): HttpBody.HttpBody =>
  body.length === 0 && ["GET", "HEAD"].includes(method)
    ? HttpBody.empty
    : HttpBody.raw(body, { contentLength: body.length })

/** Without what says how long a body is, which may be another one. */
const unframed = (headers: Request["headers"]): Request["headers"] =>
  Record.filter(headers, (_, name) => name !== "content-length" && name !== "transfer-encoding")

const serving = (client: HttpClient.HttpClient, origin: string): Serve => (request) =>
  Effect.gen(function*() {
    const method = methods.find((method) => method === request.method) ?? "POST"
    const response = yield* HttpClientRequest.make(method)(`${origin}${request.target}`).pipe(
      HttpClientRequest.setHeaders(unframed(request.headers)),
      HttpClientRequest.setBody(bodyOf(request)),
      client.execute
    )
    const body = new Uint8Array(yield* response.arrayBuffer)
    return { status: response.status, headers: unframed(response.headers), body }
  }).pipe(Effect.catchAll((error) => Effect.die(new BrokenOff({ error }))))

const handling = (handle: Handler, client: HttpClient.HttpClient, origin: string) => (request: Request) => {
  const serve = serving(client, origin)
  return Parts.isControl(request) ? serve(request) : handle(request, serve)
}

const bytesOf = (body: HttpBody.HttpBody): Effect.Effect<Uint8Array> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(new Uint8Array())
    case "Uint8Array":
      return Effect.succeed(body.body)
    case "Stream":
      return Effect.map(
        Stream.runFold(Stream.orDie(body.stream), Parts.utf8(""), (all, more) => Buffer.concat([all, more])),
        (all) => new Uint8Array(all)
      )
    case "Raw":
      return typeof body.body === "string"
        ? Effect.succeed(Parts.utf8(body.body))
        : body.body instanceof Uint8Array
        ? Effect.succeed(body.body)
        : Effect.dieMessage("A mutant takes a raw body as text or bytes")
    case "FormData":
      return Effect.dieMessage("A mutant takes no FormData")
  }
}

/** Where there never is a body, a response may not be given one. */
const responseOf = ({ body, headers, status }: Answer): Response =>
  new Response([204, 205, 304].includes(status) ? null : new Uint8Array(body), { status, headers })

/** The client of a server that is broken in this way. */
export const client = (wrap: Wrapper): Effect.Effect<HttpClient.HttpClient, never, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const right = yield* HttpClient.HttpClient
    const handle = yield* wrap
    return HttpClient.make((request, url) =>
      Effect.gen(function*() {
        const { headers, method } = request
        const body = yield* bytesOf(request.body)
        const asked = { method, target: `${url.pathname}${url.search}`, headers, body }
        const answer = yield* handling(handle, right, url.origin)(asked)
        return HttpClientResponse.fromWeb(request, responseOf(answer))
      }).pipe(
        Effect.catchSomeDefect((defect) =>
          defect instanceof BrokenOff ? Option.some(Effect.fail(defect.error)) : Option.none()
        )
      )
    )
  })

const badGateway = HttpServerResponse.empty({ status: 502 })

/** The same as an app for a socket. What breaks off is a 502. */
export const app = (wrap: Wrapper) =>
  Effect.gen(function*() {
    const right = yield* HttpClient.HttpClient
    const handle = yield* wrap
    return Effect.gen(function*() {
      const { arrayBuffer, headers, method, originalUrl } = yield* HttpServerRequest.HttpServerRequest
      const hasBody = !["GET", "HEAD"].includes(method)
      const body = hasBody ? new Uint8Array(yield* Effect.orDie(arrayBuffer)) : new Uint8Array()
      const answer = yield* handling(handle, right, `http://${headers["host"] ?? "localhost"}`)({
        method,
        target: originalUrl,
        headers,
        body
      })
      return Script.serverResponse(Delivery.Whole({ response: answer }))
    }).pipe(
      Effect.catchAllDefect((defect) => defect instanceof BrokenOff ? Effect.succeed(badGateway) : Effect.die(defect))
    )
  })
