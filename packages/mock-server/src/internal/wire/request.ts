/** A request as plain data, read in full, and the parts of it that both endpoints check. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { IncomingMessage } from "node:http"
import type { Delivery } from "./response.ts"

/** By names in lower case. */
export type Headers = Readonly<Record<string, string>>

/** A request without its body. */
export interface Head {
  readonly method: string
  /** The path with its query. */
  readonly target: string
  readonly headers: Headers
  /** The problem with the headers, as a sentence. */
  readonly headersProblem: Option.Option<string>
  /** Whether the request came over TLS. */
  readonly isSecure: boolean
}

export interface Body {
  /** The body. If it is too long, its first 64 KiB and one byte. */
  readonly body: Uint8Array
  /** Whether the body arrived to its end. */
  readonly isWhole: boolean
}

export interface Request extends Head, Body {}

/** Handles a request. It reads the body itself, so that it knows how long the whole exchange takes. */
export type Handler = (head: Head, body: Effect.Effect<Body>) => Effect.Effect<Delivery>

export const maxBodyBytes = 64 * 1024

export const isTooLong = ({ body }: Body): boolean => body.length > maxBodyBytes

const singleHeaders = ["Authorization", "Content-Type", "Host"]

/** What a request was made from: Node's request, or in process another object. */
interface Sourced {
  readonly source: unknown
}

/**
 * The names of all headers as they were sent. Node keeps only the first of two equal headers, so this reads its raw
 * list. In process there are no duplicates.
 */
const namesOf = ({ source }: Sourced): ReadonlyArray<string> =>
  source instanceof IncomingMessage
    ? source.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    : []

/** Whether a text is a host with an optional port, and nothing else (RFC 9110, section 7.2). */
const isAuthority = (text: string): boolean =>
  /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i.test(text) && URL.canParse(`http://${text}`)

/**
 * Finds headers that two readers could understand differently: a duplicate header, because one reader uses the first
 * and another the last, or a transfer coding that only one of them decodes.
 */
export const headersProblem = (request: Sourced & { readonly headers: Headers }): Option.Option<string> => {
  const names = namesOf(request)
  const duplicate = singleHeaders.find((name) => {
    const lower = name.toLowerCase()
    return names.indexOf(lower) !== names.lastIndexOf(lower)
  })
  if (duplicate !== undefined) return Option.some(`The request has more than one ${duplicate} header`)
  if (!isAuthority(request.headers["host"] ?? "localhost")) {
    return Option.some("The Host header must be a host name with an optional port")
  }
  return (request.headers["transfer-encoding"] ?? "chunked").toLowerCase() === "chunked"
    ? Option.none()
    : Option.some("The only transfer coding is chunked")
}

/** A socket of Node has the property `encrypted` if it speaks TLS. A request in process has no socket. */
export const isSecure = ({ source }: Sourced): boolean =>
  Predicate.hasProperty(source, "socket") && Predicate.hasProperty(source.socket, "encrypted")

/** The head of a request. The names of `headers` are in lower case. */
export const head = (
  { headers, method, source, url }: Sourced & {
    readonly method: string
    readonly url: string
    readonly headers: IncomingMessage["headers"]
  }
): Head => {
  // Node represents Set-Cookie as a list, in requests too.
  const joined = Object.fromEntries(
    Object.entries(headers).map(([name, value = ""]) => [name, typeof value === "string" ? value : value.join(", ")])
  )
  return {
    method,
    target: targetOf(url),
    headers: joined,
    headersProblem: headersProblem({ headers: joined, source }),
    isSecure: isSecure({ source })
  }
}

/** A body that arrived to its end. */
const whole = (bytes: Uint8Array): Body => ({ body: bytes.subarray(0, maxBodyBytes + 1), isWhole: true })

/** A body that broke off before its end. */
const brokenOff: Body = { body: new Uint8Array(), isWhole: false }

/**
 * Reads a body to its end and drops the bytes beyond the limit. If it stopped reading, the connection would be reset,
 * and the client would never see the response.
 */
const readStream = (source: IncomingMessage): Effect.Effect<Body> =>
  Effect.async((resume) => {
    if (source.destroyed) return resume(Effect.succeed(brokenOff))
    const chunks: Array<Uint8Array> = []
    let length = 0
    source.on("data", (chunk: Uint8Array) => {
      if (length <= maxBodyBytes) chunks.push(chunk)
      length += chunk.length
    })
    source.once("end", () => resume(Effect.succeed(whole(Buffer.concat(chunks)))))
    source.once("error", () => resume(Effect.succeed(brokenOff)))
  })

/** Reads the body of a request of Node. */
export const readBody = (source: IncomingMessage): Effect.Effect<Body> =>
  source.method === "GET" || source.method === "HEAD" ? Effect.succeed(whole(new Uint8Array())) : readStream(source)

