/** A request as plain data, read as a whole, and what both endpoints look at in it. */
import * as Headers from "@effect/platform/Headers"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { IncomingMessage } from "node:http"

/**
 * - `target`: the path with its query.
 * - `headersProblem`: what is wrong with the headers as they were sent, in a sentence.
 * - `body`: its first 64 KiB and a byte, where there is more.
 * - `isWhole`: whether it arrived to its end.
 */
export interface Request {
  readonly method: string
  readonly target: string
  readonly headers: Headers.Headers
  readonly headersProblem: Option.Option<string>
  readonly body: Uint8Array
  readonly isWhole: boolean
}

export const maxBodyBytes = 64 * 1024

export const isTooLong = ({ body }: Request): boolean => body.length > maxBodyBytes

/**
 * A body that is too long is read to its end all the same, and dropped: to stop reading would
 * reset the connection, and the client would never see the answer.
 */
const collect = ({ stream }: HttpServerRequest.HttpServerRequest) =>
  stream.pipe(
    Stream.runFold({ length: 0, chunks: Arr.empty<Uint8Array>() }, (read, chunk) => {
      const length = read.length + chunk.length
      if (read.length <= maxBodyBytes) read.chunks.push(chunk)
      return { length, chunks: read.chunks }
    }),
    Effect.map(({ chunks }) => Buffer.concat(chunks).subarray(0, maxBodyBytes + 1))
  )

const singleHeaders = ["Authorization", "Content-Type", "Host"]

/** Of a header that comes twice, Node keeps the first only. In process, no header comes twice. */
const namesOf = ({ source }: HttpServerRequest.HttpServerRequest): ReadonlyArray<string> =>
  source instanceof IncomingMessage
    ? source.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    : []

/**
 * Two readers of a request must not see two requests: one that takes the first of two headers, and
 * one that takes the last; one that decodes a transfer coding, and one that does not.
 */
export const headersProblem = (request: HttpServerRequest.HttpServerRequest): Option.Option<string> => {
  const names = namesOf(request)
  const repeated = singleHeaders.find((name) => {
    const lower = name.toLowerCase()
    return names.indexOf(lower) !== names.lastIndexOf(lower)
  })
  if (repeated !== undefined) return Option.some(`The request has more than one ${repeated} header`)
  return (request.headers["transfer-encoding"] ?? "chunked").toLowerCase() === "chunked"
    ? Option.none()
    : Option.some("The only transfer coding is chunked")
}

/** A body that says that it is short is read at once. */
export const read = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Request> => {
  const isShort = Number(request.headers["content-length"]) <= maxBodyBytes &&
    request.headers["transfer-encoding"] === undefined
  const body: Effect.Effect<Uint8Array, unknown> = request.method === "GET" || request.method === "HEAD"
    ? Effect.succeed(new Uint8Array())
    : isShort
    ? Effect.map(request.arrayBuffer, (bytes) => new Uint8Array(bytes))
    : collect(request)
  const { headers, method, originalUrl } = request
  return Effect.match(body, {
    onFailure: () => ({ body: new Uint8Array(), isWhole: false }),
    onSuccess: (body) => ({ body, isWhole: true })
  }).pipe(Effect.map((read) => ({
    method,
    // Of a request, too, Node gives Set-Cookie as a list.
    headers: Headers.fromInput(headers),
    headersProblem: headersProblem(request),
    target: targetOf(originalUrl),
    ...read
  })))
}

/** A request may name an absolute address, as one to a proxy does. */
const address = /^[a-z]+:\/\/([^/?]*)/i

export const targetOf = (url: string): string => url.replace(address, "") || "/"

export const authorityOf = (url: string): string | undefined => address.exec(url)?.[1]

export const pathOf = (url: string): string => targetOf(url).split("?")[0] ?? ""

/** A media type is compared without case; its parameters come with it. */
export const mediaType = ({ headers }: Request) => {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";").map((part) => part.trim())
  return { type, parameters: parameters.filter((parameter) => parameter !== "") }
}

export const isOtherCharset = (parameter: string): boolean => /^charset=(?!"?utf-8"?$)/.test(parameter)

/** Whether the body has a content coding (RFC 9110, section 8.4): nothing here decodes one. */
export const hasCoding = ({ headers }: Request): boolean =>
  (headers["content-encoding"] ?? "").split(",").some((coding) => !/^\s*(identity)?\s*$/i.test(coding))

/** The parameters of a form, of which the first may begin with a question mark like any other text. */
export const parametersOf = (form: string): URLSearchParams => new URLSearchParams(`?${form}`)

/** The first of these names that is a parameter of the query. */
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

/** The customer id and key of a Basic header, as UTF-8 and as they are (API document, section 4.1). */
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
 * The same, as clients have it that form-encode both first (RFC 6749, section 2.3.1). Some of them
 * encode also a hyphen, so what they send fits no customer as it is.
 */
export const formBasic = (request: Pick<Request, "headers">): Option.Option<Basic> =>
  Option.flatMap(
    basic(request),
    ({ customerId, customerKey }) =>
      Either.getRight(Either.all({ customerId: formDecode(customerId), customerKey: formDecode(customerKey) }))
  )

export const bearer = ({ headers }: Pick<Request, "headers">): Option.Option<string> =>
  Option.fromNullable(/^bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1])
