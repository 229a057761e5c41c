/**
 * Who may use the control plane: a host that is this server's own (or a page of any site could have
 * its name resolve to it), a page of its own, and whoever has the token, if there is one.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import { isIP } from "node:net"
import * as Problem from "../http/problem.ts"
import * as Request from "../http/request.ts"

/**
 * - `host`: the one that the server listens on.
 * - `allowedHosts`: other names that it is reached by, such as that of a container.
 */
export interface Options {
  readonly host: string
  readonly token: Redacted.Redacted<string> | undefined
  readonly allowedHosts: ReadonlyArray<string>
}

const loopback = ["127.0.0.1", "localhost", "::1"]

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host)

interface Authority {
  readonly name: string
  readonly port: string
}

/** A name and a port, in the one form that a browser would give them. Nothing else may be in it. */
const authorityOf = (text: string): Option.Option<Authority> => {
  const url = `http://${text}`
  if (!/^[\w.:[\]-]+$/.test(text) || !URL.canParse(url)) return Option.none()
  const { hostname, port } = new URL(url)
  return Option.some({ name: hostname.replaceAll(/^\[|\]$|\.$/g, ""), port })
}

/** Without a colon it is no address of IPv6: not to ask Node, which then compiles a long expression, saves the start. */
const isIPv6 = (text: string): boolean => text.includes(":") && isIP(text) === 6

const nameOf = (text: string): string =>
  Option.match(authorityOf(isIPv6(text) ? `[${text}]` : text), { onNone: () => text, onSome: ({ name }) => name })

const digest = (text: string) => createHash("sha256").update(text).digest()

const isRight = (given: string, token: Redacted.Redacted<string>): boolean =>
  timingSafeEqual(digest(given), digest(Redacted.value(token)))

/** To follow a link does nothing, and shows nothing to the page that has the link. */
const isVisit = ({ headers, method }: HttpServerRequest.HttpServerRequest): boolean =>
  method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document"

/** By host and port: a proxy in front of this server may speak TLS. */
const isSameOrigin = (origin: string, host: Authority): boolean => {
  const text = /^https?:\/\/(.*)$/.exec(origin)?.[1]
  return text !== undefined &&
    Option.exists(authorityOf(text), ({ name, port }) => name === host.name && port === host.port)
}

/** Whether the server lives and is ready is nobody's secret, and asked by those who have no token. */
const open = ["/_mock/live", "/_mock/ready"]

const make = ({ allowedHosts, host, token }: Options) => {
  const own = [...[host, ...allowedHosts].map(nameOf), ...loopback]
  /** A name can be made to resolve to this machine, an address cannot. */
  const isOwn = ({ name }: Authority): boolean => own.includes(name) || !isLoopback(host) && isIP(name) !== 0

  return (request: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse | undefined => {
    const { headers } = request
    const authority = Option.filter(authorityOf(headers["host"] ?? ""), isOwn)
    // What a client says to a proxy, and what counts before the Host header (RFC 9112, section 3.2.2).
    const target = Request.authorityOf(request.url)
    if (Option.isNone(authority) || target !== undefined && !Option.exists(authorityOf(target), isOwn)) {
      return Problem.serverResponse(403, "The Host header is not one of this server's own: see --allowed-host")
    }
    const { origin } = headers
    if (
      headers["sec-fetch-site"] === "cross-site" && !isVisit(request) ||
      origin !== undefined && !isSameOrigin(origin, authority.value)
    ) {
      return Problem.serverResponse(403, "Pages of other sites may not use the control plane")
    }
    const ambiguous = Request.headersProblem(request)
    if (Option.isSome(ambiguous)) return Problem.serverResponse(400, ambiguous.value)
    if (token === undefined || open.includes(Request.pathOf(request.url))) return undefined
    // A browser asks for a password, and sends it as Basic; programs send a Bearer token.
    const given = Option.orElse(
      Request.bearer(request),
      () => Option.map(Request.basic(request), ({ customerKey }) => customerKey)
    )
    return Option.exists(given, (given) => isRight(given, token))
      ? undefined
      : Problem.serverResponse(401, "The control token is needed: as a Bearer token, or as the password of any user", {
        "www-authenticate": "Basic realm=\"idv-mock control\", charset=\"UTF-8\""
      })
  }
}

export const middleware = (options: Options) => {
  const refusal = make(options)
  return <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const refused = refusal(request)
      return refused === undefined ? app : Effect.succeed(refused)
    })
}
