/** Sends a request and receives the response as it is on the wire: the status, the headers and the bytes. */
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
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { setTimeout } from "node:timers/promises"
import type { Cause, Exchange, NoResponse, Request } from "../exchange.ts"

const methods: ReadonlyArray<HttpMethod> = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"]

/** Waits in real time between two packets, for longer than a socket waits to join them. */
const pause = Effect.promise(() => setTimeout(30))

const piecesOf = (body: string): Stream.Stream<Uint8Array> => {
  const bytes = Buffer.from(body)
  const splitAt = bytes.findIndex((byte) => byte > 0x7f) + 1
  return Stream.concat(
    Stream.make(bytes.subarray(0, splitAt)),
    Stream.fromEffect(Effect.as(pause, bytes.subarray(splitAt)))
  )
}

const bodyOf = ({ body, contentType, inPieces }: Request) =>
  body === undefined
    ? HttpBody.empty
    : inPieces === true
    ? HttpBody.stream(piecesOf(body), contentType, Buffer.byteLength(body))
    : contentType === undefined
    ? HttpBody.raw(body, { contentLength: Buffer.byteLength(body) })
    : HttpBody.uint8Array(Buffer.from(body), contentType)

/** The longest body that is read, in bytes. A documented response has less than a thousandth of it. */
const limit = 1024 * 1024

/** Whether the stated length is within the limit. It is the length of the body only if nothing is decompressed. */
const isShort = ({ headers }: HttpClientResponse): boolean =>
  headers["content-encoding"] === undefined && Number(headers["content-length"] ?? Infinity) <= limit

const isEmpty = (error: HttpClientError): boolean => error._tag === "ResponseError" && error.reason === "EmptyBody"

/** The bytes, or none if there are too many. Then the rest is not read. */
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

const Manifest = Schema.parseJson(Schema.Struct({ version: Schema.String }))

/** The name and the version of this program, so that an operator can tell its requests from others. */
const userAgent = `idv-contract/${
  Schema.decodeSync(Manifest)(
    // The package is found by its name, because `idv-mock` is published with this module inside a bundle.
    readFileSync(createRequire(import.meta.url).resolve("@effect-idv/contract/package.json"), "utf8")
  ).version
}`

const noResponse = (reason: NoResponse["reason"], cause: Cause): Exchange => ({ _tag: "NoResponse", reason, cause })

const notHttp = "HTTPParserError"
const proxyFailed = "ERR_PROXY_TUNNEL"

/** The code of an error of Node, at any depth of its causes. */
const codeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return ""
  // This error contains the status of the proxy.
  if ("code" in error && error.code === proxyFailed && "statusCode" in error) {
    return `${proxyFailed} ${error.statusCode}`
  }
  if ("code" in error && typeof error.code === "string") return error.code
  // The parser of undici sets no code if the response does not begin as HTTP does.
  if (error instanceof Error && error.name === notHttp) return notHttp
  if ("errors" in error && Array.isArray(error.errors)) return codeOf(error.errors[0])
  return "cause" in error ? codeOf(error.cause) : ""
}

const connectionCauses: ReadonlyArray<readonly [codes: RegExp, cause: Cause]> = [
  [/^(ENOTFOUND|EAI_)/, "name resolution failed"],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)/, "connection refused"],
  [/^(HTTPParserError|HPE_)/, "a response that is not HTTP"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)/, "connection closed"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "certificate of another host"],
  [/^ERR_PROXY_TUNNEL 407$/, "user and password refused by a proxy"],
  [/^ERR_PROXY_TUNNEL/, "refused by a proxy"],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, "certificate expired"],
  [/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|INVALID_CA)/, "certificate not trusted"],
  [/^(ERR_TLS|ERR_SSL|EPROTO|ERR_OSSL)/, "TLS failed"]
]

const causeOf = (error: HttpClientError): Cause => {
  const code = codeOf(error.cause)
  return connectionCauses.find(([codes]) => codes.test(code))?.[1] ??
    (error._tag === "ResponseError" ? "connection closed" : "no connection")
}

/**
 * Sends a request once. It never fails: without a complete response, the exchange says why. Whether
 * redirects are followed is up to the client; the usual ones do not follow them.
 */
export const send = (
  request: Request,
  deadline: Duration.DurationInput
): Effect.Effect<Exchange, never, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
    const sentAt = yield* Clock.currentTimeMillis
    const method = methods.find((method) => method === request.method) ?? "POST"
    const url = new URL(request.url)
    if (request.query !== undefined) url.search = request.query
    const response = yield* client.execute(
      HttpClientRequest.make(method)(url, {
        // A compressed body could be short on the wire and endless once decompressed.
        headers: { "accept-encoding": "identity", "user-agent": userAgent, ...request.headers },
        body: bodyOf(request)
      })
    )
    const body = yield* bytesOf(response)
    const receivedAt = yield* Clock.currentTimeMillis
    return Option.match(body, {
      onNone: () => noResponse("too long", "response of more than 1 MiB"),
      onSome: (body): Exchange => ({
        _tag: "Response",
        url,
        status: response.status,
        headers: response.headers,
        body,
        receivedAt,
        millis: receivedAt - sentAt
      })
    })
  }).pipe(
    Effect.catchAll((error) =>
      Effect.succeed(noResponse(error._tag === "ResponseError" ? "broken answer" : "no answer", causeOf(error)))
    ),
    Effect.timeoutTo({
      duration: deadline,
      onSuccess: (exchange) => exchange,
      onTimeout: () => noResponse("late answer", "no response in time")
    }),
    Effect.withTracerEnabled(false)
  )
