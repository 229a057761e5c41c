/** The erasure of old runs, of old history, and of one person. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as LedgerRow from "../../LedgerRow.ts"
import { LedgerInUse } from "../../RescreeningError.ts"
import * as History from "./history.ts"
import * as PostgresClient from "./postgresClient.ts"
import type * as Ledger from "./service.ts"
import * as Statements from "./statements.ts"

const decodeCheckpoints = Statements.rows(Schema.Struct({ busy: Schema.Int }))
const decodeDue = Statements.rows(
  Schema.Struct({ id: Schema.String, plan: Schema.String, erasedAt: Schema.NullOr(Schema.Number) })
)
const Stored = Schema.Struct({ run: Schema.String, person: Schema.NullOr(Schema.String) })
const decodeControlsOfPerson = Statements.rows(Stored)
const decodeRowsOfPerson = Statements.rows(Schema.Struct({ ...Stored.fields, ...LedgerRow.LedgerRow.fields }))
const decodePlans = Statements.rows(Schema.Struct({ plan: Schema.String }))

/** Rows per statement. */
const batch = 10_000

/** Deletes the rows of a plan in parts, so that no statement takes long. */
export const deleteRows = (sql: SqlClient.SqlClient, plan: string, options?: { readonly keepsHeld: boolean }) => {
  const due = options?.keepsHeld === true
    ? sql`plan = ${plan} AND (id IS NULL OR id NOT IN (${History.heldIds(sql)}))`
    : sql`plan = ${plan}`
  const deletePeople = sql`DELETE FROM idv_rescreen_people WHERE plan = ${plan} AND line IN (
      SELECT line FROM idv_rescreen_people WHERE ${due} ORDER BY line LIMIT ${batch}
    ) RETURNING line`.pipe(Effect.repeat({ until: (rows) => rows.length === 0 }), Effect.asVoid)
  return Effect.zipLeft(deletePeople, sql`DELETE FROM idv_rescreen_controls WHERE ${due}`)
}

export const make = ({ counts, discardOldPlans }: {
  readonly counts: Ledger.Service["counts"]
  readonly discardOldPlans: Effect.Effect<unknown, Effect.Effect.Error<ReturnType<typeof deleteRows>>>
}) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { now } = Statements.dialect(sql)
    const patient = Option.getOrElse(
      yield* Effect.serviceOption(PostgresClient.Patient),
      () => Layer.succeed(SqlClient.SqlClient, sql)
    )

    /** Stores the counts before the rows are deleted, so that an interruption does not lose them. */
    const eraseRun = (run: string) =>
      Effect.gen(function*() {
        const before = JSON.stringify(yield* counts(run))
        yield* sql`UPDATE idv_rescreen_runs SET erased_at = ${now}, erased_counts = ${before}, reason = NULL,
          state = 'complete' WHERE id = ${run} AND erased_at IS NULL`
      }).pipe(sql.withTransaction)

    const eraseHistory = (olderThan: number) =>
      sql`DELETE FROM idv_rescreen_history
        WHERE at <= ${now} - ${olderThan} AND (id IS NULL OR id NOT IN (${History.heldIds(sql)}))`

    /** Overwrites the deleted rows in the files of the database. */
    const vacuum = Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.onDialectOrElse({
        pg: () => sql`VACUUM idv_rescreen_people, idv_rescreen_controls, idv_rescreen_history`,
        orElse: () => sql`VACUUM`
      })).pipe(Effect.provide(patient))

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

    const overwrite = sql.onDialectOrElse({
      pg: () => Effect.asVoid(vacuum),
      orElse: () => Effect.zipRight(vacuum, truncateLog)
    })

    const erase: Ledger.Service["erase"] = ({ historyOlderThan, olderThan }) =>
      Effect.gen(function*() {
        const due = yield* decodeDue(sql`SELECT id, plan, erased_at AS "erasedAt" FROM idv_rescreen_runs
          WHERE planned_at <= ${now} - ${olderThan} ORDER BY planned_at DESC, id DESC`)
        for (const { id, plan } of due) {
          yield* eraseRun(id)
          yield* deleteRows(sql, plan, { keepsHeld: true })
        }
        yield* discardOldPlans
        if (historyOlderThan !== undefined) yield* eraseHistory(historyOlderThan)
        yield* overwrite
        return due.filter(({ erasedAt }) => erasedAt === null).map(({ id }) => id)
      }).pipe(Statements.guarded("erase"))

    /** Every plan, published or not, so that both databases search the index of plan and id. */
    const plans = sql`SELECT plan FROM idv_rescreen_runs UNION SELECT plan FROM idv_rescreen_plans`

    const erasePerson: Ledger.Service["erasePerson"] = (id, { actor, keepsHistory }) =>
      Effect.gen(function*() {
        const erased = yield* Effect.gen(function*() {
          const held = yield* sql`SELECT 1 FROM (${History.heldIds(sql)}) AS held WHERE id = ${id}`
          if (held.length > 0) return undefined
          const rows = yield* decodePlans(sql`UPDATE idv_rescreen_people SET state = 'erased', id = NULL, token = NULL,
              person = NULL, codes = NULL, error = NULL, check_id = NULL, searched_on = NULL, sent_at = NULL,
              settled_at = NULL, response_digest = NULL, content_digest = NULL, evidence = NULL, late = NULL
            WHERE plan IN (${plans}) AND id = ${id} RETURNING plan`)
          const controls = yield* decodePlans(
            sql`DELETE FROM idv_rescreen_controls WHERE id = ${id} RETURNING plan`
          )
          const history = keepsHistory
            ? []
            : yield* sql`DELETE FROM idv_rescreen_history WHERE id = ${id} RETURNING entry`
          if (rows.length + controls.length + history.length > 0) {
            yield* sql`INSERT INTO idv_rescreen_history (at, kind, actor) VALUES (${now}, 'erased', ${actor})`
          }
          return new Set([...rows, ...controls].map(({ plan }) => plan)).size
        }).pipe(sql.withTransaction)
        if (erased !== undefined) yield* overwrite
        return erased
      }).pipe(Statements.guarded("erase"))

    const runs = sql`(SELECT id AS run, plan AS "runPlan", planned_at AS "plannedAt" FROM idv_rescreen_runs) AS runs`

    const ofPerson: Ledger.Service["ofPerson"] = (id) =>
      Effect.all({
        rows: Effect.map(
          decodeRowsOfPerson(sql`SELECT run, person, ${Statements.rowColumns(sql)} FROM idv_rescreen_people
            JOIN ${runs} ON plan = "runPlan" WHERE id = ${id} ORDER BY "plannedAt"`),
          (rows) => rows.map(({ person, run, ...row }) => ({ run, person, row }))
        ),
        controls: decodeControlsOfPerson(sql`SELECT run, person FROM idv_rescreen_controls
          JOIN ${runs} ON plan = "runPlan" WHERE id = ${id} ORDER BY "plannedAt"`)
      }).pipe(Statements.guarded("export"))

    return { erase, erasePerson, ofPerson }
  })
