/**
 * Sends one request and reads its whole response. Apart from the HTTP client itself, no other module uses
 * `HttpClientError`, because its values contain the request with its `Authorization` header and its body.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type * as TokenError from "../../TokenError.ts"
import * as Violation from "../../Violation.ts"
import * as Address from "../schema/address.ts"
import * as Coding from "./coding.ts"
import * as RetryAfter from "./retryAfter.ts"
import * as Transport from "./transport.ts"
import { userAgent } from "./version.ts"

/** The properties of a response that are safe to report. */
export interface Description {
  /** The `host:port` of the request. */
  readonly host: string
  readonly status: number
  /** One of a few known media types, or `other`. */
  readonly contentType?: string
  /** Of the body, in bytes. */
  readonly length: number
}

/** A response with its whole body. */
export interface CompleteResponse {
  readonly status: number
  readonly description: Description
  readonly contentType: string | undefined
  readonly wwwAuthenticate: string | undefined
  readonly retryAfter: Duration.Duration | undefined
  /** The body after decompression. */
  readonly body: Uint8Array
}

/** The connection failed. `status` is set if the head of a response had arrived, or if a proxy refused the connection. */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<{
  readonly reason: Exclude<TokenError.Reason, "status">
  readonly status?: number
}> {}

/** The body of the response is too long. The rest of it was not read. */
export class BodyTooLong extends Data.TaggedError("BodyTooLong")<{ readonly description: Description }> {
  readonly violations = Violation.whole(`at most ${Transport.maxBytes} bytes`)
}

/** Whether the status is a 2xx. No other response contains a token or a credential. */
export const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status <= 299

/** Receives the events of a request. */
export interface Observer extends Transport.Observer {
  /** The client receives the request, which counts as sent from now on. If this returns `false`, it must not be sent. */
  readonly requestPassed: () => boolean
  /** The head of the response has arrived. */
  readonly responseStarted: () => void
}

/** Sends a request. */
export type Send = (
  request: HttpClientRequest.HttpClientRequest,
  observer?: Observer
) => Effect.Effect<CompleteResponse, ConnectionFailed | BodyTooLong>

/**
 * Returns a function that sends requests to `url`.
 *
 * - The HTTP client makes no span, because its spans show headers, and sends no trace headers, because the service
 *   belongs to another organisation.
 * - Redirects are not followed, not even by `fetch`: a redirect would send the body, and with some clients the token,
 *   to another origin. A `RequestInit` in the context of this effect is kept, except for its `redirect`. A
 *   `RequestInit` that was provided only to a `fetch` client is replaced, because this module cannot read it.
 *
 * `pool` is the pool of connections of `IdvHttp`. Other clients have one for all requests.
 */
export const make = Effect.fnUntraced(function*(url: string, pool: Transport.Outgoing["pool"]) {
  const host = Address.hostOf(url)
  const client = yield* HttpClient.HttpClient
  const providedInit = Option.getOrUndefined(yield* Effect.serviceOption(FetchHttpClient.RequestInit))
  const withInit = Context.make(FetchHttpClient.RequestInit, { ...providedInit, redirect: "manual" as const })
  const send: Send = (request, observer) => {
    const read = (response: HttpClientResponse.HttpClientResponse) => {
      observer?.responseStarted()
      return readResponse(response, host)
    }
    const readAfterFailure = (cause: Cause.Cause<HttpClientError.HttpClientError>) => {
      const error = errorIn(cause)
      return error === undefined
        ? failOrDie(cause, () => new ConnectionFailed({ reason: "broken" }))
        // Some clients fail for some statuses. This module decides what a status means.
        : isStatusError(error)
        ? read(error.response)
        : new ConnectionFailed(failureOf(error))
    }
    return Effect.withFiberRuntime((fiber) => {
      if (observer?.requestPassed() === false) return Effect.interrupt
      const fiberRefs = fiber.getFiberRefs()
      const restore = Effect.updateFiberRefs(() => fiberRefs)
      return Effect.zipRight(
        setForRequest(
          Context.merge(fiber.currentContext, Context.add(withInit, Transport.Current, { pool, observer }))
        ),
        Effect.matchCauseEffect(client.execute(HttpClientRequest.setHeader(request, "user-agent", userAgent)), {
          onSuccess: (response) => Effect.zipRight(restore, read(response)),
          onFailure: (cause) => Effect.zipRight(restore, readAfterFailure(cause))
        })
      )
    })
  }
  return send
})

