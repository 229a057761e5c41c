/** Helpers for SQL statements: the differences between the dialects, and the decoding of failures and rows. */
import * as Violation from "@effect-idv/core/Violation"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { LedgerUnavailable } from "../../RescreeningError.ts"

/** The fragments in which the dialects differ. All times are milliseconds since 1970, as double precision. */
export const dialect = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => ({
      now: sql.literal("(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::double precision"),
      greatest: sql.literal("GREATEST"),
      forShare: sql.literal("FOR SHARE"),
      forUpdate: sql.literal("FOR UPDATE"),
      skipLocked: sql.literal("FOR UPDATE SKIP LOCKED"),
      collate: sql.literal("COLLATE \"C\""),
      sequence: sql.literal("INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
    }),
    orElse: () => ({
      // `unixepoch('subsec')` counts only whole seconds before SQLite 3.42.
      now: sql.literal("((julianday('now') - 2440587.5) * 86400000.0)"),
      greatest: sql.literal("MAX"),
      forShare: sql.literal(""),
      forUpdate: sql.literal(""),
      skipLocked: sql.literal(""),
      collate: sql.literal(""),
      sequence: sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT")
    })
  })

/** In milliseconds. The clocks of a database and its successor differ by less. */
const clockTolerance = 1000

/**
 * Whether a time was stored in the past, and therefore holds. One from the future is void: the clock was set back, or
 * the database moved to another machine.
 */
export const isStored = (sql: SqlClient.SqlClient, column: string) =>
  sql`${sql.literal(column)} <= ${dialect(sql).now} + ${clockTolerance}`

export type { Fragment }

/** The plan of a run, whose name the rows have. */
export const planOf = (sql: SqlClient.SqlClient) => (run: string): Fragment =>
  sql`(SELECT plan FROM idv_rescreen_runs WHERE id = ${run})`

/**
 * One row until a plan is published or discarded. A statement that joins it stores nothing afterwards, even if PostgreSQL
 * performs it after its connection broke: the lock makes the discard wait for the statement, or the statement for it.
 */
export const begun = (sql: SqlClient.SqlClient, plan: string, lock: Fragment) =>
  sql`(SELECT 1 FROM idv_rescreen_plans WHERE plan = ${plan} AND begun_at >= 0 ${lock}) AS begun`

/** Halves a number until `attempt` takes so many. Returns how many it took in all. */
export const upTo = <E, R>(
  count: number,
  attempt: (part: number) => Effect.Effect<boolean, E, R>
): Effect.Effect<number, E, R> =>
  Effect.gen(function*() {
    if (count === 0) return 0
    if (yield* attempt(count)) return count
    if (count === 1) return 0
    const half = Math.ceil(count / 2)
    const first = yield* upTo(half, attempt)
    return first < half ? first : first + (yield* upTo(count - half, attempt))
  })

/**
 * Whether the row has a "No" of the span `d`: it arrived after the last good round began, and its request left before the
 * next one. `rows` names the table of rows.
 */
export const isInDoubt = (rows: string) =>
  `d.plan = ${rows}.plan AND ${rows}.state IN ('no_match', 'no_match_doubtful') AND ${rows}.settled_at >= d.from_at
    AND (d.to_at IS NULL OR ${rows}.sent_at < d.to_at)`

/** Whether the row has a "No" from a time when the service did not find a control. */
export const isControlFailed = (rows: string) =>
  `(${rows}.plan IN (SELECT plan FROM idv_rescreen_doubts)
    AND EXISTS (SELECT 1 FROM idv_rescreen_doubts d WHERE ${isInDoubt(rows)}))`

/** The state of a row as reports show it. */
export const shownState = `CASE WHEN ${
  isControlFailed("idv_rescreen_people")
} THEN 'control_failed' ELSE idv_rescreen_people.state END`

/** The columns of `LedgerRow`. */
export const rowColumns = (sql: SqlClient.SqlClient) =>
  sql.literal(
    `line, id, ${shownState} AS state, times_sent AS "timesSent", times_unknown AS "timesUnknown", codes, error,
    check_id AS "checkId", searched_on AS "searchedOn", sent_at AS "sentAt", settled_at AS "settledAt",
    response_digest AS "responseDigest", content_digest AS "contentDigest", evidence, late`
  )

/** The elements of a JSON array, as a table with the column `value`. One parameter, whatever the number of elements. */
export const elements = (sql: SqlClient.SqlClient, json: string) =>
  sql.onDialectOrElse({
    pg: () => sql`jsonb_array_elements(${json}::jsonb) AS elements (value)`,
    orElse: () => sql`json_each(${json})`
  })

/**
 * Whether `line` is one of these numbers, in a form for which both databases search the primary key. For `IN`,
 * PostgreSQL may instead read a partial index, whose entries of earlier rows stay until the next vacuum.
 */
export const isLineIn = (sql: SqlClient.SqlClient, lines: ReadonlyArray<number>) => {
  const numbers = sql`SELECT CAST(value AS INTEGER) FROM ${elements(sql, JSON.stringify(lines))}`
  return sql.onDialectOrElse({
    pg: () => sql`idv_rescreen_people.line = ANY(ARRAY(${numbers}))`,
    orElse: () => sql`idv_rescreen_people.line IN (${numbers})`
  })
}

/** The code of the database, of the socket or of the file system. */
export const codeOf = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
  return /^[A-Z\d_]{1,40}$/.test(code) ? code : "unknown"
}

const isSqlError = (error: unknown): error is SqlError => Predicate.isTagged(error, "SqlError")

/** Turns off the spans of `@effect/sql` and drops causes, because database errors repeat the values of a statement. */
export const guarded =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, Exclude<E, SqlError> | LedgerUnavailable, R> =>
    Effect.withTracerEnabled(effect, false).pipe(
      // A transaction dies if its COMMIT or ROLLBACK fails, for example because the connection broke.
      Effect.catchSomeDefect((defect) => isSqlError(defect) ? Option.some(Effect.fail(defect)) : Option.none()),
      Effect.catchAll((error: E | SqlError) =>
        Effect.fail(
          isSqlError(error)
            ? new LedgerUnavailable({ operation, code: codeOf(error) })
            : error as Exclude<E, SqlError>
        )
      )
    )

/** Decodes rows. A row that breaks the schema is a defect: another program changed the tables. */
export const rows = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Violation.decodeUnknown(Schema.Array(schema))
  return <E, R>(effect: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> =>
    Effect.flatMap(
      effect,
      (found) =>
        Effect.mapError(
          decode(found),
          (violations) => new Error(`A row of the ledger: ${Violation.format(violations)}`)
        )
          .pipe(Effect.orDie)
    )
}
