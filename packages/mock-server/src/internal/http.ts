/** What both endpoints have in common: reading a request strictly, refusing it as RFC 9457 has it. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** A request that ends here, with the answer that says why. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly response: HttpServerResponse.HttpServerResponse
}> {}

const titles = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content"
}

export const problem = (
  status: keyof typeof titles,
  detail: string,
  options?: {
    readonly headers?: Record<string, string>
    readonly errors?: ReadonlyArray<{ readonly path: string; readonly reason: string }>
  }
) =>
  new Refused({
    response: HttpServerResponse.unsafeJson(
      {
        type: "about:blank",
        title: titles[status],
        status,
        detail,
        ...(options?.errors && { errors: options.errors })
      },
      { status, contentType: "application/problem+json", headers: options?.headers }
    )
  })

export const requirePost = (request: HttpServerRequest.HttpServerRequest) =>
  request.method === "POST"
    ? Effect.void
    : problem(405, "The method of this operation is POST", { headers: { allow: "POST" } })

/** Media types are compared without case and parameters, but for a `charset` that is not UTF-8. */
export const requireContentType = (request: HttpServerRequest.HttpServerRequest, expected: string) => {
  const [mediaType, ...parameters] = (request.headers["content-type"] ?? "").toLowerCase().split(";").map((part) =>
    part.trim()
  )
  return mediaType === expected && parameters.every((parameter) => !/^charset=(?!"?utf-8"?$)/.test(parameter))
    ? Effect.void
    : problem(415, `The content type of this operation is ${expected}`)
}

const maxBodyBytes = 64 * 1024

/** Of a body that is too long, something that is too long too. */
const collect = ({ stream }: HttpServerRequest.HttpServerRequest) =>
  stream.pipe(
    Stream.runFold({ length: 0, chunks: Arr.empty<Uint8Array>() }, (read, chunk) => {
      const length = read.length + chunk.length
      if (length <= maxBodyBytes) read.chunks.push(chunk)
      return { length, chunks: read.chunks }
    }),
    Effect.map(({ chunks, length }) => length > maxBodyBytes ? Buffer.alloc(maxBodyBytes + 1) : Buffer.concat(chunks))
  )

/**
 * A body that is too long is read to its end all the same, and dropped: to stop reading would
 * reset the connection, and the client would never see the answer. One that says that it is short
 * is read at once.
 */
export const readBody = (request: HttpServerRequest.HttpServerRequest) => {
  const isShort = Number(request.headers["content-length"]) <= maxBodyBytes &&
    request.headers["transfer-encoding"] === undefined
  const read = isShort ? Effect.map(request.arrayBuffer, (bytes) => Buffer.from(bytes)) : collect(request)
  return read.pipe(
    Effect.orElseSucceed(() => Buffer.alloc(0)),
    Effect.filterOrElse(
      ({ length }) => length <= maxBodyBytes,
      () => problem(413, `A body has at most ${maxBodyBytes} bytes`)
    )
  )
}