/**
 * Sets the context, and turns tracing off, in one copy of the `FiberRef`s. `Effect.locally` and a provided context make
 * four, which take a fifth of the time of a check. An interruption restores nothing, but it ends the fiber, see
 * `Deadline.within`.
 */
const setForRequest = (context: Context.Context<never>): Effect.Effect<void> =>
  Effect.updateFiberRefs((fiberId, fiberRefs) =>
    FiberRefs.updateManyAs(fiberRefs, {
      entries: [
        [FiberRef.currentContext, [[fiberId, context]]],
        [HttpClient.currentTracerDisabledWhen, [[fiberId, constTrue]]]
      ]
    })
  )

const readResponse = (response: HttpClientResponse.HttpClientResponse, host: string) => {
  const { status } = response
  // Some clients build the headers at each access.
  const { headers } = response
  const head = { response, status, headers, host }
  const complete = ({ body, length }: Body, retryAfter: Duration.Duration | undefined): CompleteResponse => ({
    status,
    description: describe(head, length),
    contentType: headers["content-type"],
    wwwAuthenticate: headers["www-authenticate"],
    retryAfter,
    body
  })
  const retryAfter = headers["retry-after"]
  const read = isSuccess(head) ? readBody(head) : readErrorBody(head)
  return retryAfter === undefined
    ? Effect.map(read, (body) => complete(body, undefined))
    : Effect.zipWith(read, RetryAfter.parse(retryAfter), complete)
}

/** A client may report its error as a failure or as a defect. */
const errorIn = (cause: Cause.Cause<HttpClientError.HttpClientError>): HttpClientError.HttpClientError | undefined =>
  Option.getOrUndefined(Cause.failureOption(cause)) ??
    Option.getOrUndefined(Chunk.findFirst(Cause.defects(cause), HttpClientError.isHttpClientError))

/**
 * Dies with the defects of the cause, or fails with `error` if there are none: then the client has interrupted its own
 * request, because this fiber still runs.
 */
const failOrDie = <E>(cause: Cause.Cause<unknown>, error: () => E): Effect.Effect<never, E> =>
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

/** Reads and decompresses the body. The limit applies before and after the decompression. */
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
        onNone: () => failOrDie(cause, broken),
        onSome: (error) => Effect.fail(error._tag === "BodyTooLong" ? error : broken())
      }),
    onSuccess: (body) => {
      if (body.length > Transport.maxBytes) return tooLong(body.length)
      const stream = Coding.decompress(body, headers["content-encoding"], () => fetched(response))
      return Option.isNone(stream)
        ? Effect.succeed({ body, length: body.length })
        : Effect.map(collect(Stream.mapError(stream.value, broken), tooLong), (body) => ({ body, length: body.length }))
    }
  })
}

/**
 * Whether the headers state a length within the limit. HTTP ends such a body at its `Content-Length`, so it cannot
 * exceed the limit. It is read without a stream, in half the time.
 */
const isKnownToBeShort = (headers: Headers.Headers): boolean =>
  /^\d+$/.test(headers["content-length"] ?? "") && Number(headers["content-length"]) <= Transport.maxBytes &&
  headers["transfer-encoding"] === undefined && headers["content-encoding"] === undefined

/**
 * Reads the body of an error response. The status alone decides which error it is, so a body that is too long,
 * incomplete or late counts as empty.
 */
