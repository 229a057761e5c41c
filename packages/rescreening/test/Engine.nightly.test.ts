import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Clock,
  Console,
  Context,
  Deferred,
  type Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Redacted,
  Schedule,
  Scope,
  TestClock,
  TestContext,
  TestServices
} from "effect"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import * as EnginePgBoss from "../src/EnginePgBoss.ts"
import { Engine, Ledger, Rescreening, Run } from "../src/index.ts"
import * as PostgresClient from "../src/internal/postgresClient.ts"
import * as HangingProxy from "./support/hangingProxy.ts"
import { layerPeople, many, service } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

class Server extends Context.Tag("test/Server")<Server, Effect.Effect.Success<typeof Postgres.make>>() {}

const run = "night"
const where = { run, service: "api.example.com" }

const newDatabase = Effect.map(Effect.flatMap(Server, ({ createDatabase }) => createDatabase), Redacted.make)

/** A ledger and an engine in the same database. */
const layersIn = (url: Redacted.Redacted, jobTimeout: Duration.DurationInput) =>
  Layer.mergeAll(Ledger.layerPg({ url }), EnginePgBoss.layer({ url, jobTimeout }), layerPeople())

const layers = Effect.map(newDatabase, (url) => layersIn(url, "5 seconds"))

const complete = Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run(run)).pipe(
  Effect.repeat({ until: ({ state }) => state === "complete", schedule: Schedule.spaced("100 millis") }),
  Effect.timeout("40 seconds")
)

const counts = Effect.flatMap(Ledger.Ledger, (ledger) => ledger.counts(run))

