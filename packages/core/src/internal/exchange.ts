/**
 * One request, one answer, read to its end: the only place that touches `HttpClientError`, whose
 * values hold the request with its `Authorization` header and its body.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type * as TokenError from "../TokenError.ts"
import * as Violation from "../Violation.ts"
import * as Coding from "./coding.ts"
import * as Host from "./host.ts"
import * as RetryAfter from "./retryAfter.ts"

/** What is safe to say of an answer; `host` is the `host:port` that it came from, `length` is in bytes. */
export interface Description {
  readonly host: string
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
 * whole, and cannot be seen. All requests are for `url`. `onHead` is called once the head of an answer
 * has come.
 */
export const make = Effect.fnUntraced(function*(url: string) {
  const host = Host.of(url)
  const client = yield* HttpClient.HttpClient
  const given = Option.getOrUndefined(yield* Effect.serviceOption(FetchHttpClient.RequestInit))
  const init: RequestInit = { ...given, redirect: "manual" }
  return (
    request: HttpClientRequest.HttpClientRequest,
    onHead?: () => void
  ): Effect.Effect<Answer, ConnectionFailed | BodyTooLong> => {
    const read = (response: HttpClientResponse.HttpClientResponse) => {
      onHead?.()
      return readAnswer(response, host)
    }
    return Effect.flatMap(confine(init), (release) =>
      Effect.matchCauseEffect(client.execute(request), {
        onSuccess: (response) => Effect.zipRight(release, read(response)),
        onFailure: (cause) => {
          const error = errorIn(cause)
          return Effect.zipRight(
            release,
            error === undefined
              ? gaveUp(cause, () => new ConnectionFailed({ reason: "broken" }))
              // What a status means is told here, also to a client that takes some for failures.
              : isStatusError(error)
              ? read(error.response)
              : new ConnectionFailed({ reason: reasonOf(error) })
          )
        }
      }))
  }
})

/**
 * Sets what holds for one request, and gives the effect that sets it back. Two `Effect.locally`
 * would take three times as many steps. They would also set it back after an interruption, but that
 * ends the fiber of the request, which is its own: see `Deadline.within`.
 */
const confine = (init: RequestInit) =>
  Effect.withFiberRuntime<Effect.Effect<void>>((fiber) => {
    const context = fiber.getFiberRef(FiberRef.currentContext)
    const isUntraced = fiber.getFiberRef(HttpClient.currentTracerDisabledWhen)
    return Effect.as(
      set(Context.add(context, FetchHttpClient.RequestInit, init), constTrue),
      set(context, isUntraced)
    )
  })

const set = (context: Context.Context<never>, isUntraced: Predicate.Predicate<HttpClientRequest.HttpClientRequest>) =>
  Effect.zipRight(
    FiberRef.set(FiberRef.currentContext, context),
    FiberRef.set(HttpClient.currentTracerDisabledWhen, isUntraced)
  )

const readAnswer = (response: HttpClientResponse.HttpClientResponse, host: string) => {
  const { status } = response
  // Some clients make them anew each time.
  const { headers } = response
  const head = { response, status, headers, host }
  return Effect.flatMap(
    isSuccess(head) ? readBody(head) : readErrorBody(head),
    ({ body, length }) =>
      Effect.map(RetryAfter.parse(headers["retry-after"]), (retryAfter): Answer => ({
        status,
        description: describe(head, length),
        contentType: headers["content-type"],
        wwwAuthenticate: headers["www-authenticate"],
        retryAfter,
        body
      }))
  )
}

/** As a failure, or as the defect that a client made of it. */
const errorIn = (cause: Cause.Cause<HttpClientError.HttpClientError>): HttpClientError.HttpClientError | undefined =>
  Option.getOrUndefined(Cause.failureOption(cause)) ??
    Option.getOrUndefined(Chunk.findFirst(Cause.defects(cause), HttpClientError.isHttpClientError))

/** This fiber is not interrupted, or it would not come here: the client, or something in it, gave up by itself. */
const gaveUp = <E>(cause: Cause.Cause<unknown>, error: () => E): Effect.Effect<never, E> =>
  Option.match(Cause.keepDefects(cause), { onNone: () => Effect.fail(error()), onSome: Effect.failCause })

const isStatusError = (error: HttpClientError.HttpClientError): error is HttpClientError.ResponseError =>
  error._tag === "ResponseError" && error.reason === "StatusCode"

interface Head {
  readonly host: string
  readonly response: HttpClientResponse.HttpClientResponse
  readonly status: number
  readonly headers: Headers.Headers
}

interface Body {
  readonly body: Uint8Array
  readonly length: number
}

/** The body without its compression. Both its forms are limited. */
const readBody = (head: Head): Effect.Effect<Body, ConnectionFailed | BodyTooLong> => {
  const { headers, response, status } = head
  const broken = () => new ConnectionFailed({ reason: "broken", status })
  const tooLong = (length: number) => new BodyTooLong({ description: describe(head, length) })
  const read: Effect.Effect<Uint8Array<ArrayBuffer>, BodyTooLong | HttpClientError.ResponseError> =
    isKnownToBeShort(headers)
      ? Effect.map(response.arrayBuffer, (bytes) => new Uint8Array(bytes))
      : collect(
        Stream.catchAll(response.stream, (error) => error.reason === "EmptyBody" ? Stream.empty : Stream.fail(error)),
        tooLong
      )
  return Effect.matchCauseEffect(read, {
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => gaveUp(cause, broken),
        onSome: (error) => Effect.fail(error._tag === "BodyTooLong" ? error : broken())
      }),
    onSuccess: (body) => {
      if (body.length > maxBodyBytes) return tooLong(body.length)
      const stream = Coding.decompressed(body, headers["content-encoding"], () => isFetched(response))
      return Option.isNone(stream)
        ? Effect.succeed({ body, length: body.length })
        : Effect.map(collect(Stream.mapError(stream.value, broken), tooLong), (body) => ({ body, length: body.length }))
    }
  })
}

/** Then it is read at once, which takes half as long as a stream. The framing of HTTP holds it to its length. */
const isKnownToBeShort = (headers: Headers.Headers): boolean =>
  /^\d+$/.test(headers["content-length"] ?? "") && Number(headers["content-length"]) <= maxBodyBytes &&
  headers["transfer-encoding"] === undefined && headers["content-encoding"] === undefined

/** With an error the status decides. A body that is too long, breaks off or does not end is as good as none. */
const readErrorBody = (head: Head): Effect.Effect<Body> =>
  readBody(head).pipe(
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

const collect = <E>(stream: Stream.Stream<Uint8Array, E>, tooLong: (length: number) => BodyTooLong) =>
  stream.pipe(
    Stream.runFoldEffect({ length: 0, chunks: Arr.empty<Uint8Array>() }, (read, chunk) => {
      const length = read.length + chunk.length
      if (length > maxBodyBytes) return tooLong(length)
      read.chunks.push(chunk)
      return Effect.succeed({ length, chunks: read.chunks })
    }),
    Effect.map(({ chunks, length }) => {
      const whole = new Uint8Array(length)
      let at = 0
      for (const chunk of chunks) {
        whole.set(chunk, at)
        at += chunk.length
      }
      return whole
    })
  )

/** The media types worth telling apart. Any other is the service's own words, and so not repeated. */
const mediaTypes =
  /^(application\/json|application\/problem\+json|text\/html|text\/plain|application\/xml|text\/xml)(?=\s*(;|$))/i

const describe = ({ headers, host, status }: Head, length: number): Description => {
  const contentType = headers["content-type"]
  return {
    host,
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
