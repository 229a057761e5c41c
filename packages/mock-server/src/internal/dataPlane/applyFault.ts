/** What a fault makes of an answer, or of the way it goes out. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { STATUS_CODES } from "node:http"
import type * as Fault from "../../Fault.ts"
import * as Reply from "../http/response.ts"

/**
 * - `now`: the session's time, in milliseconds since 1970.
 * - `random`: in [0, 1), seeded.
 */
export interface Options {
  readonly now: number
  readonly random: () => number
}

/** Latency, the end of a token and a quota change no answer here: who gives the answer does it. */
export const apply = (reply: Reply.Reply, what: Fault.What, { now, random }: Options): Reply.Delivery => {
  const { body } = reply
  switch (what.kind) {
    case "latency":
    case "tokenExpiry":
    case "tokenRevocation":
    case "quota":
      return whole(reply)
    case "status":
      return whole(withStatus(what, now))
    case "falseGzip":
      return whole({ ...reply, headers: { ...reply.headers, "content-encoding": "gzip" } })
    case "malformedJson":
      return whole({ ...reply, body: cut(body) })
    case "invalidUtf8":
      return whole({ ...reply, body: withInvalidByte(body) })
    case "empty":
      return whole({ ...reply, body: nothing })
    case "html":
      return whole({ ...reply, headers: { ...reply.headers, "content-type": "text/html; charset=utf-8" }, body: page })
    case "oversize":
      return whole({ ...reply, body: padded(body, what.bytes) })
    case "somebodyElse":
      return whole({ ...reply, body: withAttributes(body, another) })
    case "unknownMatch":
      return whole({ ...reply, body: withAttributes(body, () => ({ match_found: "Under review" })) })
    case "reset":
      return scripted(reply, what.at === "headers" ? [reset] : [...begun(reply), reset])
    case "fin":
      return scripted(reply, what.at === "headers" ? [fin] : [...begun(reply), fin])
    case "hang":
      return scripted(reply, what.at === "headers" ? [hang] : [...begun(reply), hang])
    case "truncation":
      return scripted(reply, [...begun(reply, what.keep), fin])
    case "badChunk":
      return scripted(reply, [write(head(reply, ["transfer-encoding: chunked"])), write(badChunks(body)), fin])
    case "duplicateLength":
      return scripted(reply, [
        write(head(reply, [`content-length: ${body.length}`, `content-length: ${body.length + 1}`])),
        write(body),
        fin
      ])
    case "randomBytes":
      return scripted(reply, [write(Uint8Array.from({ length: what.length }, () => Math.floor(random() * 256))), fin])
    case "drip":
      return scripted(reply, [
        write(head(reply, [`content-length: ${body.length}`])),
        ...drops(body, what.bytes, Duration.toMillis(what.every)),
        fin
      ])
  }
}

/** `Retry-After` in one of its forms. A date is never earlier than was asked for: it has no milliseconds. */
export const retryAfter = (form: Fault.RetryAfter, now: number): string => {
  switch (form.kind) {
    case "seconds":
      return String(form.seconds)
    case "date":
      return new Date(Math.ceil((now + Duration.toMillis(form.in)) / 1000) * 1000).toUTCString()
    case "garbage":
      return form.text
  }
}

const utf8 = new TextEncoder()
const nothing = new Uint8Array()

const whole = (reply: Reply.Reply) => Reply.Delivery.Whole({ reply })
const scripted = (reply: Reply.Reply, steps: ReadonlyArray<Reply.Step>) => Reply.Delivery.Scripted({ reply, steps })

const write = (bytes: Uint8Array) => Reply.Step.Write({ bytes })
const fin = Reply.Step.Fin()
const reset = Reply.Step.Reset()
const hang = Reply.Step.Hang()

const head = ({ headers, status }: Reply.Reply, framing: ReadonlyArray<string>): Uint8Array =>
  utf8.encode(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...framing,
      "connection: close",
      "\r\n"
    ].join("\r\n")
  )

