/** What is done with every exchange beside the journal: it is counted, and told to whoever asked. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Journal from "../../Journal.ts"

/**
 * - `reveal`: names and secrets are written as they are.
 * - `random`: for requests that carry no session.
 */
export class Recorder extends Context.Tag("@effect-idv/mock-server/internal/Recorder")<Recorder, {
  readonly reveal: boolean
  readonly random: () => number
  readonly record: (entry: Journal.Entry) => Effect.Effect<void>
}>() {}
