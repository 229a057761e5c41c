import { SqlClient, Statement } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Chunk,
  Context,
  DateTime,
  Deferred,
  Effect,
  Either,
  Fiber,
  Layer,
  Option,
  Redacted,
  Schedule,
  Schema,
  Stream
} from "effect"
import { Ledger, Run } from "../src/index.ts"
import * as PostgresClient from "../src/internal/postgresClient.ts"
import * as Databases from "./support/databases.ts"

const policy = Schema.decodeSync(Run.Policy)({ shards: 1 })
const service = "api.example.com"
const newRun = { id: "2026-11", policy, service, people: "encrypted" } as const
const hour = 3_600_000

const row = (line: number, id: string | null = `K${line}`): Ledger.PlannedRow => ({
  line,
  id,
  person: id === null ? null : `encrypted ${line}`,
  codes: id === null ? ["name.empty"] : []
})

const planned = (...rows: ReadonlyArray<Ledger.PlannedRow>) =>
  Effect.gen(function*() {
    const context = yield* Databases.ledger
    const ledger = Context.get(context, Ledger.Ledger)
    yield* ledger.plan(newRun, Stream.fromIterable(rows), () => "digest")
    return { ledger, sql: Context.get(context, SqlClient.SqlClient) }
  })

const opened = (client: Layer.Layer<SqlClient.SqlClient>) =>
  Effect.map(Layer.build(Layer.fresh(Layer.provideMerge(Ledger.layer, client))), (context) => ({
    ledger: Context.get(context, Ledger.Ledger),
    sql: Context.get(context, SqlClient.SqlClient)
  }))

/** The ledgers of two processes with the same database. */
const two = Effect.gen(function*() {
  const { client, url } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
  return { url, first: yield* opened(client), second: yield* opened(client) }
})

/** More rows than one statement stores, then `wait`, then one more row. */
const slowly = <E, R>(wait: Effect.Effect<unknown, E, R>) =>
  Stream.concat(
    Stream.map(Stream.range(1, 2500), (line) => row(line)),
    Stream.fromEffect(Effect.as(wait, row(2501)))
  )

