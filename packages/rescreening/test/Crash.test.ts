/**
 * Kills, pauses and disconnects worker processes on PostgreSQL, and compares the requests that the service received
 * with the ledger. `CRASH_PEOPLE=5000 CRASH_SEED=7 pnpm test:rescreening Crash` kills more often.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Chunk,
  Config,
  Console,
  Context,
  DateTime,
  Effect,
  Fiber,
  Layer,
  Random,
  Redacted,
  Schedule,
  type Scope,
  Stream
} from "effect"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import { Ledger, type LedgerRow, Rescreening, Run } from "../src/index.ts"
import * as HangingProxy from "./support/hangingProxy.ts"
import { layerPeople, many } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

class Server extends Context.Tag("test/Server")<Server, Effect.Effect.Success<typeof Postgres.make>>() {}

const layerServer = Layer.mergeAll(Layer.scoped(Server, Postgres.make), NodeContext.layer)

const run = "night"
const matchOf = (index: number) => index % 7 === 0 ? "Testpep" : "Testclear"
const nameOf = (index: number) => `Person${index} ${matchOf(index)}`

/** A planned run in a database of its own, a mock server, and the command for its workers. */
const prepared = (count: number, options: Partial<Rescreening.PlanOptions>) =>
  Effect.gen(function*() {
    const server = yield* Server
    const url = yield* server.createDatabase
    const service = yield* Processes.service([
      { on: "aml", what: { kind: "latency", distribution: { kind: "fixed", delay: "20 millis" } } }
    ])
    const ledger = Context.get(yield* Layer.build(Ledger.layerPg({ url: Redacted.make(url) })), Ledger.Ledger)
    yield* Rescreening.plan(many(count, nameOf), { run, service: service.name, rate: 400, ...options }).pipe(
      Effect.provideService(Ledger.Ledger, ledger),
      Effect.provide(layerPeople())
    )
    const worker = (variables: Processes.Variables = {}) =>
      Processes.start(["work", "--run", run, "--lease", "2 seconds", "--concurrency", "8"], {
        ...service.variables,
        DATABASE_URL: url,
        ...variables
      })
    const isComplete = Effect.map(Effect.orDie(ledger.run(run)), ({ state }) => state === "complete")
    const progress = Effect.map(Effect.orDie(ledger.counts(run)), (counts) => count - Run.left(counts))
    return { ...service, url, ledger, worker, isComplete, progress, server }
  })

/** No person is lost, no person was checked twice unless the ledger said `unknown` in between, and the sums are exact. */
const verify = (count: number, received: ReadonlyArray<Processes.ReceivedCheck>, ledger: Ledger.Service) =>
  Effect.gen(function*() {
    const rows: ReadonlyArray<LedgerRow.LedgerRow> = Chunk.toReadonlyArray(
      yield* Stream.runCollect(ledger.byLine(run))
    )
    const times = new Map<string, number>()
    for (const { name } of received) times.set(name, (times.get(name) ?? 0) + 1)
    const counts = yield* ledger.counts(run)
    deepStrictEqual([rows.length, Run.total(counts), Run.left(counts), counts.not_screened], [count, count, 0, 0])
    let twice = 0
    let slowest = 0
    for (const { line, sentAt, settledAt, state, timesSent, timesUnknown } of rows) {
      const requests = times.get(nameOf(line)) ?? 0
      assertTrue(requests <= timesSent, `line ${line}: ${requests} requests, sent ${timesSent} times`)
      assertTrue(requests <= 1 + timesUnknown, `line ${line}: ${requests} requests, unknown ${timesUnknown} times`)
      if (state !== "unknown") {
        assertTrue(requests >= 1)
        strictEqual(state, matchOf(line) === "Testpep" ? "potential_match" : "no_match")
      }
      if (requests > 1) twice++
      if (state === "unknown" && sentAt !== null && settledAt !== null) {
        slowest = Math.max(slowest, DateTime.toEpochMillis(settledAt) - DateTime.toEpochMillis(sentAt))
      }
    }
    assertTrue(slowest < 60_000, `taken over after ${slowest} ms`)
    const total = [...times.values()].reduce((sum, times) => sum + times, 0)
    return { requests: total, unknown: counts.unknown, twice, takenOverAfter: `${Math.round(slowest)} ms` }
  })

describe("Workers as processes", () => {
  layer(layerServer, { excludeTestServices: true, timeout: 60_000 })((it) => {
    const test = <A, E>(
      name: string,
      effect: Effect.Effect<A, E, Server | NodeContext.NodeContext | Scope.Scope>,
      timeout = 60_000
    ) => it.scoped(name, () => effect, timeout)

    test(
      "lose nobody and send nobody twice when they are killed again and again, and the database restarts",
      Effect.gen(function*() {
        const count = yield* Config.withDefault(Config.integer("CRASH_PEOPLE"), 200)
        const seed = yield* Config.withDefault(Config.integer("CRASH_SEED"), 1)
        const { isComplete, ledger, progress, received, server, worker } = yield* prepared(count, { rate: 60 })
        const random = Random.make(seed)
        const workers = yield* Effect.replicateEffect(worker(), 3)
        let kills = 0
        let isRestarted = false
        const disturb = Effect.gen(function*() {
          yield* Effect.sleep(yield* random.nextIntBetween(1000, 2500))
          const index = yield* random.nextIntBetween(0, workers.length)
          yield* workers[index]?.signal("SIGKILL") ?? Effect.void
          kills++
          workers[index] = yield* worker()
          if (!isRestarted && (yield* progress) > count / 2) {
            isRestarted = true
            yield* server.restart
          }
        })
        while (!(yield* isComplete)) yield* disturb
        yield* Effect.forEach(workers, ({ end }) => Fiber.join(end))
        const result = yield* verify(count, received, ledger)
        assertTrue(isRestarted && kills > 0)
        yield* Console.log(`people ${count}, seed ${seed}, kills ${kills}, ${JSON.stringify(result)}`)
      }),
      600_000
    )

    test(
      "are fenced when they continue after their lease ended, even with clocks that differ by a minute",
      Effect.gen(function*() {
        const count = 140
        const { ledger, progress, received, worker } = yield* prepared(count, { rate: 40 })
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
        const { requests, twice } = yield* verify(count, received, ledger)
        strictEqual(twice, 0)
        assertTrue(requests >= count - 8)
      })
    )

    test(
      "are replaced when their network to the database hangs, and do no harm when it recovers",
      Effect.gen(function*() {
        const count = 140
        const { ledger, progress, received, server, url, worker } = yield* prepared(count, { rate: 40 })
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
        strictEqual((yield* verify(count, received, ledger)).twice, 0)
      })
    )
  })
})
