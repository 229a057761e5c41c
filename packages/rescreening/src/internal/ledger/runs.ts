/** The operations on whole runs: plan, count, pause, read for reports. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import * as LedgerRow from "../../LedgerRow.ts"
import { LedgerUnavailable, RunNotFound } from "../../RescreeningError.ts"
import * as Run from "../../Run.ts"
import * as Controls from "./controls.ts"
import * as Erasure from "./erasure.ts"
import type * as Ledger from "./service.ts"
import * as Statements from "./statements.ts"

const decodeRuns = Statements.rows(Run.Run)
const decodeRows = Statements.rows(LedgerRow.LedgerRow)
const decodeCounts = Statements.rows(Schema.Struct({ state: Run.State, count: Schema.Int }))
const decodeLines = Statements.rows(Schema.Struct({ line: Schema.Int }))
const decodeBuckets = Statements.rows(Schema.Struct({ bucket: Schema.Number, count: Schema.Int }))
const decodeIds = Statements.rows(Schema.Struct({ id: Schema.String }))
const decodeLastResults = Statements.rows(
  Schema.Struct({ id: Schema.String, lastResultAt: Schema.NullOr(Schema.DateTimeUtcFromNumber) })
)
const decodePolicies = Statements.rows(Schema.Struct({ policy: Schema.parseJson(Run.Policy), text: Schema.String }))
const decodePlans = Statements.rows(Schema.Struct({ plan: Schema.String }))

/** Rows per statement. */
const batch = 1000

