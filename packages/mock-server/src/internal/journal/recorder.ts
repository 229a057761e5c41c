/** The server's options for recording exchanges, and what happens to each of them beside the journal. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Entry } from "./entry.ts"

export class Recorder extends Context.Tag("@effect-idv/mock-server/internal/Recorder")<Recorder, {
  /** Whether entries show names and secrets. */
  readonly reveal: boolean
  /** The random sequence of requests that match no session. */
  readonly random: () => number
  /** Counts an entry and passes it on to the server's listeners. */
  readonly record: (entry: Entry) => Effect.Effect<void>
}>() {}
