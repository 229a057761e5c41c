/** The tables of the ledger: created by `migrate`, and checked by everybody else. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { LedgerUnusable } from "../../RescreeningError.ts"
import * as Statements from "./statements.ts"

/** The statistics of PostgreSQL would keep samples of these columns after the rows are erased. */
const unsampled = (
  table: string,
  columns: ReadonlyArray<string>
): Effect.Effect<void, SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(columns, (column) =>
      sql.onDialectOrElse({
        pg: () => sql`ALTER TABLE ${sql(`idv_rescreen_${table}`)} ALTER COLUMN ${sql(column)} SET STATISTICS 0`,
        orElse: () => Effect.void
      }), { discard: true }))

const version1 = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { collate } = Statements.dialect(sql)
  yield* sql`CREATE TABLE idv_rescreen_plans (plan TEXT PRIMARY KEY, begun_at DOUBLE PRECISION NOT NULL)`
  yield* sql`CREATE TABLE idv_rescreen_runs (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL UNIQUE,
    planned_at DOUBLE PRECISION NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    completed_at DOUBLE PRECISION,
    erased_at DOUBLE PRECISION,
    erased_counts TEXT,
    policy TEXT NOT NULL,
    service TEXT NOT NULL,
    people TEXT NOT NULL,
    digest TEXT NOT NULL,
    total INTEGER NOT NULL,
    amended INTEGER NOT NULL DEFAULT 0,
    failures_in_row INTEGER NOT NULL DEFAULT 0
  )`
  yield* sql`CREATE TABLE idv_rescreen_people (
    plan TEXT NOT NULL,
    line INTEGER NOT NULL,
    id TEXT ${collate},
    state TEXT NOT NULL,
    token TEXT,
    times_sent INTEGER NOT NULL DEFAULT 0,
    times_unknown INTEGER NOT NULL DEFAULT 0,
    person TEXT,
    codes TEXT,
    error TEXT,
    check_id TEXT,
    searched_on TEXT,
    sent_at DOUBLE PRECISION,
    settled_at DOUBLE PRECISION,
    response_digest TEXT,
    content_digest TEXT,
    evidence TEXT,
    late TEXT,
    PRIMARY KEY (plan, line)
  )`
  yield* sql`CREATE UNIQUE INDEX idv_rescreen_people_id ON idv_rescreen_people (plan, id)`
  yield* sql`CREATE INDEX idv_rescreen_people_pending ON idv_rescreen_people (plan, line) WHERE state = 'pending'`
  yield* sql`CREATE INDEX idv_rescreen_people_held ON idv_rescreen_people (plan, token)
    WHERE state IN ('claimed', 'sent')`
  yield* sql`CREATE INDEX idv_rescreen_people_unknown ON idv_rescreen_people (plan) WHERE state = 'unknown'`
  // A time in the future holds only if it was stored in the past: see `Statements.isStored`.
  yield* sql`CREATE TABLE idv_rescreen_leases (
    token TEXT PRIMARY KEY,
    lease_until DOUBLE PRECISION NOT NULL,
    stored_at DOUBLE PRECISION NOT NULL
  )`
  yield* sql`CREATE TABLE idv_rescreen_services (
    service TEXT PRIMARY KEY,
    next_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    next_stored_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    resumes_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    pause_stored_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    pauses INTEGER NOT NULL DEFAULT 0,
    clock_set_back INTEGER NOT NULL DEFAULT 0
  )`
  yield* sql`CREATE TABLE idv_rescreen_decisions (
    id TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    decision TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    decided_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (id, content_digest)
  )`
  yield* unsampled("people", ["id", "person", "check_id", "response_digest", "content_digest", "evidence", "late"])
  yield* sql`INSERT INTO idv_rescreen_meta (name, value) VALUES ('salt', ${randomBytes(32).toString("base64")})`
})

/** Decisions become entries of the append-only history, and runs have an environment and a class. */
const version2 = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { collate, sequence } = Statements.dialect(sql)
  yield* sql`CREATE TABLE idv_rescreen_history (
    entry ${sequence},
    at DOUBLE PRECISION NOT NULL,
    kind TEXT NOT NULL,
    id TEXT ${collate},
    actor TEXT NOT NULL,
    run TEXT,
    digest TEXT,
    decision TEXT,
    reason TEXT,
    approves INTEGER
  )`
  yield* sql`CREATE INDEX idv_rescreen_history_id ON idv_rescreen_history (id)`
  yield* sql`INSERT INTO idv_rescreen_history (at, kind, id, actor, digest, decision)
    SELECT decided_at, 'decided', id, reviewer, content_digest, decision FROM idv_rescreen_decisions ORDER BY decided_at`
  yield* sql`DROP TABLE idv_rescreen_decisions`
  yield* unsampled("history", ["id", "actor", "digest", "decision", "reason"])
  yield* sql`UPDATE idv_rescreen_runs SET policy = REPLACE(
    REPLACE(policy, '"evidence":"digest"', '"evidence":"none"'), '"evidence":"response"', '"evidence":"all"'
  )`
  yield* sql`ALTER TABLE idv_rescreen_runs ADD COLUMN environment TEXT NOT NULL DEFAULT ''`
  yield* sql`ALTER TABLE idv_rescreen_runs ADD COLUMN class TEXT NOT NULL DEFAULT ''`
  yield* sql`ALTER TABLE idv_rescreen_runs ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0`
  yield* sql`UPDATE idv_rescreen_runs SET reserved = COALESCE(
    (SELECT CAST(SUM(times_sent) AS INTEGER) FROM idv_rescreen_people p WHERE p.plan = idv_rescreen_runs.plan), 0
  )`
})

