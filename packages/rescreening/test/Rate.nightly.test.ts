/**
 * The rate that worker processes share on PostgreSQL, at a service that records when each request arrives. A busy
 * machine delays requests, so the limits are strict only with `RATE_STRICT=true`, on an idle machine.
 */
import { Command, FetchHttpClient, HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Config, Console, Context, Effect, Fiber, Layer, Option, Redacted, Schema, Stream } from "effect"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import { Ledger, Rescreening, Run } from "../src/index.ts"
import * as DelayingProxy from "./support/delayingProxy.ts"
import { key, layerPeople, many } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

class Server extends Context.Tag("test/Server")<Server, Effect.Effect.Success<typeof Postgres.make>>() {}

const run = "night"
const rate = 50
const pause = 3000

const Arrivals = Schema.Array(Schema.Tuple(Schema.Number, Schema.Number))

/** Starts the service, whose check number `limited` gets a 429. Returns its address. */
const startService = (limited: number) =>
  Effect.gen(function*() {
    const program = yield* Program.bundled(new URL("./support/arrivalsServer.ts", import.meta.url))
    const child = yield* Command.start(Command.make("node", program, `${limited}`))
    const lines = child.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.take(1), Stream.runCollect)
    return Option.getOrThrow(Chunk.head(yield* lines))
  })

/**
 * A run with a 429 of its check number `limited`, by this number of workers, at this distance to the database. Returns
 * the arrivals after the 429.
 */
const screened = (workers: number, count: number, limited: number, roundTrip: number) =>
  Effect.gen(function*() {
    const url = yield* startService(limited)
    const { createDatabase, port } = yield* Server
    const database = yield* createDatabase
    const distant = roundTrip === 0 ? port : yield* DelayingProxy.make(port, roundTrip)
    yield* Ledger.migratePg({ url: Redacted.make(database) })
    const ledger = Context.get(yield* Layer.build(Ledger.layerPg({ url: Redacted.make(database) })), Ledger.Ledger)
    yield* Rescreening.plan(many(count), { run, service: `${new URL(url).host} demo-customer`, rate }).pipe(
      Effect.provideService(Ledger.Ledger, ledger),
      Effect.provide(layerPeople())
    )
    const worker = Processes.start(["work", "--run", run, "--concurrency", "8"], {
      DATABASE_URL: database.replace(`:${port}/`, `:${distant}/`),
      IDV_AUTH_URL: url,
      IDV_BASE_URL: url,
      IDV_CUSTOMER_ID: "demo-customer",
      IDV_CUSTOMER_KEY: "demo-key",
      IDV_RESCREEN_KEY: key("k1", 1)
    })
    for (const { end } of yield* Effect.replicateEffect(worker, workers)) {
      const { exitCode, stderr } = yield* Fiber.join(end)
      deepStrictEqual([exitCode, stderr.replaceAll(/^The service asks all workers to wait .*\n/gm, "")], [0, ""])
    }
    deepStrictEqual(yield* ledger.counts(run), { ...Run.noCounts, no_match: count })
    const arrivals = yield* HttpClient.get(`${url}/arrivals`).pipe(
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Arrivals)),
      Effect.provide(FetchHttpClient.layer)
    )
    strictEqual(arrivals.length, count + 1)
    const [limitedAt] = arrivals[limited - 1] ?? [NaN]
    return {
      all: arrivals.map(([at]) => at - limitedAt).toSorted((a, b) => a - b),
      after: arrivals.slice(limited).map(([at]) => at - limitedAt)
    }
  })

/** The most arrivals in any second. */
const fullestSecond = (times: ReadonlyArray<number>) => {
  let first = 0
  let most = 0
  times.forEach((at, index) => {
    while ((times[first] ?? at) <= at - 1000) first++
    most = Math.max(most, index - first + 1)
  })
  return most
}

describe("Worker processes", () => {
  layer(Layer.mergeAll(Layer.scoped(Server, Postgres.make), NodeContext.layer), {
    excludeTestServices: true
  })((it) => {
    const test = (workers: number, roundTrip: number) =>
      Effect.gen(function*() {
        const count = yield* Config.withDefault(Config.integer("RATE_PEOPLE"), 250)
        const isStrict = yield* Config.withDefault(Config.boolean("RATE_STRICT"), false)
        const { after, all } = yield* screened(workers, count, 50, roundTrip)
        const during = after.filter((at) => at < pause)
        const resumed = after.filter((at) => at >= pause)
        const [first = NaN] = resumed
        const average = (resumed.length - 1) / (((resumed.at(-1) ?? NaN) - first) / 1000)
        const most = fullestSecond(all)
        const last = Math.max(0, ...during)
        yield* Console.log(
          `${workers} workers, ${roundTrip} ms from the database: ${
            average.toFixed(1)
          } checks per second of ${rate}, ${most} in the fullest second; ` +
            `after the 429 the last request at ${last.toFixed(0)} ms, and the next at ${first.toFixed(0)} ms`
        )
        assertTrue(average <= rate * 1.02, `${average} per second`)
        assertTrue(last < (isStrict ? 200 + roundTrip : 1000), `a request ${last} ms after the 429`)
        if (isStrict) {
          assertTrue(average >= 47, `${average} per second`)
          assertTrue(most <= rate, `${most} in one second`)
        }
      })

    for (const roundTrip of [0, 100]) {
      for (const workers of [1, 2, 5]) {
        it.scoped(
          `hold the rate and all pause for a 429, with ${workers} of them, ${roundTrip} ms from the database`,
          () => test(workers, roundTrip),
          120_000
        )
      }
    }
  })
})
