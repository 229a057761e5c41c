/** The operations on whole runs: plan, count, pause, read for reports, erase. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as LedgerRow from "../LedgerRow.ts"
import { RunNotFound } from "../RescreeningError.ts"
import * as Run from "../Run.ts"
import type * as Ledger from "./ledgerService.ts"
import * as Statements from "./statements.ts"

const decodeRuns = Statements.rows(Run.Run)
const decodeRows = Statements.rows(LedgerRow.LedgerRow)
const decodeCounts = Statements.rows(Schema.Struct({ state: Run.State, count: Schema.Int }))
const decodeLines = Statements.rows(Schema.Struct({ line: Schema.Int }))
const decodeBuckets = Statements.rows(Schema.Struct({ bucket: Schema.Number, count: Schema.Int }))
const decodeDecisions = Statements.rows(LedgerRow.Decision)

/** Rows per statement. */
const batch = 1000

/** The number of consecutive lines in one shard, so that a small population does not spread over many shards. */
const block = 100

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { now } = Statements.dialect(sql)

  const columns = sql`id, planned_at AS "plannedAt", state, reason, completed_at AS "completedAt",
    erased_at AS "erasedAt", erased_counts AS "erasedCounts", policy, service, people, digest, total`

  const rowColumns = sql`line, id, state, times_sent AS "timesSent", times_unknown AS "timesUnknown", codes, error,
    check_id AS "checkId", searched_on AS "searchedOn", sent_at AS "sentAt", settled_at AS "settledAt", sha256,
    content_digest AS "contentDigest", evidence`

  const find: Ledger.Service["find"] = (run) =>
    sql`SELECT ${columns} FROM idv_rescreen_runs WHERE id = ${run}`.pipe(
      decodeRuns,
      Effect.map(([first]) => Option.fromNullable(first)),
      Statements.guarded("find")
    )

  /** The cells of a row, as the statement reads them. */
  const cellsOf = (shards: number) => ({ codes, id, line, person }: Ledger.PlannedRow) => [
    line,
    id,
    Math.floor((line - 1) / block) % shards,
    id === null ? "wrong_row" : "pending",
    person,
    codes.length === 0 ? null : codes.join(" ")
  ]

  /** Rows are one parameter, because both databases decode JSON faster than thousands of parameters. */
  const insertCells = (run: string, cells: ReadonlyArray<ReadonlyArray<unknown>>) => {
    return sql`INSERT INTO idv_rescreen_people (run, line, id, shard, state, person, codes)
      SELECT ${run}, CAST(value ->> 0 AS INTEGER), value ->> 1, CAST(value ->> 2 AS INTEGER), value ->> 3, value ->> 4,
        value ->> 5
      FROM ${Statements.elements(sql, JSON.stringify(cells))} WHERE true
      ON CONFLICT (run, id) DO NOTHING RETURNING line`
  }

  const insert = (run: string, shards: number) => (chunk: Chunk.Chunk<Ledger.PlannedRow>) =>
    Effect.gen(function*() {
      const rows = Chunk.toReadonlyArray(chunk)
      const inserted = yield* insertCells(run, rows.map(cellsOf(shards)))
      if (inserted.length === rows.length) return
      const lines = new Set((yield* decodeLines(Effect.succeed(inserted))).map(({ line }) => line))
      const repeated = rows.filter(({ line }) => !lines.has(line)).map((row) => ({
        ...row,
        id: null,
        person: null,
        codes: ["id.repeated"]
      }))
      yield* insertCells(run, repeated.map(cellsOf(shards)))
    })

  const plan: Ledger.Service["plan"] = (run, rows, digest) =>
    Effect.gen(function*() {
      const begun = yield* sql`INSERT INTO idv_rescreen_runs
        (id, planned_at, state, policy, service, people, digest, total)
        VALUES (${run.id}, ${now}, 'open', ${JSON.stringify(run.policy)}, ${run.service}, ${run.people}, '', 0)
        ON CONFLICT (id) DO NOTHING RETURNING id`
      if (begun.length === 0) return false
      const total = yield* rows.pipe(
        Stream.grouped(batch),
        // The next rows are converted while the database stores these.
        Stream.buffer({ capacity: 1 }),
        Stream.runFoldEffect(0, (total, chunk) =>
          Effect.as(insert(run.id, run.policy.shards)(chunk), total + chunk.length))
      )
      yield* sql`UPDATE idv_rescreen_runs SET digest = ${digest()}, total = ${total} WHERE id = ${run.id}`
      return true
    }).pipe(sql.withTransaction, Statements.guarded("plan"))

  const counts: Ledger.Service["counts"] = (run) =>
    sql`SELECT state, CAST(COUNT(*) AS INTEGER) AS count FROM idv_rescreen_people WHERE run = ${run} GROUP BY state`
      .pipe(
        decodeCounts,
        Effect.map((rows) =>
          rows.reduce<Run.Counts>((all, { count, state }) => ({ ...all, [state]: count }), Run.noCounts)
        ),
        Statements.guarded("counts")
      )

  const pages = <Cursor>(
    first: Cursor,
    page: (after: Cursor) => Effect.Effect<ReadonlyArray<LedgerRow.LedgerRow>, Ledger.Failure>,
    cursorOf: (row: LedgerRow.LedgerRow) => Cursor
  ) =>
    Stream.paginateChunkEffect(first, (after) =>
      Effect.map(page(after), (rows) => {
        const last = rows.at(-1)
        const next = last === undefined || rows.length < batch ? Option.none() : Option.some(cursorOf(last))
        return [Chunk.unsafeFromArray(rows), next]
      }))

  /** Deletes in parts, so that no statement takes long. */
  const eraseRows = (run: string): Effect.Effect<void, Ledger.Failure> =>
    sql`DELETE FROM idv_rescreen_people WHERE run = ${run} AND line IN (
      SELECT line FROM idv_rescreen_people WHERE run = ${run} ORDER BY line LIMIT ${10 * batch}
    ) RETURNING line`.pipe(
      Statements.guarded("erase"),
      Effect.repeat({ until: (rows) => rows.length === 0 }),
      Effect.asVoid
    )

  /** Stores the counts before the rows are deleted, so that an interruption does not lose them. */
  const eraseRun = (run: string) =>
    Effect.gen(function*() {
      const before = JSON.stringify(yield* counts(run))
      yield* sql`UPDATE idv_rescreen_runs SET erased_at = ${now}, erased_counts = ${before}, reason = NULL,
        state = 'complete' WHERE id = ${run} AND erased_at IS NULL`
      yield* sql`DELETE FROM idv_rescreen_workers WHERE run = ${run}`
    }).pipe(sql.withTransaction, Statements.guarded("erase"))

  const erase: Ledger.Service["erase"] = (olderThan) =>
    Effect.gen(function*() {
      const due = yield* sql`SELECT ${columns} FROM idv_rescreen_runs WHERE planned_at <= ${now} - ${olderThan}`.pipe(
        decodeRuns,
        Statements.guarded("erase")
      )
      for (const { id } of due) {
        yield* eraseRun(id)
        yield* eraseRows(id)
      }
      yield* sql`DELETE FROM idv_rescreen_decisions WHERE decided_at <= ${now} - ${olderThan}`.pipe(
        Statements.guarded("erase")
      )
      yield* sql.onDialectOrElse({ pg: () => sql`VACUUM idv_rescreen_people`, orElse: () => sql`VACUUM` }).pipe(
        Statements.guarded("vacuum")
      )
      // SQLite's write-ahead log holds deleted data until a checkpoint.
      yield* sql.onDialectOrElse({
        pg: () => Effect.void,
        orElse: () => Statements.guarded("vacuum")(sql`PRAGMA wal_checkpoint(TRUNCATE)`)
      })
      return due.filter(({ erasedAt }) => erasedAt === null).map(({ id }) => id)
    })

  return {
    plan,
    find,
    erase,
    counts,
    run: (run: string) =>
      Effect.flatMap(
        find(run),
        Option.match({ onNone: () => new RunNotFound({ run }), onSome: (run) => Effect.succeed(run) })
      ),
    runs: sql`SELECT ${columns} FROM idv_rescreen_runs ORDER BY planned_at DESC, id DESC`.pipe(
      decodeRuns,
      Statements.guarded("runs")
    ),
    pause: (run: string, reason: string) =>
      sql`UPDATE idv_rescreen_runs SET state = 'paused', reason = ${reason} WHERE id = ${run} AND state = 'open'
        RETURNING id`.pipe(Effect.map((rows) => rows.length > 0), Statements.guarded("pause")),
    resume: (run: string) =>
      sql`UPDATE idv_rescreen_runs SET state = 'open', reason = NULL, failures_in_row = 0, completed_at = NULL
        WHERE id = ${run} AND state IN ('paused', 'complete') AND erased_at IS NULL RETURNING id`.pipe(
        Effect.map((rows) => rows.length > 0),
        Statements.guarded("resume")
      ),
    byLine: (run: string) =>
      pages(
        0,
        (after) =>
          sql`SELECT ${rowColumns} FROM idv_rescreen_people WHERE run = ${run} AND line > ${after}
            ORDER BY line LIMIT ${batch}`.pipe(decodeRows, Statements.guarded("report")),
        ({ line }) => line
      ),
    byId: (run: string) =>
      pages(
        "",
        (after) =>
          sql`SELECT ${rowColumns} FROM idv_rescreen_people WHERE run = ${run} AND id > ${after}
            ORDER BY id LIMIT ${batch}`.pipe(decodeRows, Statements.guarded("compare")),
        ({ id }) => id ?? ""
      ),
    sentPer: (run: string, millis: number) =>
      sql`SELECT FLOOR(sent_at / ${millis}) * ${millis} AS bucket, CAST(COUNT(*) AS INTEGER) AS count
        FROM idv_rescreen_people WHERE run = ${run} AND sent_at IS NOT NULL GROUP BY 1 ORDER BY 1`.pipe(
        decodeBuckets,
        Statements.guarded("report")
      ),
    decide: ({ contentDigest, decision, id, reviewer }: Ledger.NewDecision) =>
      sql`INSERT INTO idv_rescreen_decisions (id, content_digest, decision, reviewer, decided_at)
        VALUES (${id}, ${contentDigest}, ${decision}, ${reviewer}, ${now})
        ON CONFLICT (id, content_digest) DO UPDATE SET decision = excluded.decision, reviewer = excluded.reviewer,
          decided_at = excluded.decided_at`.pipe(Effect.asVoid, Statements.guarded("decide")),
    decisions: (ids: ReadonlyArray<string>) =>
      ids.length === 0
        ? Effect.succeed([])
        : sql`SELECT id, content_digest AS "contentDigest", decision, reviewer, decided_at AS "decidedAt"
          FROM idv_rescreen_decisions WHERE ${sql.in("id", ids)} ORDER BY decided_at`.pipe(
          decodeDecisions,
          Statements.guarded("decisions")
        )
  }
})