describe.each(Databases.kinds)("Ledger in %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    it.scoped("creates its tables once when several ledgers begin at the same moment", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const context = yield* Layer.build(client)
        const ledgers = yield* Effect.replicateEffect(Ledger.make, 5, { concurrency: "unbounded" }).pipe(
          Effect.provide(context)
        )
        strictEqual(new Set(ledgers.map(({ salt }) => Redacted.value(salt))).size, 1)
        for (const { runs } of ledgers) deepStrictEqual(yield* runs, [])
      }))

    it.scoped("refuses tables without a salt, because digests with an empty key could be guessed", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const context = yield* Layer.build(Layer.provideMerge(Ledger.layer, client))
        const sql = Context.get(context, SqlClient.SqlClient)
        const opened = Effect.scoped(Layer.build(Layer.fresh(Layer.provide(Ledger.layer, client))))
        for (
          const lose of [
            sql`UPDATE idv_rescreen_meta SET value = '' WHERE name = 'salt'`,
            sql`DELETE FROM idv_rescreen_meta WHERE name = 'salt'`
          ]
        ) {
          yield* lose
          strictEqual(
            (yield* Effect.flip(opened)).message,
            "The ledger has no salt for its digests. Restore the table idv_rescreen_meta from a backup."
          )
        }
      }))

    it.scoped("refuses tables of a newer version and leaves them as they are", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const context = yield* Layer.build(Layer.provideMerge(Ledger.layer, client))
        const sql = Context.get(context, SqlClient.SqlClient)
        yield* sql`UPDATE idv_rescreen_meta SET value = '3' WHERE name = 'version'`
        const error = yield* Effect.flip(Layer.build(Layer.fresh(Layer.provide(Ledger.layer, client))))
        strictEqual(
          error.message,
          "The tables of the ledger have version 3, and this program knows versions up to 2. " +
            "Upgrade @effect-idv/rescreening."
        )
        const rows = yield* sql`SELECT value FROM idv_rescreen_meta WHERE name = 'version'`
        deepStrictEqual(rows.map((row) => ({ ...row })), [{ value: "3" }])
      }))

    it.scoped("upgrades tables of version 1, whose runs and rows stay as they are", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const { ledger, sql } = yield* opened(client)
        yield* ledger.plan(newRun, Stream.make(row(1), row(2)), () => "digest")
        const before = yield* ledger.run(newRun.id)
        yield* sql`ALTER TABLE idv_rescreen_runs DROP COLUMN planner`
        yield* sql`ALTER TABLE idv_rescreen_runs DROP COLUMN planner_lease_until`
        yield* sql`UPDATE idv_rescreen_meta SET value = '1' WHERE name = 'version'`
        const upgraded = (yield* opened(client)).ledger
        deepStrictEqual(yield* upgraded.run(newRun.id), before)
        strictEqual(yield* upgraded.plan(newRun, Stream.make(row(3)), () => "other"), false)
        const worker = yield* upgraded.register(newRun.id, 10_000)
        const claims = yield* upgraded.claim({ run: newRun.id, shard: 0, worker, limit: 5 })
        deepStrictEqual(claims.map(({ id }) => id), ["K1", "K2"])
      }))

    it.scoped("completes the tables of a database that an interrupted process left without a version", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const context = yield* Layer.build(client)
        yield* Context.get(context, SqlClient.SqlClient)`CREATE TABLE idv_rescreen_meta (
          name TEXT PRIMARY KEY, value TEXT NOT NULL
        )`
        deepStrictEqual(yield* Effect.flatMap(Ledger.make, ({ runs }) => runs).pipe(Effect.provide(context)), [])
      }))

    it.scoped("plans a run with all its rows, and counts wrong rows and repeated keys", () =>
      Effect.gen(function*() {
        const { ledger } = yield* planned(row(1), row(2, null), row(3, "K1"), row(4))
        const run = yield* ledger.run("2026-11")
        deepStrictEqual(
          [run.total, run.digest, run.state, run.policy, run.people],
          [4, "digest", "open", policy, "encrypted"]
        )
        const age = DateTime.distance(run.plannedAt, yield* DateTime.now)
        assertTrue(Math.abs(age) < 10_000)
        deepStrictEqual(yield* ledger.counts("2026-11"), { ...Run.noCounts, pending: 2, wrong_row: 2 })
        const rows = Chunk.toReadonlyArray(yield* Stream.runCollect(ledger.byLine("2026-11")))
        deepStrictEqual(rows.map(({ codes, id, line, state }) => [line, id, state, codes]), [
          [1, "K1", "pending", []],
          [2, null, "wrong_row", ["name.empty"]],
          [3, null, "wrong_row", ["id.repeated"]],
          [4, "K4", "pending", []]
        ])
      }))

    it.scoped("stores nothing of a run whose population fails, and returns false for a name that is taken", () =>
      Effect.gen(function*() {
        const { ledger } = yield* planned(row(1))
        strictEqual(yield* ledger.plan(newRun, Stream.make(row(2)), () => "other"), false)
        const rows = Stream.concat(Stream.range(1, 2500).pipe(Stream.map((line) => row(line))), Stream.fail("broken"))
        strictEqual(yield* Effect.flip(ledger.plan({ ...newRun, id: "broken" }, rows, () => "digest")), "broken")
        assertTrue(Option.isNone(yield* ledger.find("broken")))
        deepStrictEqual(yield* ledger.counts("broken"), Run.noCounts)
        strictEqual((yield* Effect.flip(ledger.run("broken"))).message.startsWith("There is no run broken."), true)
      }))

    it.scoped("has discarded a plan when its interruption ends", () =>
      Effect.gen(function*() {
        const { ledger, sql } = (yield* two).first
        const stored = yield* Deferred.make<void>()
        const waiting = Stream.fromEffect(Effect.zipRight(Deferred.succeed(stored, undefined), Effect.never))
        const rows = Stream.concat(Stream.map(Stream.range(1, 5000), (line) => row(line)), waiting)
        const fiber = yield* Effect.fork(ledger.plan(newRun, rows, () => ""))
        yield* Deferred.await(stored)
        yield* Fiber.interrupt(fiber)
        deepStrictEqual(yield* sql`SELECT id FROM idv_rescreen_runs`, [])
        deepStrictEqual(yield* sql`SELECT line FROM idv_rescreen_people LIMIT 1`, [])
      }))

    it.scoped("lets other processes write while it plans a run, which they cannot find before it is complete", () =>
      Effect.gen(function*() {
        const { first, second } = yield* two
        const write = Effect.gen(function*() {
          yield* second.ledger.register("other", hour)
          deepStrictEqual([Option.isNone(yield* second.ledger.find("2026-11")), yield* second.ledger.runs], [true, []])
          deepStrictEqual(yield* second.ledger.erase(-1), [])
        })
        strictEqual(yield* first.ledger.plan(newRun, slowly(write), () => "digest"), true)
        deepStrictEqual(yield* second.ledger.counts("2026-11"), { ...Run.noCounts, pending: 2501 })
        strictEqual((yield* second.ledger.run("2026-11")).total, 2501)
      }))

    it.scoped("waits for another process that plans the same run, and stores the rows of one of them", () =>
      Effect.gen(function*() {
        const { first, second } = yield* two
        const isPlanning = yield* Deferred.make<void>()
        const mayEnd = yield* Deferred.make<void>()
        const plan = yield* Effect.fork(first.ledger.plan(
          newRun,
          slowly(Effect.zipRight(Deferred.succeed(isPlanning, undefined), Deferred.await(mayEnd))),
          () => "digest"
        ))
        yield* Deferred.await(isPlanning)
        const other = yield* Effect.fork(second.ledger.plan(newRun, Stream.make(row(1)), () => "other"))
        yield* Effect.sleep("100 millis")
        yield* Deferred.succeed(mayEnd, undefined)
        deepStrictEqual([yield* Fiber.join(plan), yield* Fiber.join(other)], [true, false])
        strictEqual((yield* first.ledger.run("2026-11")).digest, "digest")
      }))

    it.scoped("replaces a plan whose process is silent, and stores none of its later rows", () =>
      Effect.gen(function*() {
        const { first, second } = yield* two
        const isPlanning = yield* Deferred.make<void>()
        const mayEnd = yield* Deferred.make<void>()
        const plan = yield* Effect.fork(Effect.exit(first.ledger.plan(
          newRun,
          slowly(Effect.zipRight(Deferred.succeed(isPlanning, undefined), Deferred.await(mayEnd))),
          () => "digest"
        )))
        yield* Deferred.await(isPlanning)
        yield* first.sql`UPDATE idv_rescreen_runs SET planner_lease_until = 0`
        strictEqual(yield* second.ledger.plan(newRun, Stream.make(row(7)), () => "other"), true)
        yield* Deferred.succeed(mayEnd, undefined)
        strictEqual((yield* Fiber.join(plan))._tag, "Failure")
        const { digest, total } = yield* first.ledger.run("2026-11")
        deepStrictEqual([digest, total], ["other", 1])
        const rows = Chunk.toReadonlyArray(yield* Stream.runCollect(first.ledger.byLine("2026-11")))
        deepStrictEqual(rows.map(({ line }) => line), [7])
      }))

    it.scoped("erases the rows of a plan that was killed, which no run shows", () =>
      Effect.gen(function*() {
        const { first, second } = yield* two
        const isStored = Effect.map(second.ledger.counts("2026-11"), ({ pending }) => pending > 0)
        const killed = Effect.zipRight(
          Effect.repeat(Effect.delay(isStored, "10 millis"), { until: (isStored) => isStored }),
          Effect.zipRight(
            first.sql`UPDATE idv_rescreen_runs SET planner_lease_until = 0, planner = 'killed'`,
            Effect.fail("killed")
          )
        )
        yield* Effect.flip(first.ledger.plan(newRun, slowly(killed), () => "digest"))
        const { pending } = yield* second.ledger.counts("2026-11")
        assertTrue(pending > 0)
        deepStrictEqual(yield* second.ledger.erase(hour), [])
        strictEqual((yield* second.ledger.counts("2026-11")).pending, pending)
        deepStrictEqual(yield* second.ledger.erase(-1), [])
        deepStrictEqual(yield* first.sql`SELECT id FROM idv_rescreen_people`, [])
        deepStrictEqual(yield* first.sql`SELECT id FROM idv_rescreen_runs`, [])
      }))

    it.scoped("gives each row to one of many workers that claim at the same moment", () =>
      Effect.gen(function*() {
        const { ledger } = yield* planned(...Array.from({ length: 500 }, (_, index) => row(index + 1)))
        const drain = Effect.gen(function*() {
          const worker = yield* ledger.register("2026-11", hour)
          const lines: Array<number> = []
          while (true) {
            const claims = yield* ledger.claim({ run: "2026-11", shard: 0, worker, limit: 7 })
            if (claims.length === 0) return lines
            for (const { line } of claims) lines.push(line)
          }
        })
        const lines = (yield* Effect.replicateEffect(drain, 5, { concurrency: "unbounded" })).flat()
        deepStrictEqual(lines.toSorted((a, b) => a - b), Array.from({ length: 500 }, (_, index) => index + 1))
      }))

    it.scoped("spaces the turns of all workers evenly, also after a pause", () =>
      Effect.gen(function*() {
        const { ledger } = yield* planned()
        const reserve = ledger.slots(service, { count: 10, interval: 100 })
        const started = Date.now()
        const turn = Effect.map(reserve, (firstIn) => ({ firstIn, at: Date.now() - started + firstIn }))
        const turns = yield* Effect.replicateEffect(turn, 5, { concurrency: "unbounded" })
        turns.toSorted((a, b) => a.at - b.at).forEach(({ at, firstIn }, index) => {
          // A statement takes time before it responds, so a turn is later by that time, and never earlier.
          assertTrue(firstIn <= index * 1000 && at > index * 1000 - 50, `${firstIn}, ${at}`)
        })
        yield* ledger.pauseService(service, hour)
        const afterPause = yield* reserve
        assertTrue(afterPause <= hour && afterPause > hour - 5000, String(afterPause))
      }))

    it.scoped("doubles a pause without a duration up to a minute, until the service accepts a request", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned()
        const pause = Effect.gen(function*() {
          yield* sql`UPDATE idv_rescreen_services SET resumes_at = 0`
          yield* ledger.pauseService(service, undefined)
          const { pausedFor } = yield* ledger.workerState("2026-11", "nobody", service)
          return Math.ceil(pausedFor / 1000)
        })
        deepStrictEqual(yield* Effect.replicateEffect(pause, 8), [1, 2, 4, 8, 16, 32, 60, 60])
        yield* sql`UPDATE idv_rescreen_services SET resumes_at = 0`
        yield* ledger.resetPauses(service)
        strictEqual(yield* pause, 1)
        yield* ledger.pauseService(service, 2 * hour)
        strictEqual(Math.round((yield* ledger.workerState("2026-11", "nobody", service)).pausedFor / hour), 1)
      }))

    it.scoped("deletes the person with a result, and keeps the person of a row without one", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(row(1), row(2), row(3))
        const worker = yield* ledger.register("2026-11", hour)
        const claims = yield* ledger.claim({ run: "2026-11", shard: 0, worker, limit: 3 })
        deepStrictEqual(claims.map(({ person }) => person), ["encrypted 1", "encrypted 2", "encrypted 3"])
        const owner = { run: "2026-11", worker }
        deepStrictEqual(yield* ledger.send(owner, [3, 1, 2, 99], service), new Set([1, 2, 3]))
        const settled = yield* ledger.settle(owner, [
          { line: 1, outcome: { state: "potential_match" } },
          { line: 2, outcome: { state: "unknown" } },
          { line: 3, outcome: { state: "not_screened" } },
          { line: 99, outcome: { state: "no_match" } }
        ])
        deepStrictEqual(settled, new Set([1, 2, 3]))
        const rows = yield* sql<{ person: string | null }>`SELECT person FROM idv_rescreen_people ORDER BY line`
        deepStrictEqual(rows.map(({ person }) => person), [null, "encrypted 2", "encrypted 3"])
      }))

    it.scoped("accepts a result that comes after the lease, unless the row was sent again", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(row(1), row(2))
        const worker = yield* ledger.register("2026-11", hour)
        const owner = { run: "2026-11", worker }
        yield* ledger.claim({ run: "2026-11", shard: 0, worker, limit: 2 })
        deepStrictEqual(yield* ledger.send(owner, [1, 2], service), new Set([1, 2]))
        yield* sql`UPDATE idv_rescreen_workers SET lease_until = 0`
        deepStrictEqual(yield* ledger.expire("2026-11"), { pending: 0, unknown: 2 })
        const settle = (line: number) => ledger.settle(owner, [{ line, outcome: { state: "no_match" } }])
        deepStrictEqual(yield* settle(1), new Set([1]))
        strictEqual(yield* ledger.rescreen("2026-11", "unknown", { maxUnknown: 3 }), 1)
        deepStrictEqual(yield* settle(2), new Set())
        strictEqual(yield* ledger.complete("2026-11", { unknown: 0 }), false)
      }))

    it.scoped("makes many rows pending in short statements, and none of a complete run", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(...Array.from({ length: 2500 }, (_, index) => row(index + 1)))
        yield* sql`UPDATE idv_rescreen_people SET state = 'not_screened' WHERE line > 1`
        yield* sql`UPDATE idv_rescreen_people SET state = 'no_match' WHERE line = 1`
        const rescreen = ledger.rescreen("2026-11", "not_screened", { maxUnknown: 3 })
        strictEqual(yield* ledger.complete("2026-11", { unknown: 0 }), true)
        strictEqual(yield* rescreen, 0)
        yield* ledger.resume("2026-11")
        let changes = 0
        const counted = Statement.withTransformer(rescreen, (statement) =>
          Effect.sync(() => {
            if (statement.compile()[0].startsWith("UPDATE")) changes++
            return statement
          }))
        strictEqual(yield* counted, 2499)
        assertTrue(changes >= 2)
        deepStrictEqual(yield* ledger.counts("2026-11"), { ...Run.noCounts, pending: 2499, no_match: 1 })
      }))

    it.scoped("erases old runs and decisions, and leaves the counts", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(row(1), row(2, null))
        yield* sql`UPDATE idv_rescreen_people SET content_digest = 'd' WHERE id = 'K1'`
        yield* ledger.decide({ id: "K1", contentDigest: "d", decision: "false_positive", reviewer: "r1" })
        deepStrictEqual(yield* ledger.erase(hour), [])
        strictEqual((yield* ledger.decisions(["K1"])).length, 1)
        deepStrictEqual(yield* ledger.erase(-1), ["2026-11"])
        const { erasedCounts, state } = yield* ledger.run("2026-11")
        deepStrictEqual([state, erasedCounts], ["complete", { ...Run.noCounts, pending: 1, wrong_row: 1 }])
        deepStrictEqual(yield* ledger.decisions(["K1"]), [])
        strictEqual((yield* sql`SELECT 1 FROM idv_rescreen_people`).length, 0)
        deepStrictEqual(yield* ledger.erase(-1), [])
        strictEqual(yield* ledger.resume("2026-11"), false)
      }))

    it.scoped("erases the decisions about evidence of erased runs only, whenever they were made", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(row(1), row(2), row(3))
        yield* ledger.plan({ ...newRun, id: "2026-12" }, Stream.make(row(1), row(2)), () => "digest")
        yield* sql`UPDATE idv_rescreen_people SET content_digest = 'same'`
        yield* sql`UPDATE idv_rescreen_people SET content_digest = 'changed' WHERE run = '2026-12' AND id = 'K2'`
        for (const id of ["K1", "K2", "K3"]) {
          yield* ledger.decide({ id, contentDigest: "same", decision: "false_positive", reviewer: "r1" })
        }
        yield* sql`UPDATE idv_rescreen_decisions SET decided_at = 0 WHERE id = 'K1'`
        yield* sql`UPDATE idv_rescreen_runs SET planned_at = 0 WHERE id = '2026-11'`
        deepStrictEqual(yield* ledger.erase(hour), ["2026-11"])
        deepStrictEqual((yield* ledger.decisions(["K1", "K2", "K3"])).map(({ id }) => id), ["K1"])
      }))

    it.scoped("reports the number of rows sent in each span", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(row(1), row(2), row(3))
        yield* sql`UPDATE idv_rescreen_people SET sent_at = 1795360951921 WHERE line = 1`
        yield* sql`UPDATE idv_rescreen_people SET sent_at = 1795360959999 WHERE line = 2`
        yield* sql`UPDATE idv_rescreen_people SET sent_at = 1795360960000 WHERE line = 3`
        deepStrictEqual((yield* ledger.sentPer("2026-11", 10_000)).map((row) => ({ ...row })), [
          { bucket: 1795360950000, count: 2 },
          { bucket: 1795360960000, count: 1 }
        ])
      }))
  })
})

