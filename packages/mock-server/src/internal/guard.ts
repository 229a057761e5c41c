/**
 * Who may use the control plane: a host that is this server's own (or a page of any site could have
 * its name resolve to it), a page of its own, and whoever has the token, if there is one.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import { isIP } from "node:net"
import * as Request from "./request.ts"

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

const hostname = (authority: string | undefined): string | undefined => {
  const url = `http://${authority ?? ""}`
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$/g, "") : undefined
}

/** A name can be made to resolve to this machine, an address cannot. */
const isOwn = (name: string, { allowedHosts, host }: Options): boolean =>
  loopback.includes(name) || name === host.toLowerCase() || allowedHosts.includes(name) ||
  !isLoopback(host) && isIP(name) !== 0

const digest = (text: string) => createHash("sha256").update(text).digest()

const isRight = (given: string, token: Redacted.Redacted<string>): boolean =>
  timingSafeEqual(digest(given), digest(Redacted.value(token)))

const refuse = (status: 401 | 403, title: string, detail: string, headers = {}) =>
  HttpServerResponse.unsafeJson({ type: "about:blank", title, status, detail }, {
    status,
    contentType: "application/problem+json",
    headers
  })

const refusal = (
  request: HttpServerRequest.HttpServerRequest,
  options: Options
): HttpServerResponse.HttpServerResponse | undefined => {
  const { host, origin } = request.headers
  const name = hostname(host)
  if (name === undefined || !isOwn(name, options)) {
    return refuse(403, "Forbidden", "The Host header is not one of this server's own: see --allowed-host")
  }
  if (request.headers["sec-fetch-site"] === "cross-site" || origin !== undefined && origin !== `http://${host}`) {
    return refuse(403, "Forbidden", "Pages of other sites may not use the control plane")
  }
  // A browser asks for a password, and sends it as Basic; programs send a Bearer token.
  const given = Option.orElse(
    Request.bearer(request),
    () => Option.map(Request.basic(request), ({ customerKey }) => customerKey)
  )
  const { token } = options
  return token === undefined || Option.exists(given, (given) => isRight(given, token)) ? undefined : refuse(
    401,
    "Unauthorized",
    "The control token is needed: as a Bearer token, or as the password of any user",
    { "www-authenticate": "Basic realm=\"idv-mock control\", charset=\"UTF-8\"" }
  )
}

/** Whether the server lives and is ready is nobody's secret, and asked by those who have no token. */
const open = ["/_mock/live", "/_mock/ready"]

export const middleware = (options: Options) => <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const refused = open.includes(Request.pathOf(request.url)) ? undefined : refusal(request, options)
    return refused === undefined ? app : Effect.succeed(refused)
  })