/** The head of a request of the HTTP library. */
export const headOf = (
  { headers, method, originalUrl: url, source }: HttpServerRequest.HttpServerRequest
): Head => head({ headers, method, source, url })

/** Reads the body of a request of the HTTP library. */
export const readBodyOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Body> =>
  request.source instanceof IncomingMessage ? readBody(request.source) : Effect.match(request.arrayBuffer, {
    onFailure: () => brokenOff,
    onSuccess: (bytes) => whole(new Uint8Array(bytes))
  })

/** Reads a request of the HTTP library. */
export const read = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Request> =>
  Effect.map(readBodyOf(request), (body) => ({ ...headOf(request), ...body }))

/** The origin of an absolute address, as a request to a proxy has it. */
const origin = /^[a-z]+:\/\/([^/?]*)/i

export const targetOf = (url: string): string => url.replace(origin, "") || "/"

export const authorityOf = (url: string): string | undefined => origin.exec(url)?.[1]

export const pathOf = (url: string): string => targetOf(url).split("?")[0] ?? ""

/** Whether a path belongs to the control plane. */
export const isControl = (path: string): boolean => path === "/_mock" || path.startsWith("/_mock/")

/** The paths of health checks, which need no control token. */
const healthPaths = ["/_mock/live", "/_mock/ready"] as const

export type HealthPath = (typeof healthPaths)[number]

/** The path of a health check, or `undefined` for another request. */
export const healthPathOf = (url: string): HealthPath | undefined => healthPaths.find((path) => path === pathOf(url))

/** Returns the media type in lower case, and its parameters. */
export const mediaType = ({ headers }: Request) => {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";").map((part) => part.trim())
  return { type, parameters: parameters.filter((parameter) => parameter !== "") }
}

/** Whether a parameter of a media type is a charset other than UTF-8. */
export const isOtherCharset = (parameter: string): boolean => /^charset=(?!"?utf-8"?$)/.test(parameter)

/** Whether the body has a content coding (RFC 9110, section 8.4). The mock server decodes none. */
export const hasCoding = ({ headers }: Request): boolean =>
  (headers["content-encoding"] ?? "").split(",").some((coding) => !/^\s*(identity)?\s*$/i.test(coding))

/**
 * Parses a form. `URLSearchParams` removes a leading question mark, so one is added: the first name may begin with one.
 */
export const parametersOf = (form: string): URLSearchParams => new URLSearchParams(`?${form}`)

/** Returns the first of these names that the query has as a parameter. */
export const inQuery = ({ target }: Request, names: ReadonlyArray<string>): Option.Option<string> => {
  const at = target.indexOf("?")
  if (at === -1) return Option.none()
  const parameters = parametersOf(target.slice(at + 1))
  return Option.fromNullable(names.find((name) => parameters.has(name)))
}

export interface Basic {
  readonly customerId: string
  readonly customerKey: string
}

/** Returns the customer id and key of a Basic header, decoded from Base64 as UTF-8 (section 4.1). */
export const basic = ({ headers }: Pick<Request, "headers">): Option.Option<Basic> =>
  Option.fromNullable(/^basic +([A-Za-z0-9+/=]+)$/i.exec(headers["authorization"] ?? "")?.[1]).pipe(
    Option.flatMap((encoded) => Either.getRight(Encoding.decodeBase64String(encoded))),
    Option.filter((decoded) => decoded.includes(":")),
    Option.map((decoded) => ({
      customerId: decoded.slice(0, decoded.indexOf(":")),
      customerKey: decoded.slice(decoded.indexOf(":") + 1)
    }))
  )

const formDecode = (text: string) => Encoding.decodeUriComponent(text.replaceAll("+", " "))

/**
 * Returns the id and key of a Basic header from a client that form-encodes both first (RFC 6749, section 2.3.1). Some
 * clients also encode a hyphen, so that the id matches no customer as it is.
 */
export const formBasic = (request: Pick<Request, "headers">): Option.Option<Basic> =>
  Option.flatMap(
    basic(request),
    ({ customerId, customerKey }) =>
      Either.getRight(Either.all({ customerId: formDecode(customerId), customerKey: formDecode(customerKey) }))
  )

/** Schemes that are safe to repeat. A client that sends a bare token has the token in their place. */
const schemes = ["Basic", "Bearer", "Digest", "Negotiate", "Token", "DPoP"]

/**
 * The scheme of the Authorization header, for the reason of a refusal. Without a known scheme it is an empty text. None
 * if the header is missing.
 */
export const schemeOf = ({ headers }: Pick<Request, "headers">): Option.Option<string> =>
  Option.map(
    Option.filter(Option.fromNullable(headers["authorization"]), (header) => header.trim() !== ""),
    (header) => schemes.find((scheme) => header.toLowerCase().startsWith(`${scheme.toLowerCase()} `)) ?? ""
  )

export const bearer = ({ headers }: Pick<Request, "headers">): Option.Option<string> =>
  Option.fromNullable(/^bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1])
