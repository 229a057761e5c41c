/**
 * Kills worker processes on PostgreSQL and restarts the database, and compares the requests that the service received
 * with the ledger. `CRASH_PEOPLE=5000 CRASH_SEED=7 npx vitest run packages/rescreening/test/Crash.test.ts` kills more.
 */
import { describe, layer } from "@effect/vitest"
import { Config, Console, Effect, Fiber, Random } from "effect"
import * as Crash from "./support/crash.ts"

/** Returns whether workers were killed and the database restarted before the run was complete. */
const kill = (count: number, seed: number) =>
  Effect.gen(function*() {
    const { isComplete, ledger, progress, received, server, worker } = yield* Crash.prepared(count, { rate: 60 })
    const random = Random.make(seed)
    const workers = yield* Effect.replicateEffect(worker(), 3)
    let kills = 0
    let killAt = 10
    let isRestarted = false
    while (!(yield* isComplete)) {
      yield* Effect.sleep("50 millis")
      const done = yield* progress
      if (done >= killAt && done < count) {
        killAt = done + (yield* random.nextIntBetween(20, 60))
        const index = yield* random.nextIntBetween(0, workers.length)
        yield* workers[index]?.signal("SIGKILL") ?? Effect.void
        kills++
        workers[index] = yield* worker()
      }
      if (!isRestarted && done > count / 2) {
        isRestarted = true
        yield* server.restart
      }
    }
    yield* Effect.forEach(workers, ({ end }) => Fiber.join(end))
    const { slowest, ...result } = yield* Crash.verify(count, received, ledger)
    yield* Console.log(
      `people ${count}, seed ${seed}, kills ${kills}, ${JSON.stringify(result)}, taken over after ${
        Math.round(slowest)
      } ms`
    )
    return isRestarted && kills > 0
  })

describe("Workers as processes", () => {
  layer(Crash.layerServer, { excludeTestServices: true })((it) => {
    it.scoped(
      "lose nobody and send nobody twice when they are killed again and again, and the database restarts",
      () =>
        Effect.gen(function*() {
          let count = yield* Config.withDefault(Config.integer("CRASH_PEOPLE"), 120)
          const seed = yield* Config.withDefault(Config.integer("CRASH_SEED"), 1)
          // If this process did not run, the run may be complete before it kills anybody.
          while (!(yield* Effect.scoped(kill(count, seed)))) count *= 2
        })
    )
  })
})
