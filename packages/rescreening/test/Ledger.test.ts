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
import { withLongerLimits } from "../../core/test/support/eventually.ts"
import { Ledger, Run } from "../src/index.ts"
import * as PostgresClient from "../src/internal/ledger/postgresClient.ts"
import * as Databases from "./support/databases.ts"

const policy = Schema.decodeSync(Run.Policy)({})
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
  Effect.map(Layer.build(Layer.fresh(Databases.migrated(client))), (context) => ({
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
        const ledgers = yield* Effect.replicateEffect(Effect.zipRight(Ledger.migrate, Ledger.make), 5, {
          concurrency: "unbounded"
        }).pipe(
          Effect.provide(context)
        )
        strictEqual(new Set(ledgers.map(({ salt }) => Redacted.value(salt))).size, 1)
        for (const { runs } of ledgers) deepStrictEqual(yield* runs, [])
      }))

    it.scoped("refuses tables without a salt, because digests with an empty key could be guessed", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const context = yield* Layer.build(Databases.migrated(client))
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

    it.scoped("names the database in which it finds no tables, and creates none", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        for (let times = 0; times < 2; times++) {
          const { message } = yield* Effect.flip(Layer.build(Layer.fresh(Layer.provide(Ledger.layer, client))))
          assertTrue(message.startsWith("There is no ledger in the "), message)
        }
      }))

    it.scoped("refuses tables of a newer version and leaves them as they are", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const context = yield* Layer.build(Databases.migrated(client))
        const sql = Context.get(context, SqlClient.SqlClient)
        yield* sql`UPDATE idv_rescreen_meta SET value = '1000' WHERE name = 'version'`
        const error = yield* Effect.flip(Layer.build(Layer.fresh(Layer.provide(Ledger.layer, client))))
        strictEqual(
          error.message,
          "The tables of the ledger have version 1000, and this program needs version 3. " +
            "Upgrade @effect-idv/rescreening."
        )
        const rows = yield* sql`SELECT value FROM idv_rescreen_meta WHERE name = 'version'`
        deepStrictEqual(rows.map((row) => ({ ...row })), [{ value: "1000" }])
      }))

    it.scoped("completes the tables of a database that an interrupted process left without a version", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const context = yield* Layer.build(client)
        yield* Context.get(context, SqlClient.SqlClient)`CREATE TABLE idv_rescreen_meta (
          name TEXT PRIMARY KEY, value TEXT NOT NULL
        )`
        deepStrictEqual(
          yield* Ledger.migrate.pipe(
            Effect.zipRight(Effect.flatMap(Ledger.make, ({ runs }) => runs)),
            Effect.provide(context)
          ),
          []
        )
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

    it.scoped("keeps no controls of a discarded plan, even if a statement about them is performed later", () =>
      Effect.gen(function*() {
        const { ledger, sql } = (yield* two).first
        const late: Array<Statement.Statement<unknown>> = []
        const controls = [{ line: 1, id: "L1", person: "encrypted" }]
        yield* Statement.withTransformer(
          Effect.exit(ledger.plan({ ...newRun, controls }, Stream.fail("cut"), () => "")),
          (statement) => {
            const [text, values] = statement.compile()
            if (/^INSERT INTO idv_rescreen_(controls|rounds)/.test(text)) late.push(sql.unsafe(text, values))
            return Effect.succeed(statement)
          }
        )
        const left = sql`SELECT plan FROM idv_rescreen_controls UNION ALL SELECT plan FROM idv_rescreen_rounds`
        deepStrictEqual(yield* left, [])
        strictEqual(late.length, 2)
        yield* Effect.forEach(late, (statement) => statement)
        deepStrictEqual(yield* left, [])
      }))

    it.scoped("lets other processes write while it plans a run, which they cannot find before it is complete", () =>
      Effect.gen(function*() {
        const { first, second } = yield* two
        const write = Effect.gen(function*() {
          yield* second.sql`INSERT INTO idv_rescreen_plans (plan, begun_at) VALUES ('other', 9e15)`
          deepStrictEqual([Option.isNone(yield* second.ledger.find("2026-11")), yield* second.ledger.runs], [true, []])
          deepStrictEqual(yield* second.ledger.erase({ olderThan: -1 }), [])
        })
        strictEqual(yield* first.ledger.plan(newRun, slowly(write), () => "digest"), true)
        deepStrictEqual(yield* second.ledger.counts("2026-11"), { ...Run.noCounts, pending: 2501 })
        strictEqual((yield* second.ledger.run("2026-11")).total, 2501)
      }))

    it.scoped("publishes the plan that is complete first, and deletes the rows of the other one", () =>
      Effect.gen(function*() {
        const { first, second } = yield* two
        const isPlanning = yield* Deferred.make<void>()
        const mayEnd = yield* Deferred.make<void>()
        const slow = yield* Effect.fork(first.ledger.plan(
          newRun,
          slowly(Effect.zipRight(Deferred.succeed(isPlanning, undefined), Deferred.await(mayEnd))),
          () => "digest"
        ))
        yield* Deferred.await(isPlanning)
        // Nobody waits for the slow process, which may have been killed.
        strictEqual(yield* second.ledger.plan(newRun, Stream.make(row(7)), () => "other"), true)
        yield* Deferred.succeed(mayEnd, undefined)
        strictEqual(yield* Fiber.join(slow), false)
        const { digest, total } = yield* first.ledger.run("2026-11")
        deepStrictEqual([digest, total], ["other", 1])
        deepStrictEqual((yield* first.sql`SELECT line FROM idv_rescreen_people`).map((row) => ({ ...row })), [{
          line: 7
        }])
        deepStrictEqual(yield* first.sql`SELECT plan FROM idv_rescreen_plans`, [])
      }))

    for (const discard of ["plan", "erase"] as const) {
      it.scoped(`deletes a plan of more than a day ago, which no run shows, with the next ${discard}`, () =>
        Effect.gen(function*() {
          const { first, second } = yield* two
          const isStored = yield* Deferred.make<void>()
          const mayEnd = yield* Deferred.make<void>()
          const old = yield* Effect.fork(Effect.exit(first.ledger.plan(
            newRun,
            slowly(Effect.zipRight(Deferred.succeed(isStored, undefined), Deferred.await(mayEnd))),
            () => "digest"
          )))
          yield* Deferred.await(isStored)
          const rowsLeft = Effect.map(
            second.sql`SELECT line FROM idv_rescreen_people WHERE line < 9000`,
            (rows) => rows.length
          )
          const next = discard === "erase"
            ? second.ledger.erase({ olderThan: hour })
            : second.ledger.plan({ ...newRun, id: "next" }, Stream.make(row(9001)), () => "next")
          yield* Effect.repeat(rowsLeft, { until: (left) => left >= 2000, schedule: Schedule.spaced("10 millis") })
          yield* next
          strictEqual(yield* rowsLeft, 2000)
          yield* second.sql`UPDATE idv_rescreen_plans SET begun_at = begun_at - ${25 * hour}`
          yield* next
          strictEqual(yield* rowsLeft, 0)
          // The process lives, but must not publish a plan without its rows.
          yield* Deferred.succeed(mayEnd, undefined)
          strictEqual((yield* Fiber.join(old))._tag, "Failure")
          assertTrue(Option.isNone(yield* second.ledger.find(newRun.id)))
          strictEqual(yield* rowsLeft, 0)
        }))
    }

    it.scoped("gives each row to one of many workers that claim at the same moment", () =>
      Effect.gen(function*() {
        const { ledger } = yield* planned(...Array.from({ length: 500 }, (_, index) => row(index + 1)))
        const drain = Effect.gen(function*() {
          const lines: Array<number> = []
          while (true) {
            const claims = yield* ledger.claim({ run: "2026-11", limit: 7, lease: hour })
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
        const reserve = ledger.turns(service, { count: 10, interval: 100, lead: 500 })
        const before = yield* ledger.turns("another service", { count: 1, interval: 100, lead: 0 })
        const turns = yield* Effect.replicateEffect(reserve, 5, { concurrency: "unbounded" })
        const [earliest = NaN, ...others] = turns.map(({ first }) => first).toSorted((a, b) => a - b)
        others.forEach((first, index) => assertTrue(Math.abs(first - earliest - (index + 1) * 1000) < 1, `${first}`))
        assertTrue(earliest - before.now >= 500, `${earliest - before.now}`)
        yield* ledger.pauseService(service, hour)
        const { first, now } = yield* reserve
        assertTrue(first - now <= hour && first - now > hour - 60_000, `${first - now}`)
      }))

    it.scoped("ignores turns and pauses that were stored in the future, because the clock was set back", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned()
        const reserve = ledger.turns(service, { count: 1, interval: 100, lead: 0 })
        const state = Effect.map(Effect.flatten(ledger.workerState("2026-11", service)), (state) => [
          state.pausedFor > 0,
          state.clockSetBack
        ])
        yield* reserve
        for (const column of ["next", "pause"] as const) {
          yield* ledger.pauseService(service, hour)
          deepStrictEqual((yield* state)[0], true)
          yield* sql`UPDATE idv_rescreen_services SET next_at = next_at + ${hour}, resumes_at = resumes_at + ${hour},
            pause_stored_at = pause_stored_at + ${hour}, next_stored_at = next_stored_at + ${
            column === "next" ? hour : 0
          }`
          deepStrictEqual((yield* state)[0], false)
          const { first, now } = yield* reserve
          assertTrue(first - now < (column === "next" ? 1 : 2 * hour), `${first - now}`)
        }
        deepStrictEqual(yield* state, [false, 2])
      }))

    it.scoped("doubles a pause without a duration up to a minute, until the service accepts a request", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned()
        const pause = Effect.gen(function*() {
          yield* sql`UPDATE idv_rescreen_services SET resumes_at = 0`
          const { pausedFor } = yield* ledger.pauseService(service, undefined)
          return Math.ceil(pausedFor / 1000)
        })
        deepStrictEqual(yield* Effect.replicateEffect(pause, 8), [1, 2, 4, 8, 16, 32, 60, 60])
        strictEqual((yield* ledger.pauseService(service, undefined)).pauses, 8)
        yield* sql`UPDATE idv_rescreen_services SET resumes_at = 0`
        yield* ledger.resetPauses(service)
        strictEqual(yield* pause, 1)
        strictEqual(Math.round((yield* ledger.pauseService(service, 2 * hour)).pausedFor / hour), 1)
      }))

    it.scoped("deletes the person with a result, and keeps the person of a row without one", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(row(1), row(2), row(3))
        const claims = yield* ledger.claim({ run: "2026-11", limit: 3, lease: hour })
        deepStrictEqual(claims.map(({ person }) => person), ["encrypted 1", "encrypted 2", "encrypted 3"])
        const token = claims[0]?.token ?? ""
        const nobody = { line: 99, token, id: "K99", person: null, timesSent: 0 }
        deepStrictEqual(yield* ledger.send("2026-11", [...claims.toReversed(), nobody], service), new Set([1, 2, 3]))
        const { settled } = yield* ledger.settle("2026-11", [
          { line: 1, token, requests: 1, outcome: { state: "potential_match" } },
          { line: 2, token, requests: 1, outcome: { state: "unknown" } },
          { line: 3, token, requests: 1, outcome: { state: "not_screened" } },
          { line: 99, token, requests: 1, outcome: { state: "no_match" } }
        ])
        deepStrictEqual(settled, new Set([1, 2, 3]))
        const rows = yield* sql<{ person: string | null }>`SELECT person FROM idv_rescreen_people ORDER BY line`
        deepStrictEqual(rows.map(({ person }) => person), [null, "encrypted 2", "encrypted 3"])
      }))

    it.scoped("counts a request once if the statement of `sent` is repeated, and twice after a replay", () =>
      Effect.gen(function*() {
        const { ledger } = yield* planned(row(1), row(2), row(3))
        const claims = yield* ledger.claim({ run: "2026-11", limit: 3, lease: hour })
        const send = ledger.send("2026-11", claims, service)
        deepStrictEqual([yield* send, yield* send], [new Set([1, 2, 3]), new Set([1, 2, 3])])
        const of = (line: number, requests: number) => ({ line, token: claims[0]?.token ?? "", requests })
        const settle = ledger.settle("2026-11", [{ ...of(1, 2), outcome: { state: "no_match" } }])
        yield* settle
        // The response of the first statement was lost.
        strictEqual((yield* settle).settled.size, 0)
        // `sent` was stored, but no request left.
        strictEqual(yield* ledger.release("2026-11", [of(2, 0)]), 1)
        strictEqual(yield* ledger.release("2026-11", [of(2, 0)]), 0)
        deepStrictEqual(yield* send, new Set([3]))
        const rows = Chunk.toReadonlyArray(yield* Stream.runCollect(ledger.byLine("2026-11")))
        deepStrictEqual(rows.map(({ state, timesSent }) => [state, timesSent]), [["no_match", 2], ["pending", 0], [
          "sent",
          1
        ]])
      }))

    it.scoped("keeps each result that comes after the lease, and says if it amends a run", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(row(1), row(2), row(3))
        const claims = yield* ledger.claim({ run: "2026-11", limit: 3, lease: hour })
        yield* ledger.send("2026-11", claims, service)
        yield* sql`UPDATE idv_rescreen_leases SET lease_until = 0`
        deepStrictEqual(yield* ledger.expire("2026-11"), { pending: 0, unknown: 3, voided: 0 })
        const token = claims[0]?.token ?? ""
        const settle = (line: number) =>
          ledger.settle("2026-11", [{
            line,
            token,
            requests: 1,
            outcome: { state: "potential_match", checkId: `check ${line}` }
          }])
        deepStrictEqual(yield* settle(1), { settled: new Set([1]), amended: 0 })
        strictEqual(yield* ledger.complete("2026-11", { unknown: 0 }), true)
        deepStrictEqual(yield* settle(2), { settled: new Set([2]), amended: 1 })
        strictEqual(yield* ledger.rescreen("2026-11", "unknown", { maxUnknown: 3, reopens: true }), 1)
        yield* ledger.claim({ run: "2026-11", limit: 3, lease: hour })
        deepStrictEqual(yield* settle(3), { settled: new Set<number>(), amended: 1 })
        deepStrictEqual(yield* settle(3), { settled: new Set<number>(), amended: 0 })
        strictEqual((yield* ledger.run("2026-11")).amended, 2)
        const rows = Chunk.toReadonlyArray(yield* Stream.runCollect(ledger.byLine("2026-11")))
        deepStrictEqual(
          rows.map(({ late, state }) => [state, late.map(({ checkId, state }) => [state, checkId])]),
          [["potential_match", []], ["potential_match", []], ["claimed", [["potential_match", "check 3"]]]]
        )
      }))

    it.scoped("makes many rows pending in short statements, and none of a complete run", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(...Array.from({ length: 2500 }, (_, index) => row(index + 1)))
        yield* sql`UPDATE idv_rescreen_people SET state = 'not_screened' WHERE line > 1`
        yield* sql`UPDATE idv_rescreen_people SET state = 'no_match' WHERE line = 1`
        const rescreen = (reopens: boolean) => ledger.rescreen("2026-11", "not_screened", { maxUnknown: 3, reopens })
        strictEqual(yield* ledger.complete("2026-11", { unknown: 0 }), true)
        strictEqual(yield* rescreen(false), 0)
        let changes = 0
        const counted = Statement.withTransformer(rescreen(true), (statement) =>
          Effect.sync(() => {
            if (statement.compile()[0].startsWith("UPDATE idv_rescreen_people")) changes++
            return statement
          }))
        strictEqual(yield* counted, 2499)
        assertTrue(changes >= 2)
        deepStrictEqual(yield* ledger.counts("2026-11"), { ...Run.noCounts, pending: 2499, no_match: 1 })
      }))

    it.scoped("erases old runs and, by their own age, the history, and leaves the counts", () =>
      Effect.gen(function*() {
        const { ledger, sql } = yield* planned(row(1), row(2, null))
        const decided = { kind: "decided", actor: "ana", digest: "d", decision: "false_positive" } as const
        yield* ledger.append([{ ...decided, id: "K1" }, { ...decided, id: "K2" }])
        deepStrictEqual(yield* ledger.erase({ olderThan: hour, historyOlderThan: hour }), [])
        deepStrictEqual(yield* ledger.erase({ olderThan: -1 }), ["2026-11"])
        const { erasedCounts, state } = yield* ledger.run("2026-11")
        deepStrictEqual([state, erasedCounts], ["complete", { ...Run.noCounts, pending: 1, wrong_row: 1 }])
        strictEqual((yield* sql`SELECT 1 FROM idv_rescreen_people`).length, 0)
        deepStrictEqual((yield* ledger.historyOf(["K1", "K2", "K3"])).map(({ id }) => id), ["K1", "K2"])
        yield* sql`UPDATE idv_rescreen_history SET at = 0 WHERE id = 'K1'`
        deepStrictEqual(yield* ledger.erase({ olderThan: -1, historyOlderThan: hour }), [])
        const history = Chunk.toReadonlyArray(yield* Stream.runCollect(ledger.history))
        deepStrictEqual(history.map(({ actor, decision, id, kind }) => [kind, id, actor, decision]), [
          ["decided", "K2", "ana", "false_positive"]
        ])
        strictEqual(yield* ledger.resume("2026-11"), false)
      }))

    it.scoped("upgrades the tables of version 1, and keeps the runs, the policies and the decisions", () =>
      Effect.gen(function*() {
        const { client } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const context = yield* Layer.build(Databases.migrated(client))
        const ledger = Context.get(context, Ledger.Ledger)
        const sql = Context.get(context, SqlClient.SqlClient)
        yield* ledger.plan(newRun, Stream.make(row(1)), () => "digest")
        for (const table of ["history", "controls", "rounds", "doubts"]) {
          yield* sql`DROP TABLE ${sql(`idv_rescreen_${table}`)}`
        }
        yield* sql`CREATE TABLE idv_rescreen_decisions (
          id TEXT NOT NULL, content_digest TEXT NOT NULL, decision TEXT NOT NULL, reviewer TEXT NOT NULL,
          decided_at DOUBLE PRECISION NOT NULL, PRIMARY KEY (id, content_digest)
        )`
        yield* sql`INSERT INTO idv_rescreen_decisions VALUES ('K1', 'd', 'false_positive', 'ana', 1000)`
        for (const column of ["environment", "class", "reserved", "undocumented"]) {
          yield* sql`ALTER TABLE idv_rescreen_runs DROP COLUMN ${sql(column)}`
        }
        yield* sql`UPDATE idv_rescreen_runs SET policy = ${"{\"rate\":7,\"unknown\":\"review\",\"stopAfter\":50,\"evidence\":\"response\",\"profileAddress\":\"compared\",\"keysOnPage\":true}"}`
        yield* sql`UPDATE idv_rescreen_people SET times_sent = 3`
        yield* sql`UPDATE idv_rescreen_meta SET value = '1' WHERE name = 'version'`
        const upgraded = yield* Effect.provide(Effect.zipRight(Ledger.migrate, Ledger.make), context)
        const run = yield* upgraded.run("2026-11")
        deepStrictEqual(
          [run.policy.rate, run.policy.evidence, run.policy.fourEyes, run.environment, run.class, run.reserved],
          [7, "all", false, "", "", 3]
        )
        deepStrictEqual(
          (yield* upgraded.historyOf(["K1"])).map(({ at, ...entry }) => ({
            ...entry,
            at: DateTime.toEpochMillis(at)
          })),
          [{
            entry: 1,
            at: 1000,
            kind: "decided",
            id: "K1",
            actor: "ana",
            run: null,
            digest: "d",
            decision: "false_positive",
            reason: null,
            approves: null
          }]
        )
        strictEqual((yield* upgraded.claim({ run: "2026-11", limit: 1, lease: hour })).length, 1)
        strictEqual(yield* upgraded.setPolicy("2026-11", run.policy, { ...run.policy, rate: 8 }), true)
        strictEqual(yield* upgraded.setPolicy("2026-11", run.policy, run.policy), false)
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
    const impatient = (url: string, silence: number) =>
      opened(Layer.orDie(PostgresClient.layer(Redacted.make(url), silence)))
    /** Runs the test with a limit for a silent connection in milliseconds, which PostgreSQL keeps on any machine. */
    const withSilence = <A, E, R>(run: (silence: number) => Effect.Effect<A, E, R>) =>
      withLongerLimits(500, (silence) => Effect.scoped(run(silence)), 8000)

    it.scoped("plans a population that is slower than the limit for a silent connection, also twice at once", () =>
      withSilence((silence) =>
        Effect.gen(function*() {
          const { url } = yield* two
          const first = yield* impatient(url, silence)
          const second = yield* impatient(url, silence)
          const isStored = yield* Deferred.make<void>()
          const slow = Effect.zipRight(Deferred.succeed(isStored, undefined), Effect.sleep(3 * silence))
          const plan = yield* Effect.fork(first.ledger.plan(newRun, slowly(slow), () => "digest"))
          yield* Deferred.await(isStored)
          const other = yield* Effect.fork(second.ledger.plan(newRun, Stream.make(row(1)), () => "other"))
          deepStrictEqual([yield* Fiber.join(plan), yield* Fiber.join(other)], [false, true])
        })
      ))

    it.scoped("leaves no row of a plan that failed while PostgreSQL still performed one of its inserts", () =>
      Effect.gen(function*() {
        const { first: { ledger, sql }, second } = yield* two
        const inserted = yield* Deferred.make<void>()
        // As an insert whose connection broke: it holds the run until it ends.
        const lateInsert = Effect.gen(function*() {
          yield* second.sql`SELECT 1 FROM idv_rescreen_plans FOR SHARE`
          yield* second.sql`INSERT INTO idv_rescreen_people (plan, line, state)
            SELECT plan, 2, 'pending' FROM idv_rescreen_plans`
          yield* Deferred.succeed(inserted, undefined)
          yield* Effect.sleep("300 millis")
        }).pipe(second.sql.withTransaction)
        const late = yield* Deferred.make<Fiber.RuntimeFiber<unknown, unknown>>()
        const failing = Effect.forkDaemon(lateInsert).pipe(
          Effect.flatMap((fiber) => Deferred.succeed(late, fiber)),
          Effect.zipRight(Deferred.await(inserted)),
          Effect.zipRight(Effect.fail("broken"))
        )
        yield* Effect.flip(
          ledger.plan(newRun, Stream.concat(Stream.make(row(1)), Stream.fromEffect(failing)), () => "")
        )
        yield* Effect.flatMap(Deferred.await(late), Fiber.join)
        deepStrictEqual(yield* sql`SELECT id FROM idv_rescreen_runs`, [])
        deepStrictEqual(yield* sql`SELECT line FROM idv_rescreen_people`, [])
      }))

    it.scoped("does not complete a run while another process makes one of its rows pending", () =>
      Effect.gen(function*() {
        const { first: { ledger, sql }, second } = yield* two
        yield* ledger.plan(newRun, Stream.make(row(1)), () => "digest")
        yield* sql`UPDATE idv_rescreen_people SET state = 'not_screened'`
        const isChanged = yield* Deferred.make<void>()
        const rescreen = ledger.rescreen(newRun.id, "not_screened", { maxUnknown: 3, reopens: false }).pipe(
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
      withSilence((silence) =>
        Effect.gen(function*() {
          const { first: { ledger, sql }, url } = yield* two
          yield* ledger.plan(newRun, Stream.make(row(1)), () => "digest")
          const other = yield* impatient(url, silence)
          const isLocked = yield* Deferred.make<void>()
          const lock = yield* Effect.fork(sql.withTransaction(
            sql`LOCK TABLE idv_rescreen_people IN SHARE UPDATE EXCLUSIVE MODE`.pipe(
              Effect.zipRight(Deferred.succeed(isLocked, undefined)),
              Effect.zipRight(Effect.sleep(3 * silence))
            )
          ))
          yield* Deferred.await(isLocked)
          deepStrictEqual(yield* other.ledger.erase({ olderThan: -1 }), ["2026-11"])
          yield* Fiber.join(lock)
        })
      ))
  })
})
