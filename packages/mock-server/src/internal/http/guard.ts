/**
 * Protects the control API. The `Host` header of a request must name this server, because any site can make its own
 * name resolve to this machine. The request must not come from a page of another site. If the server has a control
 * token, the request must contain it.
 */
import { isLoopback } from "@effect-idv/core/Loopback"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import type * as Operation from "../operations/operation.ts"
import { server } from "../operations/server.ts"
import * as Request from "../wire/request.ts"
import * as Response from "../wire/response.ts"
import * as ServerResponse from "../wire/serverResponse.ts"

export interface Options {
  /** The address or name that the server listens on. */
  readonly host: string
  readonly token: Redacted.Redacted<string> | undefined
  /** Further names of the server, such as that of a container. */
  readonly allowedHosts: ReadonlyArray<string>
}

interface Authority {
  readonly name: string
  readonly port: string
}

/** A host name and a port, normalized as a browser does it. A user, a path or anything else makes it invalid. */
const authorityOf = (text: string): Option.Option<Authority> => {
  const url = `http://${text}`
  if (!/^[\w.:[\]-]+$/.test(text) || !URL.canParse(url)) return Option.none()
  const { hostname, port } = new URL(url)
  return Option.some({ name: hostname.replaceAll(/^\[|\]$|\.$/g, ""), port })
}

/** Checks for a colon first: `isIP` compiles a long regular expression, which slows down the start. */
const isIPv6 = (text: string): boolean => text.includes(":") && isIP(text) === 6

const nameOf = (text: string): string =>
  Option.match(authorityOf(isIPv6(text) ? `[${text}]` : text), { onNone: () => text, onSome: ({ name }) => name })

const digest = (text: string) => createHash("sha256").update(text).digest()

const isToken = (text: string, token: Redacted.Redacted<string>): boolean =>
  timingSafeEqual(digest(text), digest(Redacted.value(token)))

/**
 * Whether the user followed a link. This is safe, because it changes nothing, and the page with the link cannot read
 * the response.
 */
const isNavigation = ({ headers, method }: Received): boolean =>
  method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document"

/** Compares host and port only, because a proxy in front of this server may speak TLS. */
const isSameOrigin = (origin: string, host: Authority): boolean => {
  const text = /^https?:\/\/(.*)$/.exec(origin)?.[1]
  return text !== undefined &&
    Option.exists(authorityOf(text), ({ name, port }) => name === host.name && port === host.port)
}

/** A request to the control API, of the HTTP library or of Node. */
type Received = Pick<HttpServerRequest.HttpServerRequest, "url" | "source"> & Pick<Request.Head, "headers" | "method">

const rejections = ({ allowedHosts, host, token }: Options) => {
  const ownNames = [host, ...allowedHosts].map(nameOf)
  /**
   * Whether a host names this server. An attacker can make a name resolve to this machine, but not an IP address. So a
   * server beyond loopback accepts every address.
   */
  const namesThisServer = ({ name }: Authority): boolean =>
    ownNames.includes(name) || isLoopback(name) || !isLoopback(host) && isIP(name) !== 0

  return (request: Received): Response.Response | undefined => {
    const { headers } = request
    const authority = Option.filter(authorityOf(headers["host"] ?? ""), namesThisServer)
    // A target in absolute form takes precedence over the Host header (RFC 9112, section 3.2.2).
    const target = Request.authorityOf(request.url)
    if (Option.isNone(authority) || target !== undefined && !Option.exists(authorityOf(target), namesThisServer)) {
      return Response.problem(403, "The Host header does not name this server: see --allowed-host")
    }
    const { origin } = headers
    if (
      headers["sec-fetch-site"] === "cross-site" && !isNavigation(request) ||
      origin !== undefined && !isSameOrigin(origin, authority.value)
    ) {
      return Response.problem(403, "Pages of other sites may not use the control API")
    }
    const headersProblem = Request.headersProblem(request)
    if (Option.isSome(headersProblem)) return Response.problem(400, headersProblem.value)
    if (token === undefined || Request.healthPathOf(request.url) !== undefined) return undefined
    // A browser asks the user for a password and sends it as Basic. Programs send a Bearer token.
    const sentToken = Option.orElse(
      Request.bearer(request),
      () => Option.map(Request.basic(request), ({ customerKey }) => customerKey)
    )
    return Option.exists(sentToken, (text) => isToken(text, token))
      ? undefined
      : Response.problem(
        401,
        "The control token is missing or wrong: send it as a Bearer token, or as the password of any user",
        { "www-authenticate": "Basic realm=\"idv-mock control\", charset=\"UTF-8\"" }
      )
  }
}

export const docsPath = "/_mock/docs"

/** Security headers for browsers, on each response that does not set its own. */
const defaults = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer"
}

/** The documentation page contains its script and style inline, and may connect only to the control API. */
const docsPolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'"
].join("; ")

const healthChecks: Record<Request.HealthPath, Operation.AnyOperation> = {
  "/_mock/live": server.live,
  "/_mock/ready": server.ready
}

export interface Guarded {
  readonly app: HttpApp.Default
  /** Responds to a health check without the HTTP library, which takes seconds to load on a busy machine. */
  readonly health: (path: Request.HealthPath, request: IncomingMessage) => Effect.Effect<Response.Response>
}

/** Health checks respond without loading `app`. */
export const make = (
  options: Options,
  app: HttpApp.Default
): Effect.Effect<Guarded, never, Operation.Services> =>
  Effect.map(Effect.context<Operation.Services>(), (context) => {
    const rejectionOf = rejections(options)
    const health = (path: Request.HealthPath, request: Received): Effect.Effect<Response.Response> => {
      const rejection = rejectionOf(request)
      return rejection === undefined
        ? Effect.map(
          Effect.orDie(Effect.provide(healthChecks[path].respond({}, undefined), context)),
          ({ status, value }) => Response.json(status, value, defaults)
        )
        : Effect.succeed({ ...rejection, headers: { ...defaults, ...rejection.headers } })
    }
    const guarded = (request: HttpServerRequest.HttpServerRequest): HttpApp.Default => {
      const rejection = rejectionOf(request)
      return Effect.map(rejection === undefined ? app : Effect.succeed(ServerResponse.make(rejection)), (response) =>
        HttpServerResponse.setHeaders(response, {
          ...defaults,
          ...(Request.pathOf(request.url) === docsPath && { "content-security-policy": docsPolicy }),
          ...response.headers
        }))
    }
    return {
      app: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const path = request.method === "GET" ? Request.healthPathOf(request.url) : undefined
        return path === undefined ? guarded(request) : Effect.map(health(path, request), ServerResponse.make)
      }),
      health: (path, source) => {
        const { headers, method = "", url = "" } = source
        return health(path, { ...Request.head({ headers, method, source, url }), source, url })
      }
    }
  })
