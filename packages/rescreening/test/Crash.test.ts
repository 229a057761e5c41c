/**
 * Workers as processes on PostgreSQL, which are killed, paused and cut off: what the service was asked against what the
 * ledger says. `CRASH_PEOPLE=5000 CRASH_SEED=7 npx vitest run packages/rescreening/test/Crash.test.ts` does more.
 */
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
  type Scope,
  Stream
} from "effect"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import { Ledger, type LedgerRow, Rescreening, Run } from "../src/index.ts"
import { layerPeople, many } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

class Server extends Context.Tag("test/Server")<Server, Effect.Effect.Success<typeof Postgres.make>>() {}

const layerServer = Layer.mergeAll(Layer.scoped(Server, Postgres.make), NodeContext.layer)

const run = "night"
const matchOf = (index: number) => index % 7 === 0 ? "Testpep" : "Testclear"
const nameOf = (index: number) => `Person${index} ${matchOf(index)}`

/** A planned run in a database of its own, a mock server, and the command for its workers. */
const prepared = (count: number, options: Partial<Rescreening.PlanOptions>, latency = "20 millis") =>
  Effect.gen(function*() {
    const server = yield* Server
    const url = yield* server.createDatabase
    const service = yield* Processes.service([
      { on: "aml", what: { kind: "latency", distribution: { kind: "fixed", delay: latency } } }
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

/** Nobody is lost, nobody was asked about twice unless the ledger said `unknown` in between, and the sums are exact. */
const verify = (count: number, asked: ReadonlyArray<Processes.Asked>, ledger: Ledger.Service) =>
  Effect.gen(function*() {
    const rows: ReadonlyArray<LedgerRow.LedgerRow> = Chunk.toReadonlyArray(
      yield* Stream.runCollect(ledger.byLine(run))
    )
    const times = new Map<string, number>()
    for (const { name } of asked) times.set(name, (times.get(name) ?? 0) + 1)
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
        const count = yield* Config.withDefault(Config.integer("CRASH_PEOPLE"), 300)
        const seed = yield* Config.withDefault(Config.integer("CRASH_SEED"), 1)
        const { asked, isComplete, ledger, progress, server, worker } = yield* prepared(count, { rate: 60 })
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
        const result = yield* verify(count, asked, ledger)
        assertTrue(isRestarted && kills > 0)
        yield* Console.log(`people ${count}, seed ${seed}, kills ${kills}, ${JSON.stringify(result)}`)
      }),
      600_000
    )
  })
})
