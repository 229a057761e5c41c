/**
 * Answers on their way out. A whole one is a response of the HTTP library. A scripted one is a
 * response too, whose body is the script: on a socket it is played into it, in process into an HTTP
 * parser.
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

export const response = (delivery: Delivery): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = delivery.reply
  if (delivery._tag === "Scripted") return HttpServerResponse.raw(new Script(delivery.steps))
  return body.length === 0
    ? HttpServerResponse.empty({ status, headers: { ...headers, ...(!lengthless.includes(status) && noLength) } })
    : HttpServerResponse.uint8Array(body, { status, headers, contentType: headers["content-type"] })
}

/** Without it, Node sends an empty body as chunks. Where there never is a body, it may not stand (RFC 9110, 8.6). */
const noLength = { "content-length": "0" }
const lengthless = [204, 304]

/** The steps of a scripted response, or `undefined` of any other. */
export const scriptOf = ({ body }: HttpServerResponse.HttpServerResponse): ReadonlyArray<Step> | undefined =>
  body._tag === "Raw" && body.body instanceof Script ? body.body.steps : undefined

/** A connection, seen from the side of the server. `Out` ends what goes out, and `reset` all of it. */
export interface Connection {
  readonly out: Duplex
  readonly fin: Effect.Effect<void>
  readonly reset: Effect.Effect<void>
}

/** One step after the other, until the last. */
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
