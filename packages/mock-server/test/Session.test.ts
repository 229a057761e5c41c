import { Session } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect, Option } from "effect"

const session = Effect.flatMap(Session.Sessions, ({ find }) => find(Session.demoCustomer.customerId))

describe("Session", () => {
  it.effect("keeps the last 10000 tokens and forgets those before", () =>
    Effect.gen(function*() {
      const { issueToken, statusOf } = yield* session
      const first = yield* issueToken
      const second = yield* issueToken
      yield* Effect.replicateEffect(issueToken, 9999, { discard: true })
      strictEqual(yield* statusOf(first), "unknown")
      strictEqual(yield* statusOf(second), "valid")
    }).pipe(Effect.provide(Session.layer([Session.demoCustomer]))))

  it.effect("a handle that carries no customer, or another's, finds nothing", () =>
    Effect.gen(function*() {
      const { findCarried } = yield* Session.Sessions
      for (const handle of ["", ".", "abc", "%%%", "bm9ib2R5.0000"]) {
        strictEqual(Option.isNone(findCarried(handle)), true, handle)
      }
    }).pipe(Effect.provide(Session.layer([Session.demoCustomer]))))
})