describe("Ledger in PostgreSQL", () => {
  layer(Databases.kinds[1][1], { excludeTestServices: true })((it) => {
    const silence = 500
    const impatient = (url: string) => opened(Layer.orDie(PostgresClient.layer(Redacted.make(url), silence)))

    it.scoped("plans a population that is slower than the limit for a silent connection, also twice at once", () =>
      Effect.gen(function*() {
        const { url } = yield* two
        const first = yield* impatient(url)
        const second = yield* impatient(url)
        const plan = yield* Effect.fork(
          first.ledger.plan(newRun, slowly(Effect.sleep(3 * silence)), () => "digest")
        )
        yield* Effect.sleep("200 millis")
        const other = yield* Effect.fork(second.ledger.plan(newRun, Stream.make(row(1)), () => "other"))
        deepStrictEqual([yield* Fiber.join(plan), yield* Fiber.join(other)], [true, false])
      }))

    it.scoped("leaves no row of a plan that failed while PostgreSQL still performed one of its inserts", () =>
      Effect.gen(function*() {
        const { first: { ledger, sql }, second } = yield* two
        const inserted = yield* Deferred.make<void>()
        // As an insert whose connection broke: it holds the run until it ends.
        const lateInsert = Effect.gen(function*() {
          yield* second.sql`SELECT 1 FROM idv_rescreen_runs WHERE id = ${newRun.id} FOR SHARE`
          yield* second.sql`INSERT INTO idv_rescreen_people (run, line, shard, state)
            VALUES (${newRun.id}, 2, 0, 'pending')`
          yield* Deferred.succeed(inserted, undefined)
          yield* Effect.sleep("300 millis")
        }).pipe(second.sql.withTransaction)
        const failing = Effect.forkDaemon(lateInsert).pipe(
          Effect.zipRight(Deferred.await(inserted)),
          Effect.zipRight(Effect.fail("broken"))
        )
        yield* Effect.flip(
          ledger.plan(newRun, Stream.concat(Stream.make(row(1)), Stream.fromEffect(failing)), () => "")
        )
        yield* Effect.sleep("500 millis")
        deepStrictEqual(yield* sql`SELECT id FROM idv_rescreen_runs`, [])
        deepStrictEqual(yield* sql`SELECT line FROM idv_rescreen_people`, [])
      }))

    it.scoped("does not complete a run while another process makes one of its rows pending", () =>
      Effect.gen(function*() {
        const { first: { ledger, sql }, second } = yield* two
        yield* ledger.plan(newRun, Stream.make(row(1)), () => "digest")
        yield* sql`UPDATE idv_rescreen_people SET state = 'not_screened'`
        const isChanged = yield* Deferred.make<void>()
        const rescreen = ledger.rescreen(newRun.id, "not_screened", { maxUnknown: 3 }).pipe(
          Effect.zipLeft(Deferred.succeed(isChanged, undefined)),
          Effect.zipLeft(Effect.sleep("200 millis")),
          sql.withTransaction
        )
        const fiber = yield* Effect.fork(rescreen)
        yield* Deferred.await(isChanged)
        strictEqual(yield* second.ledger.complete(newRun.id, { unknown: 0 }), false)
        strictEqual(yield* Fiber.join(fiber), 1)
      }))

    it.scoped("fails with a typed error if the connection breaks while complete waits for a lock", () =>
      Effect.gen(function*() {
        const { first: { ledger, sql }, second } = yield* two
        yield* ledger.plan(newRun, Stream.make(row(1)), () => "digest")
        const isLocked = yield* Deferred.make<void>()
        const lock = yield* Effect.fork(sql.withTransaction(
          sql`SELECT 1 FROM idv_rescreen_runs FOR UPDATE`.pipe(
            Effect.zipRight(Deferred.succeed(isLocked, undefined)),
            Effect.zipRight(Effect.never)
          )
        ))
        yield* Deferred.await(isLocked)
        const completing = yield* Effect.fork(Effect.either(second.ledger.complete(newRun.id, { unknown: 0 })))
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`.pipe(
          Effect.repeat({ until: (ended) => ended.length > 0, schedule: Schedule.spaced("20 millis") })
        )
        // Not a defect, which the worker would not retry.
        const ended = yield* Fiber.join(completing)
        strictEqual(Either.isLeft(ended) && ended.left._tag, "LedgerUnavailable")
        yield* Fiber.interrupt(lock)
      }))

    it.scoped("erases even if the vacuum is silent for longer than the limit for a connection", () =>
      Effect.gen(function*() {
        const { first: { ledger, sql }, url } = yield* two
        yield* ledger.plan(newRun, Stream.make(row(1)), () => "digest")
        const isLocked = yield* Deferred.make<void>()
        const lock = yield* Effect.fork(sql.withTransaction(
          sql`LOCK TABLE idv_rescreen_people IN SHARE UPDATE EXCLUSIVE MODE`.pipe(
            Effect.zipRight(Deferred.succeed(isLocked, undefined)),
            Effect.zipRight(Effect.sleep(3 * silence))
          )
        ))
        yield* Deferred.await(isLocked)
        deepStrictEqual(yield* (yield* impatient(url)).ledger.erase(-1), ["2026-11"])
        yield* Fiber.join(lock)
      }))
  })
})
