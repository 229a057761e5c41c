/** Fails a test whose requests break the service document. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Verification from "../../Verification.ts"
import type { Entry } from "./entry.ts"

const maxNearest = 5

/**
 * Returns a listener for every exchange. If a request was unexpected, closing the scope dies, even if the entry or the
 * session of the request no longer exists.
 */
export const make: Effect.Effect<(entry: Entry) => Effect.Effect<void>, never, Scope.Scope> = Effect.gen(
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
