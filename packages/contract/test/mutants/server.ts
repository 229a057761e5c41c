/** Serves a mutant in process or on a socket, in front of a mock server in process. */
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
import * as Messages from "./messages.ts"
import type * as Model from "./model.ts"

/** The mock server broke the connection, as a fault demands. Mutants do not change that. */
class ConnectionBroken extends Data.Error<{ readonly error: HttpClientError }> {}

const methods: ReadonlyArray<HttpMethod> = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]

const bodyOf = ({ body, method }: Model.Request): HttpBody.HttpBody =>
  body.length === 0 && ["GET", "HEAD"].includes(method)
    ? HttpBody.empty
    : HttpBody.raw(body, { contentLength: body.length })

/** Removes the headers about the length of the body, because a mutant may change the body. */
const unframed = (headers: Model.Request["headers"]): Model.Request["headers"] =>
  Record.filter(headers, (_, name) => name !== "content-length" && name !== "transfer-encoding")

const serveWith = (client: HttpClient.HttpClient, origin: string): Model.Serve => (request) =>
  Effect.gen(function*() {
    const method = methods.find((method) => method === request.method) ?? "POST"
    const response = yield* HttpClientRequest.make(method)(`${origin}${request.target}`).pipe(
      HttpClientRequest.setHeaders(unframed(request.headers)),
      HttpClientRequest.setBody(bodyOf(request)),
      client.execute
    )
    const body = new Uint8Array(yield* response.arrayBuffer)
    return { status: response.status, headers: unframed(response.headers), body }
  }).pipe(Effect.catchAll((error) => Effect.die(new ConnectionBroken({ error }))))

const handleWith =
  (handle: Model.Handler, client: HttpClient.HttpClient, origin: string) => (request: Model.Request) => {
    const serve = serveWith(client, origin)
    return Messages.isControl(request) ? serve(request) : handle(request, serve)
  }

const bytesOf = (body: HttpBody.HttpBody): Effect.Effect<Uint8Array> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(new Uint8Array())
    case "Uint8Array":
      return Effect.succeed(body.body)
    case "Stream":
      return Effect.map(
        Stream.runFold(Stream.orDie(body.stream), Messages.utf8(""), (all, more) => Buffer.concat([all, more])),
        (all) => new Uint8Array(all)
      )
    case "Raw":
      return typeof body.body === "string"
        ? Effect.succeed(Messages.utf8(body.body))
        : body.body instanceof Uint8Array
        ? Effect.succeed(body.body)
        : Effect.dieMessage("A mutant accepts a raw body as text or bytes only")
    case "FormData":
      return Effect.dieMessage("A mutant accepts no FormData")
  }
}

/** The global `Response` of the platform. It refuses a body for statuses without one. */
const responseOf = ({ body, headers, status }: Model.Response): Response =>
  new Response([204, 205, 304].includes(status) ? null : new Uint8Array(body), { status, headers })

/** The HTTP client of a mutant, in front of the mock server of the context. */
export const client = (wrap: Model.Wrapper): Effect.Effect<HttpClient.HttpClient, never, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const mockServer = yield* HttpClient.HttpClient
    const handle = yield* wrap
    return HttpClient.make((request, url) =>
      Effect.gen(function*() {
        const { headers, method } = request
        const body = yield* bytesOf(request.body)
        const mutantRequest = { method, target: `${url.pathname}${url.search}`, headers, body }
        const response = yield* handleWith(handle, mockServer, url.origin)(mutantRequest)
        return HttpClientResponse.fromWeb(request, responseOf(response))
      }).pipe(
        Effect.catchSomeDefect((defect) =>
          defect instanceof ConnectionBroken ? Option.some(Effect.fail(defect.error)) : Option.none()
        )
      )
    )
  })

/** Without a length, Node sends an empty body as chunks. These statuses have no body, and so no length. */
const serverResponseOf = ({ body, headers, status }: Model.Response): HttpServerResponse.HttpServerResponse =>
  body.length > 0
    ? HttpServerResponse.uint8Array(body, { status, headers, contentType: headers["content-type"] })
    : HttpServerResponse.empty({
      status,
      headers: [204, 304].includes(status) ? headers : { ...headers, "content-length": "0" }
    })

const badGateway = HttpServerResponse.empty({ status: 502 })

/** The same as an app for a socket. A broken connection becomes a 502. */
export const app = (wrap: Model.Wrapper) =>
  Effect.gen(function*() {
    const mockServer = yield* HttpClient.HttpClient
    const handle = yield* wrap
    return Effect.gen(function*() {
      const { arrayBuffer, headers, method, originalUrl } = yield* HttpServerRequest.HttpServerRequest
      const hasBody = !["GET", "HEAD"].includes(method)
      const body = hasBody ? new Uint8Array(yield* Effect.orDie(arrayBuffer)) : new Uint8Array()
      const response = yield* handleWith(handle, mockServer, `http://${headers["host"] ?? "localhost"}`)({
        method,
        target: originalUrl,
        headers,
        body
      })
      return serverResponseOf(response)
    }).pipe(
      Effect.catchAllDefect((defect) =>
        defect instanceof ConnectionBroken ? Effect.succeed(badGateway) : Effect.die(defect)
      )
    )
  })
