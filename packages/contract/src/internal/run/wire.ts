/** One exchange as it is on the wire: the status, the headers and the bytes, as nobody has read them yet. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** An answer, whole. `at` is when it was there, in milliseconds since 1970. */
export interface Answered {
  readonly _tag: "Answered"
  readonly url: URL
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly at: number
}

/** There is none, or only a part of it, or more than is read. */
export interface Unanswered {
  readonly _tag: "Unanswered"
  readonly why: "no answer" | "late answer" | "broken answer" | "too long"
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

/** In bytes. No answer of the document is a thousandth of it. */
const limit = 1024 * 1024

/** Whether a length that is stated can be believed: nothing is unpacked on the way. */
const isShort = ({ headers }: HttpClientResponse): boolean =>
  headers["content-encoding"] === undefined && Number(headers["content-length"] ?? Infinity) <= limit

const isEmpty = (error: HttpClientError): boolean => error._tag === "ResponseError" && error.reason === "EmptyBody"

/** The bytes, or none where there are too many: then the rest is not waited for. */
const bytesOf = (response: HttpClientResponse): Effect.Effect<Option.Option<Uint8Array>, HttpClientError> =>
  isShort(response)
    ? Effect.map(response.arrayBuffer, (buffer) => Option.some(new Uint8Array(buffer)))
    : Effect.gen(function*() {
      const chunks: Array<Uint8Array> = []
      let length = 0
      const keep = (chunk: Uint8Array) =>
        Effect.sync(() => {
          length += chunk.length
          chunks.push(chunk)
          return length <= limit
        })
      yield* Effect.catchIf(Stream.runForEachWhile(response.stream, keep), isEmpty, () => Effect.void)
      return length <= limit ? Option.some(new Uint8Array(Buffer.concat(chunks))) : Option.none()
    })

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
      HttpClientRequest.make(method)(request.url, {
        // A body that is packed may be small on the wire and endless here.
        headers: { "accept-encoding": "identity", ...request.headers },
        body: bodyOf(request)
      })
    )
    const body = yield* bytesOf(response)
    const at = yield* Clock.currentTimeMillis
    return Option.match(body, {
      onNone: (): Exchange => ({ _tag: "Unanswered", why: "too long" }),
      onSome: (body): Exchange => ({
        _tag: "Answered",
        url: request.url,
        status: response.status,
        headers: response.headers,
        body,
        at
      })
    })
  }).pipe(
    Effect.catchAll((error) => Effect.succeed<Exchange>(unanswered(error))),
    Effect.timeoutTo({
      duration: deadline,
      onSuccess: (exchange) => exchange,
      onTimeout: (): Exchange => ({ _tag: "Unanswered", why: "late answer" })
    }),
    Effect.withTracerEnabled(false)
  )
