/** Whether a request broke the API document, judged when the scope closes. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Journal from "../../Journal.ts"

const shown = 5

/**
 * Gives what is to be told of every exchange. The closing of the scope dies if one was unexpected,
 * also if its entry or its session is not there any more.
 */
export const make: Effect.Effect<(entry: Journal.Entry) => Effect.Effect<void>, never, Scope.Scope> = Effect.gen(
  function*() {
    let among = 0
    let found = 0
    const first: Array<Journal.Mismatch["nearest"][number]> = []
    yield* Effect.addFinalizer(() =>
      found === 0 ? Effect.void : Effect.die(
        new Journal.VerificationFailed({ expected: "nothing unexpected", found, among, dropped: 0, nearest: first })
      )
    )
    return ({ id, response: { status }, rule, unexpected, why }) =>
      Effect.sync(() => {
        among++
        if (!unexpected) return
        found++
        if (first.length < shown) first.push({ id, rule, status, why })
      })
  }
)