describe("Engine on pg-boss", () => {
  layer(Layer.mergeAll(Layer.scoped(Server, Postgres.make), NodeContext.layer), {
    excludeTestServices: true
  })((it) => {
    it.scoped("brings each shard of a run to one of several workers, which complete the run", () =>
      Effect.gen(function*() {
        const aml = service(() => "No", 5)
        const planned = yield* Rescreening.plan(many(400), { ...where, rate: 1000, shards: 4 })
        yield* Engine.dispatch(planned)
        yield* Engine.dispatch(planned)
        const workers = yield* Effect.fork(
          Effect.replicateEffect(Engine.work(where), 2, { concurrency: 2 }).pipe(Effect.provide(aml.layer))
        )
        yield* complete
        yield* Fiber.interrupt(workers)
        deepStrictEqual(yield* counts, { ...Run.noCounts, no_match: 400 })
        strictEqual(aml.names.length, 400)
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped("creates its tables if several workers start at once", () =>
      Effect.gen(function*() {
        const { createDatabase } = yield* Server
        for (let round = 0; round < 5; round++) {
          const url = Redacted.make(yield* createDatabase)
          yield* Effect.scoped(
            Effect.replicateEffect(Layer.build(EnginePgBoss.layer({ url })), 6, { concurrency: "unbounded" })
          )
        }
      }))

    it.scoped("continues a shard in a later job if it takes longer than a job may", () =>
      Effect.gen(function*() {
        const aml = service()
        yield* Engine.dispatch(yield* Rescreening.plan(many(120), { ...where, rate: 20, shards: 1 }))
        const worker = yield* Effect.fork(Effect.provide(Engine.work(where), aml.layer))
        yield* complete
        yield* Fiber.interrupt(worker)
        deepStrictEqual(yield* counts, { ...Run.noCounts, no_match: 120 })
        strictEqual(aml.names.length, 120)
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped("repeats the job of a shard until a dead worker loses its rows", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        yield* Engine.dispatch(yield* Rescreening.plan(many(5), { ...where, shards: 1 }))
        // Longer than a job may take.
        const dead = yield* ledger.register(run, 7000)
        strictEqual((yield* ledger.claim({ run, shard: 0, worker: dead, limit: 5 })).length, 5)
        const aml = service()
        const worker = yield* Effect.fork(Effect.provide(Engine.work(where), aml.layer))
        yield* complete
        yield* Fiber.interrupt(worker)
        deepStrictEqual(yield* counts, { ...Run.noCounts, no_match: 5 })
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped("makes the job of an interrupted worker available at once, and closes all connections", () =>
      Effect.gen(function*() {
        const url = yield* newDatabase
        const aml = service(() => "No", 500)
        const database = layersIn(url, "5 minutes")
        yield* Effect.flatMap(Rescreening.plan(many(40), { ...where, rate: 10, shards: 1 }), Engine.dispatch).pipe(
          Effect.provide(database)
        )
        const startWorker = Effect.fork(Effect.provide(Engine.work(where), [database, aml.layer]))
        const first = yield* startWorker
        yield* Effect.repeat(Effect.sleep("50 millis"), { until: () => aml.names.length > 10 })
        yield* Fiber.interrupt(first)
        strictEqual(aml.inFlight.now, 0)
        const sql = Context.get(yield* Layer.build(PostgresClient.layer(url)), SqlClient.SqlClient)
        const jobs = yield* sql`SELECT state FROM pgboss.job WHERE name = 'idv-rescreen-shards'`
        deepStrictEqual(jobs, [{ state: "retry" }])
        deepStrictEqual(
          yield* sql`SELECT DISTINCT state FROM idv_rescreen_people WHERE state IN ('claimed', 'sent')`,
          []
        )
        // PostgreSQL may need a moment to end the process of a closed connection.
        yield* sql`SELECT application_name FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`.pipe(
          Effect.repeat({ until: (others) => others.length === 0, schedule: Schedule.spaced("50 millis") }),
          Effect.timeout("5 seconds")
        )
        yield* startWorker
        yield* Effect.provide(complete, Ledger.layerPg({ url }))
        strictEqual(aml.names.length, 40)
      }))

    it.scoped("ends an interrupted worker within a timeout if the database does not respond", () =>
      Effect.gen(function*() {
        const { port } = yield* Server
        const proxy = yield* HangingProxy.make(port)
        const url = Redacted.value(yield* newDatabase).replace(`:${port}/`, `:${proxy.port}/`)
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(EnginePgBoss.layer({ url: Redacted.make(url) }), scope)
        const engine = Context.get(context, Engine.Engine)
        yield* engine.dispatch([new Engine.Shard({ run, shard: 0 })])
        const started = yield* Deferred.make<void>()
        const worker = yield* Effect.fork(engine.work({
          night: Effect.void,
          shard: () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
        }))
        yield* Deferred.await(started)
        yield* proxy.hang(true)
        const end = (effect: Effect.Effect<unknown>) =>
          Effect.gen(function*() {
            const ending = yield* Effect.fork(effect)
            yield* TestClock.adjust("29 seconds")
            strictEqual((yield* Fiber.poll(ending))._tag, "None")
            yield* TestClock.adjust("1 second")
            yield* Fiber.join(ending)
          })
        yield* end(Fiber.interrupt(worker))
        yield* end(Scope.close(scope, Exit.void))
      }).pipe(Effect.provide(TestContext.TestContext)))

    it.scoped("leaves the jobs of a run to machines with its service", () =>
      Effect.gen(function*() {
        const other = service()
        const aml = service()
        yield* Engine.dispatch(yield* Rescreening.plan(many(20), { ...where, shards: 4 }))
        const messages: Array<string> = []
        const logger = Logger.replace(
          Logger.defaultLogger,
          Logger.make(({ message }) => void messages.push(String(message)))
        )
        const wrong = yield* Effect.fork(
          Effect.provide(Engine.work({ ...where, service: "other.example.com" }), [other.layer, logger])
        )
        yield* Effect.sleep("3 seconds")
        const worker = yield* Effect.fork(Effect.provide(Engine.work(where), aml.layer))
        yield* complete
        yield* Fiber.interruptAll([wrong, worker])
        deepStrictEqual([other.names.length, aml.names.length], [0, 20])
        deepStrictEqual([...new Set(messages)], [
          "A job of idv-rescreen-shards will be repeated: RunConflict: Run night was planned with another service. " +
          "Use the original values, or plan a run with another name."
        ])
        assertTrue(messages.length <= 2, `${messages.length} jobs failed`)
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped("brings new jobs although older ones always fail", () =>
      Effect.gen(function*() {
        const aml = service()
        const stale = { ...where, run: "stale", service: "other.example.com", shards: 1 }
        yield* Engine.dispatch(yield* Rescreening.plan(many(8), stale))
        yield* Engine.dispatch(yield* Rescreening.plan(many(20), { ...where, shards: 2 }))
        const worker = yield* Effect.fork(Effect.provide(Engine.work(where), aml.layer))
        yield* complete
        yield* Fiber.interrupt(worker)
        strictEqual(aml.names.length, 20)
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped(
      "takes no jobs for the operations that it abandoned while the network hung",
      () =>
        Effect.gen(function*() {
          const { port } = yield* Server
          const url = yield* newDatabase
          const proxy = yield* HangingProxy.make(port)
          const hanging = Redacted.make(Redacted.value(url).replace(`:${port}/`, `:${proxy.port}/`))
          const contextOf = (url: Redacted.Redacted) => Layer.build(EnginePgBoss.layer({ url }))
          const direct = Context.get(yield* contextOf(url), Engine.Engine)
          const engine = Context.get(yield* contextOf(hanging), Engine.Engine)
          const sql = Context.get(yield* Layer.build(PostgresClient.layer(url)), SqlClient.SqlClient)
          const counted = sql`SELECT state, CAST(COUNT(*) AS INTEGER) AS count FROM pgboss.job
            WHERE name = 'idv-rescreen-shards' GROUP BY state ORDER BY state`
          const live = (duration: Duration.DurationInput) => TestServices.provideLive(Effect.sleep(duration))
          const count = 20
          let handled = 0
          const worker = yield* Effect.fork(engine.work({
            night: Effect.void,
            shard: () => Effect.sync(() => handled++)
          }))
          // The queue is empty, so the worker sleeps.
          yield* live("1 second")
          yield* direct.dispatch(Array.from({ length: count }, (_, shard) => new Engine.Shard({ run, shard })))
          yield* proxy.hang(true)
          yield* TestClock.adjust("2 seconds")
          // pg closes unused connections after 10 seconds.
          yield* live("11 seconds")
          // The worker abandons an operation after 30 seconds and begins the next one 2 seconds later.
          for (let times = 0; times < 12; times++) {
            yield* TestClock.adjust("30 seconds")
            yield* live("50 millis")
            yield* TestClock.adjust("2 seconds")
            yield* live("50 millis")
          }
          yield* live("11 seconds")
          yield* proxy.hang(false)
          yield* live("2 seconds")
          const [active = 0] = (yield* counted).flatMap(({ count, state }) => state === "active" ? [Number(count)] : [])
          // The network may deliver the statement that was under way when it hung.
          assertTrue(active <= 1, `${active} jobs are active, and no worker runs them`)
          for (let times = 0; times < 20 && handled < count - active; times++) {
            yield* TestClock.adjust("2 seconds")
            yield* live("200 millis")
          }
          strictEqual(handled, count - active)
          yield* Fiber.interrupt(worker)
        }).pipe(Effect.provide(TestContext.TestContext))
    )

    it.scoped("starts a run by its schedule, and repeats the start of a run that failed", () =>
      Effect.gen(function*() {
        const aml = service()
        let starts = 0
        const night = Effect.suspend(() =>
          ++starts === 1
            ? Effect.dieMessage("The population is not available")
            : Effect.flatMap(Rescreening.plan(many(10), { ...where, shards: 1 }), Engine.dispatch)
        )
        const worker = yield* Effect.fork(
          Effect.provide(Engine.work({ ...where, schedule: { cron: "* * * * *", night } }), aml.layer)
        )
        yield* complete.pipe(
          Effect.retry({ while: ({ _tag }) => _tag === "RunNotFound", schedule: Schedule.spaced("1 second") }),
          Effect.timeout("90 seconds")
        )
        yield* Fiber.interrupt(worker)
        strictEqual(aml.names.length, 10)
        assertTrue(starts >= 2)
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped("leaves a paused run alone, and fails if the database does not exist", () =>
      Effect.gen(function*() {
        const aml = service()
        yield* Engine.dispatch(yield* Rescreening.plan(many(10), { ...where, shards: 1 }))
        yield* Rescreening.pause(run)
        const worker = yield* Effect.fork(Effect.provide(Engine.work(where), aml.layer))
        yield* Effect.sleep("4 seconds")
        strictEqual(aml.names.length, 0)
        yield* Rescreening.resume(run)
        yield* Engine.dispatch(yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run(run)))
        yield* complete
        yield* Fiber.interrupt(worker)
        strictEqual(aml.names.length, 10)
        const url = Redacted.make("postgres://someone:canary-password@127.0.0.1:1/none")
        const error = yield* Effect.flip(Layer.build(EnginePgBoss.layer({ url })))
        strictEqual(error._tag, "EngineUnavailable")
        assertTrue(error.message.includes("ECONNREFUSED") && !JSON.stringify(error).includes("canary"))
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped(
      "repeats the shards of a process that was killed, and nobody is sent twice unnoticed",
      () =>
        Effect.gen(function*() {
          const people = 200
          const { createDatabase } = yield* Server
          const url = yield* createDatabase
          const ledger = Context.get(yield* Layer.build(Ledger.layerPg({ url: Redacted.make(url) })), Ledger.Ledger)
          const files = yield* FileSystem.FileSystem
          const file = `${yield* files.makeTempDirectoryScoped()}/people.csv`
          const lines = Array.from({ length: people }, (_, index) => `C-${index},Person${index} Testclear,1990-02-01`)
          yield* files.writeFileString(file, ["id,name,date_of_birth", ...lines, ""].join("\n"))
          const { received, variables } = yield* Processes.service()
          const program = yield* Program.bundled(
            new URL("../../examples/src/rescreening/nightly.ts", import.meta.url)
          )
          const worker = (...args: ReadonlyArray<string>) =>
            Processes.startProgram(program, [file, ...args], { ...variables, DATABASE_URL: url })
          const first = yield* worker("--now")
          yield* Effect.repeat(Effect.sleep("50 millis"), { until: () => received.length > 20 })
          yield* first.signal("SIGKILL")
          const killedAt = yield* Clock.currentTimeMillis
          const before = received.length
          yield* worker()
          yield* worker()
          const [{ id } = { id: "" }] = yield* ledger.runs
          yield* ledger.run(id).pipe(
            Effect.repeat({ until: ({ state }) => state === "complete", schedule: Schedule.spaced("200 millis") }),
            Effect.timeout("150 seconds")
          )
          const counts = yield* ledger.counts(id)
          strictEqual(counts.no_match + counts.unknown, people)
          strictEqual(new Set(received.map(({ name }) => name)).size, received.length)
          yield* Console.log(
            `killed after ${before} of ${people} checks; complete ${
              ((yield* Clock.currentTimeMillis) - killedAt) / 1000
            } s later, ${counts.unknown} unknown`
          )
        })
    )
  })
})
