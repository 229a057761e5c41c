/** The operations on whole runs: plan, count, pause, read for reports, erase. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import * as LedgerRow from "../../LedgerRow.ts"
import { LedgerInUse, LedgerUnavailable, RunNotFound } from "../../RescreeningError.ts"
import * as Run from "../../Run.ts"
import * as PostgresClient from "./postgresClient.ts"
import type * as Ledger from "./service.ts"
import * as Statements from "./statements.ts"

const decodeRuns = Statements.rows(Run.Run)
const decodeRows = Statements.rows(LedgerRow.LedgerRow)
const decodeCounts = Statements.rows(Schema.Struct({ state: Run.State, count: Schema.Int }))
const decodeLines = Statements.rows(Schema.Struct({ line: Schema.Int }))
const decodeBuckets = Statements.rows(Schema.Struct({ bucket: Schema.Number, count: Schema.Int }))
const decodeDecisions = Statements.rows(LedgerRow.Decision)
const decodePlans = Statements.rows(Schema.Struct({ plan: Schema.String }))
const decodeCheckpoints = Statements.rows(Schema.Struct({ busy: Schema.Int }))

/** Rows per statement. */
const batch = 1000

/** In milliseconds. A plan that takes longer was killed. */
const longestPlan = 86_400_000

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { collate, forShare, forUpdate, now } = Statements.dialect(sql)
  const patient = Option.getOrElse(
    yield* Effect.serviceOption(PostgresClient.Patient),
    () => Layer.succeed(SqlClient.SqlClient, sql)
  )

  const planOf = (run: string) => sql`(SELECT plan FROM idv_rescreen_runs WHERE id = ${run})`

  const columns = sql`id, planned_at AS "plannedAt", state, reason, completed_at AS "completedAt",
    erased_at AS "erasedAt", erased_counts AS "erasedCounts", policy, service, people, digest, total, amended`

  const rowColumns = sql`line, id, state, times_sent AS "timesSent", times_unknown AS "timesUnknown", codes, error,
    check_id AS "checkId", searched_on AS "searchedOn", sent_at AS "sentAt", settled_at AS "settledAt",
    response_digest AS "responseDigest", content_digest AS "contentDigest", evidence, late`

  const find: Ledger.Service["find"] = (run) =>
    sql`SELECT ${columns} FROM idv_rescreen_runs WHERE id = ${run}`.pipe(
      decodeRuns,
      Effect.map(([first]) => Option.fromNullable(first)),
      Statements.guarded("find")
    )

  /** The cells of a row, as the statement reads them. */
  const cellsOf = ({ codes, id, line, person }: Ledger.PlannedRow) => [
    line,
    id,
    id === null ? "wrong_row" : "pending",
    person,
    codes.length === 0 ? null : codes.join(" ")
  ]

  /**
   * Rows are one parameter, because both databases decode JSON faster than thousands of parameters. The statement
   * inserts nothing once the plan is discarded, even if PostgreSQL performs it after its connection broke: the lock
   * makes the discard wait for the rows, or the rows for the discard.
   */
  const insertCells = (plan: string, cells: ReadonlyArray<ReadonlyArray<unknown>>) =>
    sql`INSERT INTO idv_rescreen_people (plan, line, id, state, person, codes)
      SELECT ${plan}, CAST(value ->> 0 AS INTEGER), value ->> 1, value ->> 2, value ->> 3, value ->> 4
      FROM ${Statements.elements(sql, JSON.stringify(cells))},
        (SELECT 1 FROM idv_rescreen_plans WHERE plan = ${plan} ${forShare}) AS begun WHERE true
      ON CONFLICT (plan, id) DO NOTHING RETURNING line`

  const insert = (plan: string) => (chunk: Chunk.Chunk<Ledger.PlannedRow>) =>
    Effect.gen(function*() {
      const rows = Chunk.toReadonlyArray(chunk)
      const inserted = yield* insertCells(plan, rows.map(cellsOf))
      if (inserted.length === rows.length) return
      const lines = new Set((yield* decodeLines(Effect.succeed(inserted))).map(({ line }) => line))
      const repeated = rows.filter(({ line }) => !lines.has(line))
      yield* insertCells(
        plan,
        repeated.map((row) => cellsOf({ ...row, id: null, person: null, codes: ["id.repeated"] }))
      )
    })

  /** Deletes in parts, so that no statement takes long. */
  const eraseRows = (plan: string) =>
    sql`DELETE FROM idv_rescreen_people WHERE plan = ${plan} AND line IN (
      SELECT line FROM idv_rescreen_people WHERE plan = ${plan} ORDER BY line LIMIT ${10 * batch}
    ) RETURNING line`.pipe(Effect.repeat({ until: (rows) => rows.length === 0 }), Effect.asVoid)

  /** Deletes a plan, unless a run was published with it. */
  const discard = (plan: string) =>
    Effect.gen(function*() {
      yield* sql`DELETE FROM idv_rescreen_plans WHERE plan = ${plan}`
      // A statement of its own, which sees a run that was published while the first one waited.
      const published = yield* sql`SELECT 1 FROM idv_rescreen_runs WHERE plan = ${plan}`
      if (published.length === 0) yield* eraseRows(plan)
    })

  /** Deletes what processes that were killed have planned, because it holds encrypted people. */
  const discardOldPlans = sql`SELECT plan FROM idv_rescreen_plans WHERE begun_at <= ${now} - ${longestPlan}`.pipe(
    decodePlans,
    Effect.flatMap(Effect.forEach(({ plan }) => discard(plan), { discard: true }))
  )

  /**
   * Stores the rows in many short statements, so that other processes can write to SQLite meanwhile, and no connection
   * to PostgreSQL is silent. One statement publishes them as a run, if no other process has published it before.
   */
  const plan: Ledger.Service["plan"] = (run, rows, digest) =>
    Effect.gen(function*() {
      yield* discardOldPlans
      const plan = randomBytes(9).toString("base64url")
      yield* sql`INSERT INTO idv_rescreen_plans (plan, begun_at) VALUES (${plan}, ${now})`
      const store = Effect.gen(function*() {
        const total = yield* rows.pipe(
          Stream.grouped(batch),
          // The next rows are converted while the database stores these.
          Stream.buffer({ capacity: 1 }),
          Stream.runFoldEffect(0, (total, chunk) => Effect.as(insert(plan)(chunk), total + chunk.length))
        )
        const published = yield* sql`INSERT INTO idv_rescreen_runs
            (id, plan, planned_at, state, policy, service, people, digest, total)
          SELECT ${run.id}, ${plan}, ${now}, 'open', ${JSON.stringify(run.policy)}, ${run.service}, ${run.people},
            ${digest()}, ${total}
          FROM (SELECT 1 FROM idv_rescreen_plans WHERE plan = ${plan} ${forUpdate}) AS begun WHERE true
          ON CONFLICT (id) DO NOTHING RETURNING id`
        if (published.length > 0 || Option.isSome(yield* find(run.id))) return published.length > 0
        return yield* new LedgerUnavailable({ operation: "plan", code: "DISCARDED" })
      })
      // The rows of a published plan stay.
      return yield* Effect.ensuring(store, Effect.ignore(Statements.guarded("plan")(discard(plan))))
    }).pipe(Statements.guarded("plan"))

  const counts: Ledger.Service["counts"] = (run) =>
    sql`SELECT state, CAST(COUNT(*) AS INTEGER) AS count FROM idv_rescreen_people WHERE plan = ${planOf(run)}
      GROUP BY state`
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

  /** Stores the counts before the rows are deleted, so that an interruption does not lose them. */
  const eraseRun = (run: string) =>
    Effect.gen(function*() {
      const before = JSON.stringify(yield* counts(run))
      yield* sql`UPDATE idv_rescreen_runs SET erased_at = ${now}, erased_counts = ${before}, reason = NULL,
        state = 'complete' WHERE id = ${run} AND erased_at IS NULL`
    }).pipe(sql.withTransaction)

  /** Deletes the decisions about evidence that no run has any more. */
  const eraseDecisions = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`DELETE FROM idv_rescreen_decisions WHERE NOT EXISTS (
      SELECT 1 FROM idv_rescreen_runs r JOIN idv_rescreen_people p
        ON p.plan = r.plan AND p.id = idv_rescreen_decisions.id ${collate}
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
      const due = yield* decodeRuns(
        sql`SELECT ${columns} FROM idv_rescreen_runs WHERE planned_at <= ${now} - ${olderThan}`
      )
      for (const { id } of due) {
        yield* eraseRun(id)
        const [erased] = yield* decodePlans(sql`SELECT plan FROM idv_rescreen_runs WHERE id = ${id}`)
        if (erased !== undefined) yield* eraseRows(erased.plan)
      }
      yield* discardOldPlans
      yield* Effect.provide(Effect.zipRight(eraseDecisions, vacuum), patient)
      yield* sql.onDialectOrElse({ pg: () => Effect.void, orElse: () => truncateLog })
      return due.filter(({ erasedAt }) => erasedAt === null).map(({ id }) => id)
    }).pipe(Statements.guarded("erase"))

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
    runs: sql`SELECT ${columns} FROM idv_rescreen_runs ORDER BY planned_at DESC, id DESC`
      .pipe(
        decodeRuns,
        Statements.guarded("runs")
      ),
    setPolicy: (run: string, from: Run.Policy, to: Run.Policy) =>
      sql`UPDATE idv_rescreen_runs SET policy = ${JSON.stringify(to)}
        WHERE id = ${run} AND policy = ${JSON.stringify(from)} RETURNING id`.pipe(
        Effect.map((rows) => rows.length > 0),
        Statements.guarded("setPolicy")
      ),
    pause: (run: string, reason: string) =>
      sql`UPDATE idv_rescreen_runs SET state = 'paused', reason = ${reason} WHERE id = ${run} AND state = 'open'
        RETURNING id`.pipe(Effect.map((rows) => rows.length > 0), Statements.guarded("pause")),
    resume: (run: string) =>
      sql`UPDATE idv_rescreen_runs SET state = 'open', reason = NULL, failures_in_row = 0
        WHERE id = ${run} AND state = 'paused' AND erased_at IS NULL RETURNING id`.pipe(
        Effect.map((rows) => rows.length > 0),
        Statements.guarded("resume")
      ),
    byLine: (run: string) =>
      pages(
        0,
        (after) =>
          sql`SELECT ${rowColumns} FROM idv_rescreen_people WHERE plan = ${planOf(run)} AND line > ${after}
            ORDER BY line LIMIT ${batch}`.pipe(decodeRows, Statements.guarded("report")),
        ({ line }) => line
      ),
    byId: (run: string) =>
      pages(
        "",
        (after) =>
          sql`SELECT ${rowColumns} FROM idv_rescreen_people WHERE plan = ${planOf(run)} AND id > ${after}
            ORDER BY id LIMIT ${batch}`.pipe(decodeRows, Statements.guarded("compare")),
        ({ id }) => id ?? ""
      ),
    sentPer: (run: string, millis: number) =>
      sql`SELECT FLOOR(sent_at / ${millis}) * ${millis} AS bucket, CAST(COUNT(*) AS INTEGER) AS count
        FROM idv_rescreen_people WHERE plan = ${planOf(run)} AND sent_at IS NOT NULL GROUP BY 1 ORDER BY 1`.pipe(
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
