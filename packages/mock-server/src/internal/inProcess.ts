import * as Headers from "@effect/platform/Headers"
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/**
 * A client whose every request is answered by `app`, in the fiber that sends it: no socket, no
 * other runtime, and so the same clock.
 */
export const client = (app: HttpApp.Default): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const body = yield* bodyOf(request.body)
      const { headers, method } = request
      const source = new Request(url, { method, headers, ...(body !== undefined && { body, duplex: "half" }) })
      const response = yield* app.pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(source).modify({ headers: Headers.set(headers, "host", url.host) })
        ),
        Effect.scoped
      )
      return HttpClientResponse.fromWeb(request, HttpServerResponse.toWeb(response))
    })
  )

const bodyOf = (body: HttpBody.HttpBody) => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed(undefined)
    case "Uint8Array":
      return Effect.succeed(body.body)
    case "FormData":
      return Effect.succeed(body.formData)
    case "Stream":
      return Stream.toReadableStreamEffect(Stream.orDie(body.stream))
    case "Raw":
      return typeof body.body === "string" || body.body instanceof Uint8Array
        ? Effect.succeed(body.body)
        : Effect.dieMessage("In process, a raw body must be text or bytes")
  }
}