/** Positive controls, the spans of doubtful results, and the undocumented changes of responses. */
const version3 = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { collate } = Statements.dialect(sql)
  yield* sql`CREATE TABLE idv_rescreen_controls (
    plan TEXT NOT NULL,
    line INTEGER NOT NULL,
    id TEXT ${collate} NOT NULL,
    person TEXT,
    PRIMARY KEY (plan, line)
  )`
  // The column since: how many rows were sent since the last good round began.
  yield* sql`CREATE TABLE idv_rescreen_rounds (
    plan TEXT PRIMARY KEY,
    controls INTEGER NOT NULL,
    requests INTEGER NOT NULL DEFAULT 0,
    good INTEGER NOT NULL DEFAULT 0,
    good_at DOUBLE PRECISION,
    since INTEGER NOT NULL,
    since_begun INTEGER NOT NULL DEFAULT 0,
    confirmed INTEGER NOT NULL,
    token TEXT,
    begun_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    lease_until DOUBLE PRECISION NOT NULL DEFAULT 0
  )`
  yield* sql`CREATE TABLE idv_rescreen_doubts (
    plan TEXT NOT NULL,
    from_at DOUBLE PRECISION NOT NULL,
    to_at DOUBLE PRECISION,
    PRIMARY KEY (plan, from_at)
  )`
  yield* unsampled("controls", ["id", "person"])
  yield* sql`ALTER TABLE idv_rescreen_runs ADD COLUMN undocumented TEXT NOT NULL DEFAULT ' '`
})

/** In order: the first migration creates version 1. Never change a released migration. */
const migrations: ReadonlyArray<Effect.Effect<void, SqlError, SqlClient.SqlClient>> = [version1, version2, version3]

const Meta = Schema.Struct({ name: Schema.String, value: Schema.String })
const Place = Schema.Struct({ database: Schema.String, path: Schema.String })

/** The id of the advisory lock: an arbitrary number, the same in all processes of this package. */
const lock = 4_711_202_611

const readMeta = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const meta = yield* Statements.rows(Meta)(sql`SELECT name, value FROM idv_rescreen_meta`)
  const valueOf = (name: string) => meta.find((row) => row.name === name)?.value
  return { version: Number(valueOf("version") ?? 0), salt: valueOf("salt") ?? "" }
})

/** Creates or upgrades the tables, in one transaction. Two processes may do so at the same moment. */
export const migrate = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // In PostgreSQL, the second process waits here. In SQLite, a write transaction is exclusive.
  yield* sql.onDialectOrElse({
    pg: () => sql`SELECT pg_advisory_xact_lock(${lock})`,
    orElse: () => Effect.void
  })
  yield* sql`CREATE TABLE IF NOT EXISTS idv_rescreen_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`
  const { version: found } = yield* readMeta
  const known = migrations.length
  if (found > known) return yield* new LedgerUnusable({ reason: "version", found, known })
  yield* Effect.forEach(migrations.slice(found), (migration) => migration, { discard: true })
  yield* sql`INSERT INTO idv_rescreen_meta (name, value) VALUES ('version', ${String(known)})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`
}).pipe((migration) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(migration)))

/** Where the tables were looked for. */
const place = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return yield* sql.onDialectOrElse({
    pg: () =>
      Statements.rows(Place)(
        sql`SELECT current_database() AS database, current_setting('search_path') AS path`
      ).pipe(Effect.map(([found]) => `database ${found?.database} with the search_path ${found?.path}`)),
    orElse: () => Effect.succeed("file")
  })
})

/** The codes of PostgreSQL and SQLite for a table that does not exist. */
const noTable = ["42P01", "SQLITE_ERROR"]

/** Returns the salt of the digests, or fails if the tables are not those of this version. */
export const check = Effect.gen(function*() {
  const known = migrations.length
  const { salt, version: found } = yield* readMeta.pipe(
    Effect.catchTag("SqlError", (error) =>
      noTable.includes(Statements.codeOf(error))
        ? Effect.flatMap(place, (place) => new LedgerUnusable({ reason: "no_tables", place }))
        : error)
  )
  if (found !== known) return yield* new LedgerUnusable({ reason: "version", found, known })
  // Digests with an empty key could be looked up in a list of people.
  return salt === "" ? yield* new LedgerUnusable({ reason: "no_salt" }) : salt
})
