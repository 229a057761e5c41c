/** Records each exchange beside the journal: counts it, passes it to a listener, and fails a test if it is unexpected. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { PCGRandom } from "effect/Utils"
import * as Verification from "../../Verification.ts"
import * as Entry from "./entry.ts"
import * as Metrics from "./metrics.ts"

export class Recorder extends Context.Tag("@effect-idv/mock-server/internal/Recorder")<Recorder, {
  /** Whether entries show names and secrets. */
  readonly reveal: boolean
  /** The random sequence of requests that match no session. */
  readonly random: () => number
  /** Counts an entry and passes it on to the server's listeners. */
  readonly record: (entry: Entry.Entry) => Effect.Effect<void>
}>() {}

const maxNearest = 5

/**
 * Returns a listener for every exchange. If a request was unexpected, closing the scope dies, even if the entry or the
 * session of the request no longer exists.
 */
const failOnUnexpected: Effect.Effect<(entry: Entry.Entry) => Effect.Effect<void>, never, Scope.Scope> = Effect.gen(
  function*() {
    let among = 0
    let found = 0
    const nearest: Array<Verification.VerificationFailed["nearest"][number]> = []
    yield* Effect.addFinalizer(() =>
      found === 0 ? Effect.void : Effect.die(
        new Verification.VerificationFailed({ expected: "nothing unexpected", found, among, dropped: 0, nearest })
      )
    )
    return ({ id, response: { status }, rule, unexpected, why }) =>
      Effect.sync(() => {
        among++
        if (!unexpected) return
        found++
        if (nearest.length < maxNearest) nearest.push({ id, rule, status, why, differs: [] })
      })
  }
)

interface Options {
  readonly reveal?: boolean | undefined
  readonly onExchange?: ((entry: Entry.Entry) => Effect.Effect<void>) | undefined
  readonly unexpected?: "fail" | "ignore" | undefined
}

export const layer = (
  { onExchange, reveal = false, unexpected = "ignore" }: Options
): Layer.Layer<Recorder, never, Metrics.Metrics> =>
  Layer.scoped(
    Recorder,
    Effect.gen(function*() {
      const { count } = yield* Metrics.Metrics
      const check = unexpected === "fail" ? yield* failOnUnexpected : () => Effect.void
      const generator = new PCGRandom(yield* Random.nextInt)
      return {
        reveal,
        random: () => generator.number(),
        record: onExchange === undefined
          ? (entry) => Effect.zipRight(count(entry), check(entry))
          : (entry) => Effect.all([count(entry), check(entry), onExchange(Entry.plain(entry))], { discard: true })
      }
    })
  )
