/** The operations on whole runs: plan, count, pause, read for reports, erase. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import * as LedgerRow from "../LedgerRow.ts"
import { LedgerInUse, LedgerUnavailable, RunNotFound } from "../RescreeningError.ts"
import * as Run from "../Run.ts"
import type * as Ledger from "./ledgerService.ts"
import * as PostgresClient from "./postgresClient.ts"
import * as Statements from "./statements.ts"

const decodeRuns = Statements.rows(Run.Run)
const decodeRows = Statements.rows(LedgerRow.LedgerRow)
const decodeCounts = Statements.rows(Schema.Struct({ state: Run.State, count: Schema.Int }))
const decodeLines = Statements.rows(Schema.Struct({ line: Schema.Int }))
const decodeBuckets = Statements.rows(Schema.Struct({ bucket: Schema.Number, count: Schema.Int }))
const decodeDecisions = Statements.rows(LedgerRow.Decision)
const decodeIds = Statements.rows(Schema.Struct({ id: Schema.String }))
const decodeCheckpoints = Statements.rows(Schema.Struct({ busy: Schema.Int }))

/** Rows per statement. */
const batch = 1000

/** The number of consecutive lines in one shard, so that a small population does not spread over many shards. */
const block = 100

/** A process that plans a run and is silent for this long, in milliseconds, is replaced by the next one. */
const planLease = 30_000

