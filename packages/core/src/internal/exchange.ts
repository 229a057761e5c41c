/**
 * One request, one answer, read to its end: the only place that touches `HttpClientError`, whose
 * values hold the request with its `Authorization` header and its body.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type * as TokenError from "../TokenError.ts"
import * as Violation from "../Violation.ts"
import * as Coding from "./coding.ts"
import * as RetryAfter from "./retryAfter.ts"

/** What is safe to say of an answer; `length` is in bytes. */
export interface Description {
  readonly status: number
  readonly contentType?: string
  readonly length: number
}

/** An answer with all of its body: the bytes as they came, but for their `Content-Encoding`. */
export interface Answer {
  readonly status: number
  readonly description: Description
  readonly contentType: string | undefined
  readonly wwwAuthenticate: string | undefined
  readonly retryAfter: Duration.Duration | undefined
  readonly body: Uint8Array
}

/** The connection failed. `status` is there if the head of an answer had come. */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<{
  readonly reason: Exclude<TokenError.Reason, "status">
  readonly status?: number
}> {}

/** More than any answer of the service has reason to hold: 1 MiB. */
const maxBodyBytes = 1024 * 1024

/** The body of the answer is too long; the rest of it was not read. */
export class BodyTooLong extends Data.TaggedError("BodyTooLong")<{ readonly description: Description }> {
  readonly violations = Violation.whole(`at most ${maxBodyBytes} bytes`)
}

/** A 2xx. No other status carries a token or a credential. */
export const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status <= 299

/**
 * No tracing of its own, for spans of an HTTP client show headers, and no trace headers on the
 * wire, for the service is somebody else's. No redirect is followed, by `fetch` neither, for it
 * would take the body, and with some clients the token, to another origin. The rest of a `RequestInit`
 * stays, if it is provided here too: the one that a `fetch` client took with it is overridden as a
 * whole, and cannot be seen.
 */
export const make = Effect.gen(function*() {
  const client = HttpClient.withTracerDisabledWhen(yield* HttpClient.HttpClient, () => true)
  const init = Option.getOrUndefined(yield* Effect.serviceOption(FetchHttpClient.RequestInit))
  return (
    request: HttpClientRequest.HttpClientRequest,
    options?: { readonly onHead?: Effect.Effect<void> }
  ): Effect.Effect<Answer, ConnectionFailed | BodyTooLong> =>
    client.execute(request).pipe(
      Effect.provideService(FetchHttpClient.RequestInit, { ...init, redirect: "manual" }),
      Effect.catchSomeDefect((defect) =>
        HttpClientError.isHttpClientError(defect) ? Option.some(Effect.fail(defect)) : Option.none()
      ),
      // What a status means is told here, also to a client that takes some for failures.
      Effect.catchIf(isStatusError, ({ response }) => Effect.succeed(response)),
      Effect.mapError((error) => new ConnectionFailed({ reason: reasonOf(error) })),
      orGaveUp(() => new ConnectionFailed({ reason: "broken" })),
      Effect.tap(() => options?.onHead ?? Effect.void),
      Effect.flatMap((response) =>
        Effect.zipWith(
          isSuccess(response) ? readBody(response) : readErrorBody(response),
          RetryAfter.parse(response.headers["retry-after"]),
          ({ body, length }, retryAfter): Answer => ({
            status: response.status,
            description: describe(response, length),
            contentType: response.headers["content-type"],
            wwwAuthenticate: response.headers["www-authenticate"],
            retryAfter,
            body
          })
        )
      )
    )
})

/** If this fiber is interrupted nothing is caught: the client, or something in it, gave up by itself. */
const orGaveUp = (error: () => ConnectionFailed) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchSomeCause(
    effect,
    (cause) => Cause.isInterruptedOnly(cause) ? Option.some(error()) : Option.none()
  )

const isStatusError = (error: unknown): error is HttpClientError.ResponseError =>
  HttpClientError.isHttpClientError(error) && error._tag === "ResponseError" && error.reason === "StatusCode"

interface Body {
  readonly body: Uint8Array
  readonly length: number
}

