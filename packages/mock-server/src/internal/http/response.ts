/** An answer as plain data, before it goes onto a wire: what endpoints give and faults change. */
import * as Data from "effect/Data"

/** Header names are in lower case. `Content-Length` is not among them: whoever sends it, adds it. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const utf8 = new TextEncoder()

export const text = (
  status: number,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {}
): Reply => ({ status, headers: { "content-type": contentType, ...headers }, body: utf8.encode(body) })

export const json = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  contentType = "application/json"
): Reply => text(status, contentType, JSON.stringify(body), headers)

export const empty = (status: number, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers,
  body: new Uint8Array()
})

/** How the bytes of a broken answer go out, one step after the other. */
export type Step = Data.TaggedEnum<{
  /** Bytes as they are, head and framing included. */
  Write: { readonly bytes: Uint8Array }
  Wait: { readonly millis: number }
  /** The end of the stream, as a peer that closes properly gives it (FIN). */
  Fin: object
  /** The connection is reset (RST). */
  Reset: object
  /** Nothing more comes, and the connection stays open until the client gives up. */
  Hang: object
}>

export const Step = Data.taggedEnum<Step>()

/**
 * How an answer goes out: `Whole` by the HTTP library, properly framed on a connection that lives
 * on; `Scripted` byte by byte, on a connection that ends with it.
 */
export type Delivery = Data.TaggedEnum<{
  Whole: { readonly reply: Reply }
  Scripted: { readonly reply: Reply; readonly steps: ReadonlyArray<Step> }
}>

export const Delivery = Data.taggedEnum<Delivery>()
