/** A request as plain data, read in full, and the parts of it that both endpoints check. */
import * as Headers from "@effect/platform/Headers"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { IncomingMessage } from "node:http"

export interface Request {
  readonly method: string
  /** The path with its query. */
  readonly target: string
  readonly headers: Headers.Headers
  /** The problem with the headers, as a sentence. */
  readonly headersProblem: Option.Option<string>
  /** The body. If it is too long, its first 64 KiB and one byte. */
  readonly body: Uint8Array
  /** Whether the body arrived to its end. */
  readonly isWhole: boolean
  /** Whether the request came over TLS. */
  readonly isSecure: boolean
}

export const maxBodyBytes = 64 * 1024

export const isTooLong = ({ body }: Request): boolean => body.length > maxBodyBytes

/**
 * Reads a body to its end and drops the bytes beyond the limit. If it stopped reading, the connection would be reset,
 * and the client would never see the response.
 */
const readBounded = ({ stream }: HttpServerRequest.HttpServerRequest) =>
  stream.pipe(
    Stream.runFold({ length: 0, chunks: Arr.empty<Uint8Array>() }, (read, chunk) => {
      const length = read.length + chunk.length
      if (read.length <= maxBodyBytes) read.chunks.push(chunk)
      return { length, chunks: read.chunks }
    }),
    Effect.map(({ chunks }) => Buffer.concat(chunks).subarray(0, maxBodyBytes + 1))
  )

const singleHeaders = ["Authorization", "Content-Type", "Host"]

/**
 * The names of all headers as they were sent. Node keeps only the first of two equal headers, so this reads its raw
 * list. In process there are no duplicates.
 */
const namesOf = ({ source }: HttpServerRequest.HttpServerRequest): ReadonlyArray<string> =>
  source instanceof IncomingMessage
    ? source.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    : []

/**
 * Finds headers that two readers could understand differently: a duplicate header, because one reader uses the first
 * and another the last, or a transfer coding that only one of them decodes.
 */
export const headersProblem = (request: HttpServerRequest.HttpServerRequest): Option.Option<string> => {
  const names = namesOf(request)
  const duplicate = singleHeaders.find((name) => {
    const lower = name.toLowerCase()
    return names.indexOf(lower) !== names.lastIndexOf(lower)
  })
  if (duplicate !== undefined) return Option.some(`The request has more than one ${duplicate} header`)
  return (request.headers["transfer-encoding"] ?? "chunked").toLowerCase() === "chunked"
    ? Option.none()
    : Option.some("The only transfer coding is chunked")
}

/** Whether the request came over TLS: its socket has the property `encrypted`. A request in process has no socket. */
export const isSecure = ({ source }: HttpServerRequest.HttpServerRequest): boolean =>
  Predicate.hasProperty(source, "socket") && Predicate.hasProperty(source.socket, "encrypted")

/** Reads a request. A body with a small `Content-Length` is read at once, which is faster. */
export const read = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Request> => {
  const isShort = Number(request.headers["content-length"]) <= maxBodyBytes &&
    request.headers["transfer-encoding"] === undefined
  const body: Effect.Effect<Uint8Array, unknown> = request.method === "GET" || request.method === "HEAD"
    ? Effect.succeed(new Uint8Array())
    : isShort
    ? Effect.map(request.arrayBuffer, (bytes) => new Uint8Array(bytes))
    : readBounded(request)
  const { headers, method, originalUrl } = request
  return Effect.match(body, {
    onFailure: () => ({ body: new Uint8Array(), isWhole: false }),
    onSuccess: (body) => ({ body, isWhole: true })
  }).pipe(Effect.map((read) => ({
    method,
    // Node represents Set-Cookie as a list, in requests too.
    headers: Headers.fromInput(headers),
    headersProblem: headersProblem(request),
    target: targetOf(originalUrl),
    isSecure: isSecure(request),
    ...read
  })))
}

/** The origin of an absolute address, as a request to a proxy has it. */
const origin = /^[a-z]+:\/\/([^/?]*)/i

export const targetOf = (url: string): string => url.replace(origin, "") || "/"

export const authorityOf = (url: string): string | undefined => origin.exec(url)?.[1]

export const pathOf = (url: string): string => targetOf(url).split("?")[0] ?? ""

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

export const bearer = ({ headers }: Pick<Request, "headers">): Option.Option<string> =>
  Option.fromNullable(/^bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1])
