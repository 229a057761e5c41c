/**
 * The ledger: a row for each person of each run, in SQLite or PostgreSQL. It is the only record of the checks sent.
 *
 * A row goes `pending → claimed → sent → outcome`. Each transition is one statement, which also checks the previous
 * state of the row. The ledger stores `sent` before the request is sent. Each claim of rows has a lease, measured by the
 * database's clock. When the lease ends, a `claimed` row becomes `pending` again and a `sent` row becomes `unknown`, so
 * a check that may have been billed is never repeated unless the policy allows it.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Controls from "./internal/ledger/controls.ts"
import * as History from "./internal/ledger/history.ts"
import * as PostgresClient from "./internal/ledger/postgresClient.ts"
import * as Rows from "./internal/ledger/rows.ts"
import * as Runs from "./internal/ledger/runs.ts"
import type { Service } from "./internal/ledger/service.ts"
import * as Services from "./internal/ledger/services.ts"
import * as SqliteClient from "./internal/ledger/sqliteClient.ts"
import * as Statements from "./internal/ledger/statements.ts"
import * as Tables from "./internal/ledger/tables.ts"
import * as WorkerState from "./internal/ledger/workerState.ts"
import { LedgerUnavailable, LedgerUnusable } from "./RescreeningError.ts"

export type {
  Claim,
  Control,
  Failure,
  NewEntry,
  NewRun,
  OfPerson,
  Outcome,
  PlannedRow,
  Release,
  Service,
  Settlement,
  WorkerState
} from "./internal/ledger/service.ts"

/**
 * @category tags
 * @since 0.1.0
 */
export class Ledger extends Context.Tag("@effect-idv/rescreening/Ledger")<Ledger, Service>() {}

/**
 * Makes the ledger in the database of a `SqlClient`, SQLite or PostgreSQL. Fails with `LedgerUnusable` if the tables are
 * missing: {@link migrate} creates them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<Service, LedgerUnusable | LedgerUnavailable, SqlClient.SqlClient> = Effect.gen(
  function*() {
    const salt = yield* Statements.guarded("open")(Tables.check)
    return Ledger.of({
      salt: Redacted.make(salt),
      ...yield* Runs.make,
      ...yield* Rows.make,
      ...yield* WorkerState.make,
      ...yield* Controls.make,
      ...yield* Services.make,
      ...yield* History.make
    })
  }
)

/**
 * Creates or upgrades the tables of the ledger in the database of a `SqlClient`, even if two processes do so at the same
 * time. Only this needs the right to create tables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const migrate: Effect.Effect<void, LedgerUnusable | LedgerUnavailable, SqlClient.SqlClient> = Statements.guarded(
  "migrate"
)(Tables.migrate)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Ledger, LedgerUnusable | LedgerUnavailable, SqlClient.SqlClient> = Layer.effect(
  Ledger,
  make
)

const opened = <A>(client: Layer.Layer<A, SqlError>) =>
  Layer.mapError(client, (error) => new LedgerUnavailable({ operation: "open", code: Statements.codeOf(error) }))

/**
 * The ledger in a file, for one machine. Several processes of this machine may use it. After the last one has ended, the
 * file alone is a copy of the ledger.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSqlite = (options: {
  /** The path of the file, which is readable by its owner only. */
  readonly file: string
  /**
   * Whether a missing file, or missing tables, are created. Otherwise they are an error.
   *
   * @default true
   */
  readonly creates?: boolean | undefined
}): Layer.Layer<Ledger, LedgerUnusable | LedgerUnavailable> => {
  const { creates = true, file } = options
  const ledger = creates ? Layer.effect(Ledger, Effect.zipRight(migrate, make)) : layer
  return Layer.provide(ledger, opened(SqliteClient.layer({ file, creates }))).pipe(
    Layer.mapError((error) =>
      error._tag === "LedgerUnavailable" && error.code === "ENOENT"
        ? new LedgerUnusable({ reason: "no_file", place: file })
        : error._tag === "LedgerUnusable" && error.reason === "no_tables"
        ? new LedgerUnusable({ reason: "no_tables", place: `file ${file}` })
        : error
    )
  )
}

/**
 * The ledger in PostgreSQL 13 or later, for any number of machines. {@link migratePg} creates its tables.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPg = (options: {
  /** `postgres://user:password@host:port/database`. */
  readonly url: Redacted.Redacted
}): Layer.Layer<Ledger, LedgerUnusable | LedgerUnavailable> =>
  Layer.provide(layer, opened(PostgresClient.layer(options.url)))

/**
 * {@link migrate} for PostgreSQL. The role of `url` owns the tables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const migratePg = (options: {
  /** `postgres://user:password@host:port/database`. */
  readonly url: Redacted.Redacted
}): Effect.Effect<void, LedgerUnusable | LedgerUnavailable> =>
  Effect.provide(migrate, opened(PostgresClient.layer(options.url)))