/** In milliseconds. A plan that takes longer was killed. */
const longestPlan = 86_400_000

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { forShare, forUpdate, now } = Statements.dialect(sql)

  const planOf = Statements.planOf(sql)
  const ofRounds = (column: string) =>
    sql`(SELECT ${sql.literal(column)} FROM idv_rescreen_rounds r WHERE r.plan = idv_rescreen_runs.plan)`

  const columns = sql`id, planned_at AS "plannedAt", state, reason, completed_at AS "completedAt",
    erased_at AS "erasedAt", erased_counts AS "erasedCounts", policy, service, environment, class,
    people, digest, total, amended, reserved, undocumented, COALESCE(${ofRounds("controls")}, 0) AS controls,
    COALESCE(${ofRounds("requests")}, 0) AS "controlRequests", COALESCE(${ofRounds("good")}, 0) AS "controlRounds",
    ${ofRounds("good_at")} AS "controlledAt"`

  const rowColumns = Statements.rowColumns(sql)

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

  /** Rows are one parameter, because both databases decode JSON faster than thousands of parameters. */
  const insertCells = (plan: string, cells: ReadonlyArray<ReadonlyArray<unknown>>) =>
    sql`INSERT INTO idv_rescreen_people (plan, line, id, state, person, codes)
      SELECT ${plan}, CAST(value ->> 0 AS INTEGER), value ->> 1, value ->> 2, value ->> 3, value ->> 4
      FROM ${Statements.elements(sql, JSON.stringify(cells))}, ${Statements.begun(sql, plan, forShare)} WHERE true
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

  /**
   * Deletes a plan, unless a run was published with it. The negative time stops further rows. The plan is deleted last,
   * so that a killed process leaves no row that only the plan shows.
   */
  const discard = (plan: string) =>
    Effect.gen(function*() {
      yield* sql`UPDATE idv_rescreen_plans SET begun_at = -1 WHERE plan = ${plan}`
      // A statement of its own, which sees a run that was published while the first one waited.
      const published = yield* sql`SELECT 1 FROM idv_rescreen_runs WHERE plan = ${plan}`
      if (published.length === 0) {
        yield* Erasure.deleteRows(sql, plan)
        yield* sql`DELETE FROM idv_rescreen_rounds WHERE plan = ${plan}`
      }
      yield* sql`DELETE FROM idv_rescreen_plans WHERE plan = ${plan}`
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
        yield* Controls.store(sql, plan, run.controls ?? [])
        const total = yield* rows.pipe(
          Stream.grouped(batch),
          // The next rows are converted while the database stores these.
          Stream.buffer({ capacity: 1 }),
          Stream.runFoldEffect(0, (total, chunk) => Effect.as(insert(plan)(chunk), total + chunk.length))
        )
        const published = yield* sql`INSERT INTO idv_rescreen_runs
            (id, plan, planned_at, state, policy, service, environment, class, people, digest, total)
          SELECT ${run.id}, ${plan}, ${now}, 'open', ${JSON.stringify(run.policy)}, ${run.service},
            ${run.environment ?? ""}, ${run.class ?? ""}, ${run.people}, ${digest()}, ${total}
          FROM ${Statements.begun(sql, plan, forUpdate)} WHERE true
          ON CONFLICT (id) DO NOTHING RETURNING id`
        if (published.length > 0 || Option.isSome(yield* find(run.id))) return published.length > 0
        return yield* new LedgerUnavailable({ operation: "plan", code: "DISCARDED" })
      })
      // The rows of a published plan stay.
      return yield* Effect.ensuring(store, Effect.ignore(Statements.guarded("plan")(discard(plan))))
    }).pipe(Statements.guarded("plan"))

  const counts: Ledger.Service["counts"] = (run) =>
    sql`SELECT ${sql.literal(Statements.shownState)} AS state, CAST(COUNT(*) AS INTEGER) AS count
      FROM idv_rescreen_people WHERE plan = ${planOf(run)} GROUP BY 1`
      .pipe(
        decodeCounts,
        Effect.map((rows) =>
          rows.reduce<Run.Counts>((all, { count, state }) => ({ ...all, [state]: count }), Run.noCounts)
        ),
        Statements.guarded("counts")
      )

  const pages = <Row, Cursor>(
    first: Cursor,
    page: (after: Cursor) => Effect.Effect<ReadonlyArray<Row>, Ledger.Failure>,
    cursorOf: (row: Row) => Cursor
  ) =>
    Stream.paginateChunkEffect(first, (after) =>
      Effect.map(page(after), (rows) => {
        const last = rows.at(-1)
        const next = last === undefined || rows.length < batch ? Option.none() : Option.some(cursorOf(last))
        return [Chunk.unsafeFromArray(rows), next]
      }))

  return {
    ...yield* Erasure.make({ counts, discardOldPlans }),
    plan,
    find,
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
      Effect.gen(function*() {
        // An earlier version may have stored the same policy without the fields that it did not know.
        const [stored] = yield* decodePolicies(
          sql`SELECT policy, policy AS text FROM idv_rescreen_runs WHERE id = ${run}`
        )
        if (stored === undefined || JSON.stringify(stored.policy) !== JSON.stringify(from)) return false
        const rows = yield* sql`UPDATE idv_rescreen_runs SET policy = ${JSON.stringify(to)}
          WHERE id = ${run} AND policy = ${stored.text} RETURNING id`
        return rows.length > 0
      }).pipe(Statements.guarded("setPolicy")),
    pause: (run: string, reason: string) =>
      sql`UPDATE idv_rescreen_runs SET state = 'paused', reason = ${reason} WHERE id = ${run} AND state = 'open'
        RETURNING id`.pipe(Effect.map((rows) => rows.length > 0), Statements.guarded("pause")),
    resume: (run: string) =>
      sql`UPDATE idv_rescreen_runs SET state = 'open', reason = NULL, failures_in_row = 0
        WHERE id = ${run} AND state = 'paused' AND erased_at IS NULL RETURNING id`.pipe(
        Effect.zipLeft(Controls.requireRound(sql, planOf(run))),
        sql.withTransaction,
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
    lastResults: (run: string) =>
      pages(
        "",
        (after) =>
          sql`SELECT id, (
              SELECT MAX(p.sent_at) FROM idv_rescreen_runs r JOIN idv_rescreen_people p ON p.plan = r.plan
              WHERE p.id = members.id AND p.state IN ('no_match', 'no_match_doubtful', 'potential_match')
                AND NOT ${sql.literal(Statements.isControlFailed("p"))}
                AND r.service = (SELECT service FROM idv_rescreen_runs WHERE id = ${run})
                AND r.environment = (SELECT environment FROM idv_rescreen_runs WHERE id = ${run})
            ) AS "lastResultAt"
            FROM (
              SELECT id FROM idv_rescreen_people WHERE plan = ${
            planOf(run)
          } AND id > ${after} ORDER BY id LIMIT ${batch}
            ) AS members ORDER BY id`.pipe(decodeLastResults, Statements.guarded("coverage")),
        ({ id }) => id
      ),
    sentBetween: (
      { environment, service }: { readonly service: string; readonly environment: string },
      { from, to }: { readonly from: number; readonly to: number }
    ) =>
      sql`SELECT DISTINCT p.id AS id FROM idv_rescreen_runs r JOIN idv_rescreen_people p ON p.plan = r.plan
        WHERE r.service = ${service} AND r.environment = ${environment} AND p.id IS NOT NULL
          AND p.sent_at BETWEEN ${from} AND ${to}`.pipe(
        decodeIds,
        Effect.map((rows) => rows.map(({ id }) => id)),
        Statements.guarded("plan")
      ),
    sentPer: (run: string, millis: number) =>
      sql`SELECT FLOOR(sent_at / ${millis}) * ${millis} AS bucket, CAST(COUNT(*) AS INTEGER) AS count
        FROM idv_rescreen_people WHERE plan = ${planOf(run)} AND sent_at IS NOT NULL GROUP BY 1 ORDER BY 1`.pipe(
        decodeBuckets,
        Statements.guarded("report")
      )
  }
})
