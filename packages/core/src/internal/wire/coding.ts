/** Decodes a body into UTF-8 text: decompression and charset. */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** The body cannot be decompressed as its headers require. */
export class UndecodableBody extends Data.TaggedError("UndecodableBody") {}

const formats = { gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" } as const

const isFormat = (coding: string): coding is keyof typeof formats => Object.hasOwn(formats, coding)

/** What the `fetch` of some runtime decompresses. It returns a body with any other coding as it is. */
const isDecodedByFetch = (codings: string): boolean =>
  codings.split(",").every((coding) => /^(x-gzip|gzip|deflate|br|zstd|identity)$/.test(coding.trim()))

/**
 * Returns the decompressed body, or none if the body is not compressed. `fetch` decompresses a body and keeps its
 * header, so the body of a `Response` that does not start as gzip counts as decompressed, if `fetch` knows the coding. A
 * gzip that `fetch` leaves was compressed more often than the header says. A `Response` of a test has the type `default`,
 * and its gzip is the declared one.
 */
export const decompress = (
  body: Uint8Array<ArrayBuffer>,
  contentEncoding: string | undefined,
  fetched: () => Response | undefined
): Option.Option<Stream.Stream<Uint8Array, UndecodableBody>> => {
  const coding = contentEncoding?.trim().toLowerCase() ?? "identity"
  if (coding === "identity" || body.length === 0) return Option.none()
  const isGzip = body[0] === 0x1f && body[1] === 0x8b
  const response = fetched()
  if (response !== undefined && !isGzip && isDecodedByFetch(coding)) return Option.none()
  const isLeft = response !== undefined && response.type !== "default"
  return Option.some(
    isFormat(coding) && !isLeft
      ? Stream.fromReadableStream(
        () => new Blob([body]).stream().pipeThrough(new DecompressionStream(formats[coding])),
        () => new UndecodableBody()
      )
      : new UndecodableBody()
  )
}

/**
 * Converts a text to UTF-8, from the encoding of its byte order mark or else the charset of its `Content-Type`. Bytes
 * that cannot be decoded are returned unchanged, and fail when they are parsed.
 */
export const toUtf8 = (body: Uint8Array, contentType: string | undefined): Uint8Array => {
  const charset = charsetOf(body) ?? /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType ?? "")?.[1]
  if (charset === undefined || /^utf-?8$/i.test(charset)) return body
  return Either.try(() => new TextEncoder().encode(new TextDecoder(charset, { fatal: true }).decode(body))).pipe(
    Either.getOrElse(() => body)
  )
}

const charsetOf = ([first, second, third]: Uint8Array): string | undefined => {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined
}