/** The body without its compression. Both its forms are limited. */
const readBody = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Body, ConnectionFailed | BodyTooLong> => {
  const broken = () => new ConnectionFailed({ reason: "broken", status: response.status })
  const read: Effect.Effect<Uint8Array<ArrayBuffer>, BodyTooLong | HttpClientError.ResponseError> =
    isKnownToBeShort(response)
      ? Effect.map(response.arrayBuffer, (bytes) => new Uint8Array(bytes))
      : collect(response)(
        Stream.catchAll(response.stream, (error) => error.reason === "EmptyBody" ? Stream.empty : Stream.fail(error))
      )
  return read.pipe(
    Effect.mapError((error) => error._tag === "BodyTooLong" ? error : broken()),
    Effect.filterOrFail(
      ({ length }) => length <= maxBodyBytes,
      ({ length }) => new BodyTooLong({ description: describe(response, length) })
    ),
    Effect.flatMap((body) =>
      Option.match(Coding.decompressed(body, response.headers["content-encoding"], isFetched(response)), {
        onNone: () => Effect.succeed(body),
        onSome: (stream) => collect(response)(Stream.mapError(stream, broken))
      })
    ),
    Effect.map((body) => ({ body, length: body.length })),
    orGaveUp(broken)
  )
}

/** Then it is read at once, which takes half as long as a stream. The framing of HTTP holds it to its length. */
const isKnownToBeShort = ({ headers }: HttpClientResponse.HttpClientResponse): boolean =>
  /^\d+$/.test(headers["content-length"] ?? "") && Number(headers["content-length"]) <= maxBodyBytes &&
  headers["transfer-encoding"] === undefined && headers["content-encoding"] === undefined

/** With an error the status decides. A body that is too long, breaks off or does not end is as good as none. */
const readErrorBody = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<Body> =>
  readBody(response).pipe(
    Effect.timeout(errorBodyDeadline),
    Effect.catchAll((error) =>
      Effect.succeed({ body: new Uint8Array(), length: "description" in error ? error.description.length : 0 })
    )
  )

const errorBodyDeadline = Duration.seconds(2)

/** Whether `fetch` made it, which the platform shows only here, below whatever wraps it. */
const isFetched = (response: object): boolean =>
  Predicate.hasProperty(response, "original") && Predicate.isObject(response.original)
    ? isFetched(response.original)
    : Predicate.hasProperty(response, "source") && response.source instanceof Response

const collect = (response: HttpClientResponse.HttpClientResponse) => <E>(stream: Stream.Stream<Uint8Array, E>) =>
  stream.pipe(
    Stream.runFoldEffect({ length: 0, chunks: Arr.empty<Uint8Array>() }, (read, chunk) => {
      const length = read.length + chunk.length
      if (length > maxBodyBytes) return new BodyTooLong({ description: describe(response, length) })
      read.chunks.push(chunk)
      return Effect.succeed({ length, chunks: read.chunks })
    }),
    Effect.map(({ chunks }) => new Uint8Array(Buffer.concat(chunks)))
  )

/** The media types worth telling apart. Any other is the service's own words, and so not repeated. */
const mediaTypes =
  /^(application\/json|application\/problem\+json|text\/html|text\/plain|application\/xml|text\/xml)(?=\s*(;|$))/i

const describe = ({ headers, status }: HttpClientResponse.HttpClientResponse, length: number): Description => {
  const contentType = headers["content-type"]
  return {
    status,
    length,
    ...(contentType !== undefined && { contentType: mediaTypes.exec(contentType)?.[0].toLowerCase() ?? "other" })
  }
}

/**
 * With all but `broken`, nothing of the request can have arrived. An error that TLS reports after
 * the handshake, or the network after the connection, counts as `broken`: it looks the same before
 * and after sending.
 */
const reasonOf = (error: unknown, depth = 0): ConnectionFailed["reason"] => {
  const code = Predicate.hasProperty(error, "code") ? String(error.code) : ""
  const isConnecting = Predicate.hasProperty(error, "syscall") && error.syscall === "connect"
  if (/^(ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT)$/.test(code)) return "unreachable"
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code) && isConnecting) return "unreachable"
  if (/^(ENOTFOUND|EAI_.*)$/.test(code)) return "dns"
  if (/CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/.test(code)) return "certificate"
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return "tls"
  return Predicate.hasProperty(error, "cause") && depth < 5 ? reasonOf(error.cause, depth + 1) : "broken"
}
