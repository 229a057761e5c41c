/** The service that is recorded or compared: its addresses, one exchange with it, and the proxy to it. */
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Entry from "../journal/entry.ts"
import * as Request from "../wire/request.ts"
import * as ServerResponse from "../wire/serverResponse.ts"
import { type Exchange, isSuccess } from "./exchange.ts"

/** Forwards each request to the upstream and each response to the client, unchanged, and records the exchange. */
export const proxy = (
  upstream: Upstream,
  onExchange: (exchange: Exchange) => void,
  onFailure: (failure: UpstreamFailed, request: Request.Request) => Effect.Effect<void>
) =>
  Effect.gen(function*() {
    const request = yield* Request.read(yield* HttpServerRequest.HttpServerRequest)
    if (Request.isTooLong(request)) {
      return ServerResponse.problem(413, `idv-mock record forwards at most ${Request.maxBodyBytes} bytes of a body`)
    }
    return yield* Effect.matchEffect(send(upstream, request), {
      onFailure: (failure) =>
        Effect.as(
          onFailure(failure, request),
          ServerResponse.problem(failure.problem === "slow" ? 504 : 502, failure.message)
        ),
      onSuccess: (exchange) =>
        Effect.sync(() => {
          onExchange(exchange)
          return ServerResponse.make(exchange.response)
        })
    })
  })

export interface Upstream {
  /** The address of the token endpoint, without its path. */
  readonly auth: string
  /** The address of the API, without its path. */
  readonly base: string
  readonly deadline: Duration.Duration
}

/** The upstream sent no response of the service. `field` is the flag with its address. */
export class UpstreamFailed
  extends Schema.TaggedError<UpstreamFailed>("@effect-idv/mock-server/internal/UpstreamFailed")(
    "UpstreamFailed",
    {
      field: Schema.Literal("--upstream-auth", "--upstream-base"),
      problem: Schema.Literal("down", "closed", "proxy", "certificate", "slow", "html")
    }
  )
{
  override get message() {
    return `${this.field}: ${problems[this.problem]}`
  }
}

const unreachable =
  "the upstream cannot be reached, or broke the connection: check the address, and that the service runs"

const problems = {
  down: unreachable,
  closed: unreachable,
  proxy: "the proxy makes no connection: check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, with the user and password",
  certificate: "the certificate cannot be trusted: check the address, or set NODE_EXTRA_CA_CERTS to the file of its CA",
  slow: "the upstream sent no response in time: check the address, or set a longer --deadline",
  html:
    "the upstream sent an HTML page instead of JSON: check that this is the address of the service, not of a website"
}

/** Headers of one connection, which a proxy does not forward (RFC 9110, section 7.6.1), and those that the client sets. */
const ofConnection = new Set(
  [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade"
  ]
    .concat(["expect", "accept-encoding"])
)

const forwarded = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))

export const operationOf = (target: string): Entry.Operation => Entry.operationOf(Request.pathOf(target))

/** The code of `IdvHttp` for a connection that a proxy refuses. */
const proxyFailed = "ERR_PROXY_TUNNEL"

/** The code of an error of Node, at any depth of its causes. */
const codeOf = (error: unknown): string =>
  !Predicate.isRecord(error)
    ? ""
    : typeof error["code"] === "string"
    ? error["code"]
    : codeOf(error["cause"])

/** Why there is no response. `closed`: the service closed the connection, which may be a refusal. */
const problemOf = (error: HttpClientError): UpstreamFailed["problem"] => {
  const code = codeOf(error)
  if (code === proxyFailed) return "proxy"
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT)/.test(code)) return "certificate"
  // A connection that breaks in a body is not a refusal.
  return error._tag === "RequestError" && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code) ? "closed" : "down"
}

const isHtml = ({ response: { body, headers } }: Exchange): boolean =>
  (headers["content-type"] ?? "").includes("html") || /^\s*</.test(Buffer.from(body.subarray(0, 64)).toString())

const fieldOf = (operation: Entry.Operation) => operation === "token" ? "--upstream-auth" : "--upstream-base"

/** Sends a request, and returns the exchange once the whole response has arrived. */
export const send = (
  { auth, base, deadline }: Upstream,
  request: Request.Request
): Effect.Effect<Exchange, UpstreamFailed, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
    const operation = operationOf(request.target)
    const failed = (problem: UpstreamFailed["problem"]) => new UpstreamFailed({ field: fieldOf(operation), problem })
    const method = HttpMethod.isHttpMethod(request.method) ? request.method : "GET"
    const url = `${(operation === "token" ? auth : base).replace(/\/+$/, "")}${request.target}`
    const { "content-type": contentType, ...headers } = forwarded(request.headers)
    const started = performance.now()
    const response = yield* client.execute(
      HttpClientRequest.make(method)(url, { headers }).pipe(
        request.body.length === 0
          ? HttpClientRequest.setHeaders(contentType === undefined ? {} : { "content-type": contentType })
          : HttpClientRequest.bodyUint8Array(request.body, contentType ?? "")
      )
    ).pipe(
      Effect.flatMap(({ arrayBuffer, headers, status }) =>
        Effect.map(arrayBuffer, (body) => ({ status, headers: forwarded(headers), body: new Uint8Array(body) }))
      ),
      Effect.scoped,
      Effect.mapError((error) => failed(problemOf(error))),
      Effect.timeoutFail({ duration: deadline, onTimeout: () => failed("slow") })
    )
    const exchange = {
      operation,
      url: new URL(url),
      request,
      response,
      at: yield* Clock.currentTimeMillis,
      millis: Math.round((performance.now() - started) * 10) / 10
    }
    return operation !== "other" && isSuccess(exchange) && isHtml(exchange) ? yield* failed("html") : exchange
  })
