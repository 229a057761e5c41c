/** Worker processes that are suspended or disconnected. */
import { FileSystem } from "@effect/platform"
import type { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { assertTrue, strictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Schedule, type Scope } from "effect"
import * as Crash from "./support/crash.ts"
import * as HangingProxy from "./support/hangingProxy.ts"

describe("Workers as processes", () => {
  layer(Crash.layerServer, { excludeTestServices: true })((it) => {
    const test = <A, E>(
      name: string,
      effect: Effect.Effect<A, E, Crash.Server | NodeContext.NodeContext | Scope.Scope>
    ) => it.scoped(name, () => effect)

    test(
      "are fenced when they continue after their lease ended, even with clocks that differ by a minute",
      Effect.gen(function*() {
        const count = 140
        const { ledger, progress, received, worker } = yield* Crash.prepared(count, { rate: 40 })
        const stopped = yield* worker()
        yield* Effect.repeat(progress, { until: (done) => done > 10, schedule: Schedule.spaced("50 millis") })
        yield* stopped.signal("SIGSTOP")
        const files = yield* FileSystem.FileSystem
        const skew = `${yield* files.makeTempDirectoryScoped()}/skew.mjs`
        yield* files.writeFileString(skew, "const now = Date.now; Date.now = () => now() + 60_000")
        const other = yield* worker({ NODE_OPTIONS: `--import ${skew}` })
        yield* Effect.sleep("4 seconds")
        yield* stopped.signal("SIGCONT")
        const ends = yield* Effect.all([Fiber.join(stopped.end), Fiber.join(other.end)])
        for (const { exitCode, stderr } of ends) {
          assertTrue(stderr === "" && (exitCode === 10 || exitCode === 2), stderr)
        }
        const { requests, slowest, twice } = yield* Crash.verify(count, received, ledger)
        strictEqual(twice, 0)
        assertTrue(slowest < 60_000, `taken over after ${slowest} ms`)
        // At most the checks in flight of three leases, because a busy machine may also end the lease of the other.
        assertTrue(requests >= count - 24)
      })
    )

    test(
      "are replaced when their network to the database hangs, and do no harm when it recovers",
      Effect.gen(function*() {
        const count = 140
        const { ledger, progress, received, server, url, worker } = yield* Crash.prepared(count, { rate: 40 })
        const proxy = yield* HangingProxy.make(server.port)
        const cutOff = yield* worker({ DATABASE_URL: url.replace(`:${server.port}/`, `:${proxy.port}/`) })
        yield* Effect.repeat(progress, { until: (done) => done > 10, schedule: Schedule.spaced("50 millis") })
        yield* proxy.hang(true)
        const other = yield* worker()
        yield* Effect.sleep("4 seconds")
        yield* proxy.hang(false)
        const { exitCode, stderr } = yield* Fiber.join(other.end)
        assertTrue(stderr === "" && (exitCode === 10 || exitCode === 2), stderr)
        yield* Fiber.join(cutOff.end)
        strictEqual((yield* Crash.verify(count, received, ledger)).twice, 0)
      })
    )
  })
})
