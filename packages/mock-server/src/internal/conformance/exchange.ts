/** One exchange as it is on the wire: the status, the headers and the bytes, as nobody has read them yet. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** An answer, whole. `at` is when it was there, in milliseconds since 1970. */
export interface Answered {
  readonly _tag: "Answered"
  readonly url: URL
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly at: number
}

/** There is none, or only a part of it. */
export interface Unanswered {
  readonly _tag: "Unanswered"
  readonly why: "no answer" | "late answer" | "broken answer"
}

export type Exchange = Answered | Unanswered

export interface Request {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly contentType?: string | undefined
  readonly body?: string | undefined
}

const methods: ReadonlyArray<HttpMethod> = ["GET", "PUT", "POST", "DELETE"]

const bodyOf = ({ body, contentType }: Request) =>
  body === undefined
    ? HttpBody.empty
    : contentType === undefined
    ? HttpBody.raw(body, { contentLength: Buffer.byteLength(body) })
    : HttpBody.uint8Array(Buffer.from(body), contentType)

const unanswered = ({ _tag }: HttpClientError): Unanswered => ({
  _tag: "Unanswered",
  why: _tag === "ResponseError" ? "broken answer" : "no answer"
})

/** Sends a request once. Redirects are not followed; that would be up to the client given. */
export const send = (
  request: Request,
  deadline: Duration.DurationInput
): Effect.Effect<Exchange, never, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
    const method = methods.find((method) => method === request.method) ?? "POST"
    const response = yield* client.execute(
      HttpClientRequest.make(method)(request.url, { headers: request.headers, body: bodyOf(request) })
    )
    const body = new Uint8Array(yield* response.arrayBuffer)
    const answered: Exchange = {
      _tag: "Answered",
      url: request.url,
      status: response.status,
      headers: response.headers,
      body,
      at: yield* Clock.currentTimeMillis
    }
    return answered
  }).pipe(
    Effect.catchAll((error) => Effect.succeed<Exchange>(unanswered(error))),
    Effect.timeoutTo({
      duration: deadline,
      onSuccess: (exchange) => exchange,
      onTimeout: (): Exchange => ({ _tag: "Unanswered", why: "late answer" })
    }),
    Effect.withTracerEnabled(false)
  )