/** The head and the beginning of the body, which is always shorter than the head says. */
const begun = (reply: Reply.Reply, keep = Math.floor(reply.body.length / 2)): ReadonlyArray<Reply.Step> => {
  const length = Math.max(reply.body.length, 1)
  return [
    write(head(reply, [`content-length: ${length}`])),
    write(reply.body.subarray(0, Math.min(keep, length - 1)))
  ]
}

const badChunks = (body: Uint8Array): Uint8Array => {
  const half = body.subarray(0, Math.ceil(body.length / 2))
  const first = half.length === 0 ? [] : [utf8.encode(`${half.length.toString(16)}\r\n`), half, utf8.encode("\r\n")]
  return Buffer.concat([...first, utf8.encode("zz\r\n"), body.subarray(half.length), utf8.encode("\r\n0\r\n\r\n")])
}

const drops = (body: Uint8Array, size: number, millis: number): ReadonlyArray<Reply.Step> =>
  Array.from({ length: Math.ceil(body.length / size) }, (_, index) => [
    Reply.Step.Wait({ millis }),
    write(body.subarray(index * size, (index + 1) * size))
  ]).flat()

/** The statuses whose answers have no body, by RFC 9110. */
const bodiless = [204, 205, 304]

const withStatus = (
  { body: text = "", contentType, retryAfter: form, status }: Extract<Fault.What, { readonly kind: "status" }>,
  now: number
): Reply.Reply => {
  const body = bodiless.includes(status) ? nothing : utf8.encode(text)
  return {
    status,
    headers: {
      ...(body.length > 0 && { "content-type": contentType }),
      ...(form !== undefined && { "retry-after": retryAfter(form, now) })
    },
    body
  }
}

const page = utf8.encode(
  "<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n"
)

const decodeJson = Violation.decodeJson(Schema.Unknown)

/** Half of it; should that be JSON all the same, its bracket stays open. */
const cut = (body: Uint8Array): Uint8Array => {
  const text = new TextDecoder().decode(body)
  const half = utf8.encode(text.slice(0, Math.floor(text.length / 2)))
  return half.length === 0 || Either.isRight(decodeJson(half))
    ? utf8.encode(`{${new TextDecoder().decode(half)}`)
    : half
}

/**
 * At the end of the longest text that is a value, where a reader that is lenient would notice
 * nothing: in a token, or in the path of a URL.
 */
const withInvalidByte = (body: Uint8Array): Uint8Array => {
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

/** What is not a JSON object becomes one. */
const padded = (body: Uint8Array, bytes: number): Uint8Array => {
  const fields = Either.getOrElse(decodeObject(body), () => ({}))
  const unpadded = utf8.encode(JSON.stringify({ ...fields, padding: "" })).length
  const padding = "x".repeat(Math.max(bytes + 1 - unpadded, 0))
  return utf8.encode(JSON.stringify({ ...fields, padding }))
}

const isCredential = Schema.is(
  Schema.Struct({ credentials: Schema.Struct({ attributes: JsonObject }, JsonObject) }, JsonObject)
)

/** Everything else of the credential stays, whatever a profile put there. What is no credential stays too. */
const withAttributes = (
  body: Uint8Array,
  changes: (attributes: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
): Uint8Array =>
  Either.match(Either.filterOrLeft(decodeJson(body), isCredential, () => body), {
    onLeft: () => body,
    onRight: ({ credentials, ...others }) => {
      const attributes = { ...credentials.attributes, ...changes(credentials.attributes) }
      return utf8.encode(JSON.stringify({ ...others, credentials: { ...credentials, attributes } }))
    }
  })

const another = ({ birth_year: year, name }: Readonly<Record<string, unknown>>) => ({
  name: name === "Somebody Else" ? "Another Person" : "Somebody Else",
  birth_year: year === "1901" ? "1902" : "1901"
})
