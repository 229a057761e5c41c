/** Plays the script of a scripted response: on a socket, or in process into an HTTP parser. */
import * as Effect from "effect/Effect"
import type { Duplex } from "node:stream"
import type { Step } from "./response.ts"

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
