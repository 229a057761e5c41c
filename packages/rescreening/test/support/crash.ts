/** Worker processes of a run on PostgreSQL, and the comparison of the ledger with the requests at the service. */
import { NodeContext } from "@effect/platform-node"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Context, DateTime, Effect, Layer, Redacted, Schedule, Stream } from "effect"
import * as Postgres from "../../../../tools/test-services/Postgres.ts"
import { Ledger, type LedgerRow, Rescreening, Run } from "../../src/index.ts"
import { layerPeople, many } from "./people.ts"
import * as Processes from "./processes.ts"

export class Server extends Context.Tag("test/Server")<Server, Effect.Effect.Success<typeof Postgres.make>>() {}

export const layerServer = Layer.mergeAll(Layer.scoped(Server, Postgres.make), NodeContext.layer)

export const run = "night"
const matchOf = (index: number) => index % 7 === 0 ? "Testpep" : "Testclear"
const nameOf = (index: number) => `Person${index} ${matchOf(index)}`

/** A planned run in a database of its own, a mock server, and the command for its workers. */
export const prepared = (count: number, options: Partial<Rescreening.PlanOptions>) =>
  Effect.gen(function*() {
    const server = yield* Server
    const url = yield* server.createDatabase
    const service = yield* Processes.service([
      { on: "aml", what: { kind: "latency", distribution: { kind: "fixed", delay: "20 millis" } } }
    ])
    yield* Ledger.migratePg({ url: Redacted.make(url) })
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
    // The database may restart at this moment.
    const read = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.orDie(Effect.retry(effect, Schedule.spaced("200 millis")))
    const isComplete = Effect.map(read(ledger.run(run)), ({ state }) => state === "complete")
    const progress = Effect.map(read(ledger.counts(run)), (counts) => count - Run.left(counts))
    return { ...service, url, ledger, worker, isComplete, progress, server }
  })

/** No person is lost, no person was checked twice unless the ledger said `unknown` in between, and the sums are exact. */
export const verify = (count: number, received: ReadonlyArray<Processes.ReceivedCheck>, ledger: Ledger.Service) =>
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
    const total = [...times.values()].reduce((sum, times) => sum + times, 0)
    return { requests: total, unknown: counts.unknown, twice, slowest }
  })
