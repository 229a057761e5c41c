/**
 * The ledger: a row for each person of each run, in SQLite or PostgreSQL. It is the only record of the checks sent.
 *
 * A row goes `pending → claimed → sent → outcome`. Each transition is one statement, which also checks the previous
 * state of the row. The ledger stores `sent` before the request is sent. A worker holds its rows under a lease,
 * measured by the database's clock. When the lease ends, a `claimed` row becomes `pending` again and a `sent` row
 * becomes `unknown`, so a check that may have been billed is never repeated unless the policy allows it.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as LedgerRuns from "./internal/ledgerRuns.ts"
import type { Service } from "./internal/ledgerService.ts"
import * as LedgerWork from "./internal/ledgerWork.ts"
import { migrate } from "./internal/migrations.ts"
import * as PostgresClient from "./internal/postgresClient.ts"
import * as SqliteClient from "./internal/sqliteClient.ts"
import * as Statements from "./internal/statements.ts"
import { type LedgerTooNew, LedgerUnavailable } from "./RescreeningError.ts"

export type {
  Claim,
  Failure,
  NewDecision,
  NewRun,
  Outcome,
  PlannedRow,
  Service,
  Settlement,
  Worker,
  WorkerState
} from "./internal/ledgerService.ts"

/**
 * @category tags
 * @since 0.1.0
 */
export class Ledger extends Context.Tag("@effect-idv/rescreening/Ledger")<Ledger, Service>() {}

/**
 * Makes the ledger in the database of a `SqlClient`, SQLite or PostgreSQL. It creates or upgrades its tables, even if
 * two processes start at the same time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<Service, LedgerTooNew | LedgerUnavailable, SqlClient.SqlClient> = Effect.gen(
  function*() {
    const sql = yield* SqlClient.SqlClient
    const salt = yield* migrate.pipe(sql.withTransaction, Statements.guarded("migrate"))
    return Ledger.of({
      salt: Redacted.make(salt),
      ...yield* LedgerRuns.make,
      ...yield* LedgerWork.make
    })
  }
)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Ledger, LedgerTooNew | LedgerUnavailable, SqlClient.SqlClient> = Layer.effect(
  Ledger,
  make
)

const opened = (client: Layer.Layer<SqlClient.SqlClient, SqlError>) =>
  Layer.provide(
    layer,
    Layer.mapError(client, (error) => new LedgerUnavailable({ operation: "open", code: Statements.codeOf(error) }))
  )

/**
 * The ledger in a file, for one machine. Several processes of this machine may use it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSqlite = (options: {
  /** The path of the file. It is created if it is missing, readable by its owner only. */
  readonly file: string
}): Layer.Layer<Ledger, LedgerTooNew | LedgerUnavailable> => opened(SqliteClient.layer(options.file))

/**
 * The ledger in PostgreSQL 13 or later, for any number of machines.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPg = (options: {
  /** `postgres://user:password@host:port/database`. */
  readonly url: Redacted.Redacted
}): Layer.Layer<Ledger, LedgerTooNew | LedgerUnavailable> => opened(PostgresClient.layer(options.url))
