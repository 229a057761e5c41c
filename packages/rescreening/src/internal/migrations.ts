/** The tables of the ledger. Two processes may create or upgrade them at the same moment. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { LedgerTooNew, LedgerUnavailable } from "../RescreeningError.ts"
import * as Statements from "./statements.ts"

const version1 = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { collate } = Statements.dialect(sql)
  yield* sql`CREATE TABLE idv_rescreen_runs (
    id TEXT PRIMARY KEY,
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
    failures_in_row INTEGER NOT NULL DEFAULT 0
  )`
  yield* sql`CREATE TABLE idv_rescreen_people (
    run TEXT NOT NULL,
    line INTEGER NOT NULL,
    id TEXT ${collate},
    shard INTEGER NOT NULL,
    state TEXT NOT NULL,
    worker TEXT,
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
    PRIMARY KEY (run, line)
  )`
  yield* sql`CREATE UNIQUE INDEX idv_rescreen_people_id ON idv_rescreen_people (run, id)`
  yield* sql`CREATE INDEX idv_rescreen_people_pending ON idv_rescreen_people (run, shard, line)
    WHERE state = 'pending'`
  yield* sql`CREATE INDEX idv_rescreen_people_held ON idv_rescreen_people (run, worker)
    WHERE state IN ('claimed', 'sent')`
  yield* sql`CREATE INDEX idv_rescreen_people_unknown ON idv_rescreen_people (run) WHERE state = 'unknown'`
  yield* sql`CREATE TABLE idv_rescreen_workers (
    token TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    lease_until DOUBLE PRECISION NOT NULL
  )`
  yield* sql`CREATE INDEX idv_rescreen_workers_run ON idv_rescreen_workers (run)`
  yield* sql`CREATE TABLE idv_rescreen_services (
    service TEXT PRIMARY KEY,
    next_at DOUBLE PRECISION NOT NULL,
    resumes_at DOUBLE PRECISION NOT NULL,
    pauses INTEGER NOT NULL
  )`
  yield* sql`CREATE TABLE idv_rescreen_decisions (
    id TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    decision TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    decided_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (id, content_digest)
  )`
  // The statistics of PostgreSQL would keep samples of these columns after the rows are erased.
  const unsampled = {
    people: ["id", "person", "check_id", "response_digest", "content_digest", "evidence"],
    decisions: ["id", "content_digest", "decision", "reviewer"]
  }
  for (const [table, columns] of Object.entries(unsampled)) {
    for (const column of columns) {
      yield* sql.onDialectOrElse({
        pg: () => sql`ALTER TABLE ${sql(`idv_rescreen_${table}`)} ALTER COLUMN ${sql(column)} SET STATISTICS 0`,
        orElse: () => Effect.void
      })
    }
  }
  yield* sql`INSERT INTO idv_rescreen_meta (name, value) VALUES ('salt', ${randomBytes(32).toString("base64")})`
})

/** The process that plans a run, and the end of its lease. Both are NULL once the run has all its rows. */
const version2 = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE idv_rescreen_runs ADD COLUMN planner TEXT`
  yield* sql`ALTER TABLE idv_rescreen_runs ADD COLUMN planner_lease_until DOUBLE PRECISION`
})

/** In order: the first migration creates version 1. Never change a released migration. */
const migrations = [version1, version2]

const Meta = Schema.Struct({ name: Schema.String, value: Schema.String })

/** The id of the advisory lock: an arbitrary number, the same in all processes of this package. */
const lock = 4_711_202_611

/** Creates or upgrades the tables, and returns the salt of the digests. */
export const migrate = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // In PostgreSQL, the second process waits here. In SQLite, a write transaction is exclusive.
  yield* sql.onDialectOrElse({
    pg: () => sql`SELECT pg_advisory_xact_lock(${lock})`,
    orElse: () => Effect.void
  })
  yield* sql`CREATE TABLE IF NOT EXISTS idv_rescreen_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`
  const read = Statements.rows(Meta)(sql`SELECT name, value FROM idv_rescreen_meta`)
  const valueOf = (meta: ReadonlyArray<typeof Meta.Type>, name: string) => meta.find((row) => row.name === name)?.value
  const known = migrations.length
  const found = Number(valueOf(yield* read, "version") ?? 0)
  if (found > known) return yield* new LedgerTooNew({ found, known })
  yield* Effect.forEach(migrations.slice(found), (migration) => migration, { discard: true })
  yield* sql`INSERT INTO idv_rescreen_meta (name, value) VALUES ('version', ${String(known)})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`
  const salt = valueOf(yield* read, "salt") ?? ""
  // Digests with an empty key could be looked up in a list of people.
  return salt === "" ? yield* new LedgerUnavailable({ operation: "migrate", code: "SALT_MISSING" }) : salt
})