const readErrorBody = (head: Head): Effect.Effect<Body> =>
  readBody(head).pipe(
    Effect.timeout(errorBodyDeadline),
    Effect.catchAll((error) =>
      Effect.succeed({ body: new Uint8Array(), length: "description" in error ? error.description.length : 0 })
    )
  )

const errorBodyDeadline = Duration.seconds(2)

/** The response of `fetch`, if it is one. The platform shows it only in `source`, below all wrappers. */
const fetched = (response: object): Response | undefined =>
  Predicate.hasProperty(response, "original") && Predicate.isObject(response.original)
    ? fetched(response.original)
    : Predicate.hasProperty(response, "source") && response.source instanceof Response
    ? response.source
    : undefined

const collect = <E>(stream: Stream.Stream<Uint8Array, E>, tooLong: (length: number) => BodyTooLong) =>
  stream.pipe(
    Stream.runFoldEffect({ length: 0, chunks: Arr.empty<Uint8Array>() }, (read, chunk) => {
      const length = read.length + chunk.length
      if (length > Transport.maxBytes) return tooLong(length)
      read.chunks.push(chunk)
      return Effect.succeed({ length, chunks: read.chunks })
    }),
    Effect.map(({ chunks }) => Transport.concat(chunks))
  )

/** The media types that errors report. Any other text of the service is not repeated. */
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
 * The codes of Node for the checks of the server's certificate, which the client makes before it sends anything. The list
 * is exact, because an alert of the server about the client's certificate may come after the request.
 */
const certificateCodes: ReadonlySet<string> = new Set(
  ("CERT_CHAIN_TOO_LONG CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REJECTED CERT_REVOKED CERT_SIGNATURE_FAILURE " +
    "CERT_UNTRUSTED CRL_HAS_EXPIRED CRL_NOT_YET_VALID CRL_SIGNATURE_FAILURE DEPTH_ZERO_SELF_SIGNED_CERT " +
    "ERROR_IN_CERT_NOT_AFTER_FIELD ERROR_IN_CERT_NOT_BEFORE_FIELD ERROR_IN_CRL_LAST_UPDATE_FIELD " +
    "ERROR_IN_CRL_NEXT_UPDATE_FIELD ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH INVALID_CA INVALID_PURPOSE " +
    "PATH_LENGTH_EXCEEDED SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY " +
    "UNABLE_TO_DECRYPT_CERT_SIGNATURE UNABLE_TO_DECRYPT_CRL_SIGNATURE UNABLE_TO_GET_CRL UNABLE_TO_GET_ISSUER_CERT " +
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE").split(" ")
)

/**
 * The reason for the message. `Progress` decides whether the request was sent: an error of TLS, such as an alert or a
 * record that is not valid, looks the same before and after the request.
 */
const failureOf = (error: unknown, depth = 0): ConstructorParameters<typeof ConnectionFailed>[0] => {
  const code = Predicate.hasProperty(error, "code") ? String(error.code) : ""
  const isConnecting = Predicate.hasProperty(error, "syscall") && error.syscall === "connect"
  if (/^(ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT)$/.test(code)) return { reason: "unreachable" }
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code) && isConnecting) return { reason: "unreachable" }
  if (/^(ENOTFOUND|EAI_.*)$/.test(code)) return { reason: "dns" }
  if (certificateCodes.has(code)) return { reason: "certificate" }
  if (/^(ERR_SSL_|EPROTO$)/.test(code)) return { reason: "tls" }
  if (code === Transport.proxyFailed) {
    const status = Predicate.hasProperty(error, "statusCode") ? error.statusCode : undefined
    return { reason: "proxy", ...(typeof status === "number" && { status }) }
  }
  return Predicate.hasProperty(error, "cause") && depth < 5 ? failureOf(error.cause, depth + 1) : { reason: "broken" }
}
