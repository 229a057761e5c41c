import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Claims from "../src/internal/worker/claims.ts"

const seconds = 1000

describe("The claims of a worker", () => {
  it.effect("are leased for as long as they are renewed, and until the last row has ended", () =>
    Effect.gen(function*() {
      let now = 0
      let isLost = false
      const ended: Array<string> = []
      const claims = Claims.make(
        {
          claim: ({ limit, token = "" }) =>
            Effect.succeed(
              Array.from({ length: limit }, (_, line) => ({ line, token, id: "", person: null, timesSent: 0 }))
            ),
          endLeases: (tokens) => Effect.sync(() => void ended.push(tokens.join())),
          releaseAll: () => Effect.succeed(0),
          renew: (tokens) => Effect.sync(() => new Set(isLost ? [] : tokens))
        },
        { lease: 60 * seconds, now: () => now, run: "1" }
      )
      const [renewed, lost] = yield* Effect.all([claims.take(2), claims.take(1)])
      if (renewed === undefined || lost === undefined) return yield* Effect.dieMessage("no row was claimed")
      const areLeased = () => [renewed, lost].map(({ claim }) => claims.isLeased(claim))

      now = 40 * seconds
      yield* claims.renew
      now = 80 * seconds
      deepStrictEqual(areLeased(), [true, true])
      now = 100 * seconds
      deepStrictEqual(areLeased(), [false, false])

      yield* claims.renew
      deepStrictEqual(areLeased(), [true, true])
      yield* claims.leave(renewed.claim)
      yield* claims.renew
      deepStrictEqual(ended, [])
      yield* claims.leave(renewed.claim)
      isLost = true
      yield* claims.renew
      deepStrictEqual(ended, [renewed.claim.token])
      strictEqual(claims.isLeased(lost.claim), false)
    }))
})
