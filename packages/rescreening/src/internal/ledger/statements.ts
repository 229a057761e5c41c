/** Helpers for SQL statements: the differences between the dialects, and the decoding of failures and rows. */
import * as Violation from "@effect-idv/core/Violation"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
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

/** The columns of `LedgerRow`. */
export const rowColumns = (sql: SqlClient.SqlClient) =>
  sql.literal(`line, id, state, times_sent AS "timesSent", times_unknown AS "timesUnknown", codes, error,
    check_id AS "checkId", searched_on AS "searchedOn", sent_at AS "sentAt", settled_at AS "settledAt",
    response_digest AS "responseDigest", content_digest AS "contentDigest", evidence, late`)

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