/** While a run is planned, it is in this state, and only `plan` and `erase` find it. */
const planning = "planning"

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { collate, forShare, now } = Statements.dialect(sql)
  const patient = Option.getOrElse(
    yield* Effect.serviceOption(PostgresClient.Patient),
    () => Layer.succeed(SqlClient.SqlClient, sql)
  )

  const columns = sql`id, planned_at AS "plannedAt", state, reason, completed_at AS "completedAt",
    erased_at AS "erasedAt", erased_counts AS "erasedCounts", policy, service, people, digest, total`

  const rowColumns = sql`line, id, state, times_sent AS "timesSent", times_unknown AS "timesUnknown", codes, error,
    check_id AS "checkId", searched_on AS "searchedOn", sent_at AS "sentAt", settled_at AS "settledAt", response_digest AS "responseDigest",
    content_digest AS "contentDigest", evidence`

  const find: Ledger.Service["find"] = (run) =>
    sql`SELECT ${columns} FROM idv_rescreen_runs WHERE id = ${run} AND state <> ${planning}`.pipe(
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

  /**
   * A table with one row if the run belongs to this planner, otherwise none; without a planner, the run is planned. In
   * PostgreSQL another planner waits until the statement ends.
   */
  const ownedBy = (run: string, planner = "") =>
    sql`(SELECT 1 FROM idv_rescreen_runs WHERE id = ${run} AND COALESCE(planner, '') = ${planner} ${forShare}) AS owned`

  /** Rows are one parameter, because both databases decode JSON faster than thousands of parameters. */
  const insertCells = (run: string, planner: string, cells: ReadonlyArray<ReadonlyArray<unknown>>) =>
    sql`INSERT INTO idv_rescreen_people (run, line, id, shard, state, person, codes)
      SELECT ${run}, CAST(value ->> 0 AS INTEGER), value ->> 1, CAST(value ->> 2 AS INTEGER), value ->> 3, value ->> 4,
        value ->> 5
      FROM ${Statements.elements(sql, JSON.stringify(cells))}, ${ownedBy(run, planner)} WHERE true
      ON CONFLICT (run, id) DO NOTHING RETURNING line`

  const insert = ({ id: run, policy: { shards } }: Ledger.NewRun, planner: string) =>
  (
    chunk: Chunk.Chunk<Ledger.PlannedRow>
  ) =>
    Effect.gen(function*() {
      const rows = Chunk.toReadonlyArray(chunk)
      const inserted = yield* insertCells(run, planner, rows.map(cellsOf(shards)))
      if (inserted.length === rows.length) return
      const lines = new Set((yield* decodeLines(Effect.succeed(inserted))).map(({ line }) => line))
      const repeated = rows.filter(({ line }) => !lines.has(line)).map((row) => ({
        ...row,
        id: null,
        person: null,
        codes: ["id.repeated"]
      }))
      const marked = yield* insertCells(run, planner, repeated.map(cellsOf(shards)))
      if (marked.length < repeated.length) return yield* replaced
    })

  /** This process was silent for longer than its lease, and another one plans the run. */
  const replaced = new LedgerUnavailable({ operation: "plan", code: "REPLACED" })

  /** Stores the run in the state `planning`. Returns `false` if another process has planned it, which it waits for. */
  const begin = (run: Ledger.NewRun, planner: string) =>
    Effect.gen(function*() {
      while (true) {
        const begun = yield* sql`INSERT INTO idv_rescreen_runs
          (id, planned_at, state, policy, service, people, digest, total, planner, planner_lease_until)
          VALUES (${run.id}, ${now}, ${planning}, ${JSON.stringify(run.policy)}, ${run.service}, ${run.people}, '', 0,
            ${planner}, ${now} + ${planLease})
          ON CONFLICT (id) DO UPDATE SET planned_at = excluded.planned_at, policy = excluded.policy,
            service = excluded.service, people = excluded.people, planner = excluded.planner,
            planner_lease_until = excluded.planner_lease_until
          WHERE idv_rescreen_runs.state = ${planning} AND idv_rescreen_runs.planner_lease_until <= ${now}
          RETURNING id`
        if (begun.length > 0) return true
        if (Option.isSome(yield* find(run.id))) return false
        yield* Effect.sleep("200 millis")
      }
    })

  const renewPlan = (run: string, planner: string) =>
    sql`UPDATE idv_rescreen_runs SET planner_lease_until = ${now} + ${planLease}
      WHERE id = ${run} AND planner = ${planner}`

  /**
   * Deletes the plan under another planner. If the connection broke during an insert, PostgreSQL may still perform it:
   * the change of the planner waits until it ends, so no row is left without a run.
   */
  const discardPlan = (run: string, planner: string) => {
    const discarder = `${planner} discards`
    return Statements.guarded("plan")(
      sql`UPDATE idv_rescreen_runs SET planner = ${discarder}, planner_lease_until = ${now} + ${planLease}
        WHERE id = ${run} AND planner = ${planner}`.pipe(
        Effect.zipRight(eraseRows(run, discarder)),
        Effect.zipRight(sql`DELETE FROM idv_rescreen_runs WHERE id = ${run} AND planner = ${discarder}`)
      )
    )
  }

  /**
   * Stores the rows in many short statements, so that other processes can write to SQLite meanwhile, and no connection
   * to PostgreSQL is silent. The run is found once it has all its rows.
   */
  const plan: Ledger.Service["plan"] = (run, rows, digest) =>
    Effect.gen(function*() {
      const planner = randomUUID()
      if (!(yield* begin(run, planner))) return false
      const store = Effect.gen(function*() {
        // The rows of a process that was killed.
        yield* eraseRows(run.id, planner)
        const total = yield* rows.pipe(
          Stream.grouped(batch),
          // The next rows are converted while the database stores these.
          Stream.buffer({ capacity: 1 }),
          Stream.runFoldEffect(0, (total, chunk) => Effect.as(insert(run, planner)(chunk), total + chunk.length))
        )
        const planned = yield* sql`UPDATE idv_rescreen_runs SET state = 'open', digest = ${digest()}, total = ${total},
          planner = NULL, planner_lease_until = NULL WHERE id = ${run.id} AND planner = ${planner} RETURNING id`
        return planned.length > 0 ? true : yield* replaced
      })
      const renewals = Effect.forever(
        Effect.delay(Effect.ignore(Statements.guarded("plan")(renewPlan(run.id, planner))), planLease / 3)
      )
      // Not a race: an interrupted race ends before its fibers, so the database would close before the plan is discarded.
      return yield* Effect.forkScoped(renewals).pipe(
        Effect.zipRight(Effect.onError(store, () => Effect.ignore(discardPlan(run.id, planner)))),
        Effect.scoped
      )
    }).pipe(Statements.guarded("plan"))

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
  const eraseRows = (run: string, planner?: string): Effect.Effect<void, Ledger.Failure> =>
    sql`DELETE FROM idv_rescreen_people WHERE run = ${run} AND line IN (
      SELECT line FROM idv_rescreen_people, ${ownedBy(run, planner)} WHERE run = ${run}
      ORDER BY line LIMIT ${10 * batch}
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

  /** Deletes what processes that were killed have planned. */
  const eraseInterruptedPlans = (olderThan: number) =>
    Effect.gen(function*() {
      const planner = randomUUID()
      const interrupted = yield* sql`UPDATE idv_rescreen_runs
        SET planner = ${planner}, planner_lease_until = ${now} + ${planLease}
        WHERE state = ${planning} AND planner_lease_until <= ${now} AND planned_at <= ${now} - ${olderThan}
        RETURNING id`.pipe(decodeIds, Statements.guarded("erase"))
      for (const { id } of interrupted) yield* discardPlan(id, planner)
    })

  /** Deletes the decisions about evidence that no run has any more. */
  const eraseDecisions = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`DELETE FROM idv_rescreen_decisions WHERE NOT EXISTS (
      SELECT 1 FROM idv_rescreen_runs r JOIN idv_rescreen_people p
        ON p.run = r.id AND p.id = idv_rescreen_decisions.id ${collate}
      WHERE p.content_digest = idv_rescreen_decisions.content_digest
    )`
  )

  /** Overwrites the deleted rows in the files of the database. */
  const vacuum = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.onDialectOrElse({
      pg: () => sql`VACUUM idv_rescreen_people, idv_rescreen_decisions`,
      orElse: () => sql`VACUUM`
    }))

  /** SQLite's write-ahead log holds deleted data until a checkpoint, which a transaction of another process prevents. */
  const truncateLog = sql`PRAGMA wal_checkpoint(TRUNCATE)`.pipe(
    decodeCheckpoints,
    Statements.guarded("vacuum"),
    Effect.filterOrFail((checkpoints) => checkpoints.every(({ busy }) => busy === 0), () => new LedgerInUse()),
    Effect.retry({
      while: ({ _tag }) => _tag === "LedgerInUse",
      schedule: Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(5))
    })
  )

  const erase: Ledger.Service["erase"] = (olderThan) =>
    Effect.gen(function*() {
      const due = yield* sql`SELECT ${columns} FROM idv_rescreen_runs
        WHERE planned_at <= ${now} - ${olderThan} AND state <> ${planning}`.pipe(
        decodeRuns,
        Statements.guarded("erase")
      )
      for (const { id } of due) {
        yield* eraseRun(id)
        yield* eraseRows(id)
      }
      yield* eraseInterruptedPlans(olderThan)
      yield* Effect.provide(
        Effect.zipRight(Statements.guarded("erase")(eraseDecisions), Statements.guarded("vacuum")(vacuum)),
        patient
      ).pipe(Statements.guarded("erase"))
      yield* sql.onDialectOrElse({ pg: () => Effect.void, orElse: () => truncateLog })
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
    runs: sql`SELECT ${columns} FROM idv_rescreen_runs WHERE state <> ${planning} ORDER BY planned_at DESC, id DESC`
      .pipe(
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
