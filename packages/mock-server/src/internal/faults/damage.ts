/** How faults damage a response: its body, or the way in which it is sent. */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import { constVoid } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Response from "../wire/response.ts"
import * as RetryAfter from "./retryAfter.ts"

const utf8 = new TextEncoder()
export const emptyBody = new Uint8Array()

export const whole = (response: Response.Response) => Response.Delivery.Whole({ response })
export const scripted = (response: Response.Response, steps: ReadonlyArray<Response.Step>) =>
  Response.Delivery.Scripted({ response, steps })

export const write = (bytes: Uint8Array) => Response.Step.Write({ bytes })
export const fin = Response.Step.Fin()
const endSteps = { fin, reset: Response.Step.Reset(), hang: Response.Step.Hang() }

/** The head and the first bytes of the body, always fewer than its `Content-Length`. */
export const incompleteMessage = (
  response: Response.Response,
  keep = Math.floor(response.body.length / 2)
): ReadonlyArray<Response.Step> => {
  const length = Math.max(response.body.length, 1)
  return [
    write(Response.lastHead(response, [`content-length: ${length}`])),
    write(response.body.subarray(0, Math.min(keep, length - 1)))
  ]
}

/** Changes the body only. */
export const withBody =
  (change: (body: Uint8Array) => Uint8Array) => (response: Response.Response): Response.Delivery =>
    whole({ ...response, body: change(response.body) })

/** Ends a message before its headers, or in the middle of its body. */
export const ending =
  (how: keyof typeof endSteps) =>
  (response: Response.Response, { at }: { readonly at: "headers" | "body" }): Response.Delivery =>
    scripted(response, [...(at === "headers" ? [] : incompleteMessage(response)), endSteps[how]])

export const badChunks = (body: Uint8Array): Uint8Array => {
  const half = body.subarray(0, Math.ceil(body.length / 2))
  const first = half.length === 0 ? [] : [utf8.encode(`${half.length.toString(16)}\r\n`), half, utf8.encode("\r\n")]
  return Buffer.concat([...first, utf8.encode("zz\r\n"), body.subarray(half.length), utf8.encode("\r\n0\r\n\r\n")])
}

export const dripSteps = (body: Uint8Array, size: number, millis: number): ReadonlyArray<Response.Step> =>
  Array.from({ length: Math.ceil(body.length / size) }, (_, index) => [
    Response.Step.Wait({ millis }),
    write(body.subarray(index * size, (index + 1) * size))
  ]).flat()

/** The statuses whose responses have no body (RFC 9110). */
const statusesWithoutBody = [204, 205, 304]

/** The response of a `status` fault, which replaces that of the service. */
export const statusResponse = (
  { body: text = "", contentType, location, retryAfter, status }: {
    readonly status: number
    readonly body?: string
    readonly contentType: string
    readonly location?: string
    readonly retryAfter?: RetryAfter.RetryAfter
  },
  now: number
): Response.Response => {
  const body = statusesWithoutBody.includes(status) ? emptyBody : utf8.encode(text)
  return {
    status,
    headers: {
      ...(body.length > 0 && { "content-type": contentType }),
      ...RetryAfter.headers(retryAfter, now),
      ...(location !== undefined && { location })
    },
    body
  }
}

export const page = utf8.encode(
  "<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n"
)

const decodeJson = Violation.decodeJson(Schema.Unknown)

/** Returns the first half of the body. If the half is valid JSON, an added opening brace makes it invalid. */
export const cutInHalf = (body: Uint8Array): Uint8Array => {
  const text = new TextDecoder().decode(body)
  const half = utf8.encode(text.slice(0, Math.floor(text.length / 2)))
  return half.length === 0 || Either.isRight(decodeJson(half))
    ? utf8.encode(`{${new TextDecoder().decode(half)}`)
    : half
}

/**
 * Inserts a byte that is not UTF-8 at the end of the longest string value. This value is the token or the URL: a client
 * that silently replaces invalid bytes accepts it, so the fault detects this mistake.
 */
export const withInvalidByte = (body: Uint8Array): Uint8Array => {
  const text = new TextDecoder().decode(body)
  const end = Array.from(text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g))
    .filter(([, colon]) => colon === undefined)
    .reduce(
      (longest, { 0: { length }, index }) => length > longest.length ? { length, end: index + length - 1 } : longest,
      { length: 0, end: text.length }
    ).end
  return Buffer.concat([utf8.encode(text.slice(0, end)), Uint8Array.of(0xff), utf8.encode(text.slice(end))])
}

const JsonObject = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const decodeObject = Violation.decodeJson(JsonObject)

/**
 * Adds padding to a JSON object, so that the body has at least one byte more than `bytes`. Any other body becomes an
 * object.
 */
export const withPadding = (body: Uint8Array, bytes: number): Uint8Array => {
  const fields = Either.getOrUndefined(decodeObject(body))
  const unpadded = utf8.encode(JSON.stringify({ ...fields, padding: "" })).length
  const padding = "x".repeat(Math.max(bytes + 1 - unpadded, 0))
  return utf8.encode(JSON.stringify({ ...fields, padding }))
}

const isCredential = Schema.is(
  Schema.Struct({ credentials: Schema.Struct({ attributes: JsonObject }, JsonObject) }, JsonObject)
)

/**
 * Changes attributes of a credential and keeps all other fields. A body that is not a credential is returned unchanged.
 */
export const withAttributes = (
  body: Uint8Array,
  changes: (attributes: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
): Uint8Array =>
  Either.match(Either.filterOrLeft(decodeJson(body), isCredential, constVoid), {
    onLeft: () => body,
    onRight: ({ credentials, ...others }) => {
      const attributes = { ...credentials.attributes, ...changes(credentials.attributes) }
      return utf8.encode(JSON.stringify({ ...others, credentials: { ...credentials, attributes } }))
    }
  })

export const anotherPerson = ({ birth_year: year, name }: Readonly<Record<string, unknown>>) => ({
  name: name === "Somebody Else" ? "Another Person" : "Somebody Else",
  birth_year: year === "1901" ? "1902" : "1901"
})
