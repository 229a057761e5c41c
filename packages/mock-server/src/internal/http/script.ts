/**
 * Turns a delivery into a response of the HTTP library. The body of a scripted response is its script. The transport
 * plays the script on a socket, or in process into an HTTP parser.
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type { Duplex } from "node:stream"
import type { Delivery, Step } from "./response.ts"

class Script {
  readonly steps: ReadonlyArray<Step>
  constructor(steps: ReadonlyArray<Step>) {
    this.steps = steps
  }
}

export const serverResponse = (delivery: Delivery): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = delivery.response
  if (delivery._tag === "Scripted") return HttpServerResponse.raw(new Script(delivery.steps))
  return body.length === 0
    ? HttpServerResponse.empty({ status, headers: { ...headers, ...(!withoutLength.includes(status) && zeroLength) } })
    : HttpServerResponse.uint8Array(body, { status, headers, contentType: headers["content-type"] })
}

/** The headers of an empty body. Without them, Node.js would send it in chunks. */
const zeroLength = { "content-length": "0" }

/** Statuses that never have a body, and so must not have a length (RFC 9110, section 8.6). */
const withoutLength = [204, 304]

/** Returns the steps of a scripted response, or `undefined` for any other. */
export const stepsOf = ({ body }: HttpServerResponse.HttpServerResponse): ReadonlyArray<Step> | undefined =>
  body._tag === "Raw" && body.body instanceof Script ? body.body.steps : undefined

/** The server's side of a connection. */
export interface Connection {
  readonly out: Duplex
  /** Ends the outgoing stream. */
  readonly fin: Effect.Effect<void>
  /** Resets both directions. */
  readonly reset: Effect.Effect<void>
}

/** Performs the steps of a script in order. */
export const play = (steps: ReadonlyArray<Step>, { fin, out, reset }: Connection): Effect.Effect<void> =>
  Effect.forEach(steps, (step) => {
    switch (step._tag) {
      case "Write":
        return Effect.async<void>((resume) => {
          out.write(step.bytes, () => resume(Effect.void))
        })
      case "Wait":
        return Effect.sleep(step.millis)
      case "Fin":
        return fin
      case "Reset":
        return reset
      case "Hang":
        return Effect.never
    }
  }, { discard: true })
