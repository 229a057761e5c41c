/** What runs an effect of the engine in a program on Effect 4, and the other way round. */
import { Cause, Context, Effect, Exit, Logger, References } from "effect"
import * as Effect3 from "effect-3/Effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert"
import { describe, it } from "vitest"
import * as Effects from "../src/internal/engine/effects.ts"

const same = <A>(value: A) => value

const broken = () => {
  throw new TypeError("not convertible")
}

describe("An effect of the engine", () => {
  it("ends with a defect if its failure cannot be converted", () =>
    Effect.runPromise(Effect.gen(function*() {
      const exit = yield* Effect.exit(Effects.run(Effect3.fail("failure"), { onSuccess: same, onFailure: broken }))
      ok(Exit.isFailure(exit))
      ok(Cause.squash(exit.cause) instanceof TypeError)
    })))

  it("of Effect 4 also does", () =>
    Effect.runPromise(Effect.gen(function*() {
      const embedded = Effects.embed(Effect.fail("failure"), Context.empty(), { onSuccess: same, onFailure: broken })
      const exit = yield* Effect.exit(Effects.run(embedded, { onSuccess: same, onFailure: same }))
      ok(Exit.isFailure(exit))
      strictEqual(Cause.hasDies(exit.cause), true)
    })))

  it("logs no failure that its caller receives", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    return Effect.runPromise(
      Effect.flip(Effects.run(Effect3.fail("canary"), { onSuccess: same, onFailure: same })).pipe(
        Effect.provideService(References.MinimumLogLevel, "All"),
        Effect.provide(Logger.layer([logger]))
      )
    ).then((error) => deepStrictEqual([error, lines], ["canary", []]))
  })
})
