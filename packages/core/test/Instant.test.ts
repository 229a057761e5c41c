import { assert, describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { vi } from "vitest"
import * as Instant from "../src/internal/schema/instant.ts"
import { withLongerLimits } from "./support/eventually.ts"
import * as Service from "./support/service.ts"
import { getText, provide } from "./support/tokens.ts"

/** Stops the wall clock of the machine at this time while the effect runs. */
const withWallClockAt = (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.spyOn(Date, "now").mockReturnValue(millis)),
    () => effect,
    (clock) => Effect.sync(() => clock.mockRestore())
  )

describe("The live clock", () => {
  it.live("is monotonic when the wall clock is changed", () =>
    Effect.gen(function*() {
      const clock = yield* Effect.clock
      const before = Instant.of(clock)
      const after = yield* Effect.sync(() => Instant.of(clock)).pipe(withWallClockAt(before.wall - 7_200_000))
      strictEqual(after.wall, before.wall - 7_200_000)
      const passed = after.monotonic - before.monotonic
      assert(passed >= 0 && passed < 60_000, `${passed} ms`)
    }))

  it.live("a token expires in time when the wall clock is set back and stopped", () =>
    withLongerLimits(1000, (lifetime) => {
      const service = Service.make({
        token: (_, count) => Effect.succeed(Service.tokenResponse(count, { expires_in: lifetime / 1000 }))
      })
      return Effect.gen(function*() {
        const before = Date.now()
        strictEqual(yield* getText, "token-1")
        // The margin is half of the lifetime.
        yield* Effect.zipRight(Effect.sleep(0.6 * lifetime), getText).pipe(
          withWallClockAt(before - 7_200_000),
          Effect.map((token) => strictEqual(token, "token-2"))
        )
      }).pipe(provide(service))
    }))
})
