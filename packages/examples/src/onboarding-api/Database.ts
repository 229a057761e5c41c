/**
 * The database that `DATABASE_URL` selects: `postgres://…` for PostgreSQL, `file:…` for SQLite, or SQLite
 * in memory if it is not set. Both use the same statements.
 */
import { Migrator, SqlClient, SqlError } from "@effect/sql"
import { LibsqlClient } from "@effect/sql-libsql"
import { PgClient } from "@effect/sql-pg"
import { createClient } from "@libsql/client"
import { Config, ConfigError, Effect, Either, Layer, Option, Redacted, Schedule } from "effect"
import { codeOf } from "./Store.ts"
import { Tenant } from "./Tenants.ts"

type Location =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly url: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted }

const read = (url: Redacted.Redacted): Either.Either<Location, ConfigError.ConfigError> => {
  const text = Redacted.value(url)
  if (/^postgres(ql)?:\/\//.test(text)) return Either.right({ kind: "postgres", url })
  if (/^file:./.test(text)) return Either.right({ kind: "sqlite", url: text })
  // The message does not repeat the URL, which may contain a password.
  return Either.left(ConfigError.InvalidData(["DATABASE_URL"], "should start with postgres:// or file:"))
}

export const location = Config.option(Config.redacted("DATABASE_URL")).pipe(
  Config.mapOrFail(Option.match({
    onNone: (): Either.Either<Location, ConfigError.ConfigError> => Either.right({ kind: "memory" }),
    onSome: read
  }))
)

const migrate = Migrator.make({})({
  loader: Migrator.fromRecord({
    // Times are text in ISO 8601 and UTC, because the two databases share no type for times.
    "0001_sign_ups": Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Inserted before the check, so an applicant without a decision may have been screened.
      yield* sql`CREATE TABLE applicants (
        id TEXT PRIMARY KEY,
        idempotency_key TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        other_names TEXT NOT NULL DEFAULT '[]',
        date_of_birth TEXT NOT NULL,
        started_at TEXT NOT NULL
      )`
      // Rows are inserted once and never updated. The first attempt is the sign-up.
      yield* sql`CREATE TABLE decisions (
        applicant_id TEXT NOT NULL REFERENCES applicants (id) ON DELETE CASCADE,
        attempt INTEGER NOT NULL DEFAULT 1,
        outcome TEXT NOT NULL,
        reason TEXT NOT NULL,
        sent TEXT NOT NULL,
        checks INTEGER NOT NULL,
        decided_at TEXT NOT NULL,
        PRIMARY KEY (applicant_id, attempt)
      )`
      yield* sql`CREATE TABLE evidence (
        check_id TEXT PRIMARY KEY,
        applicant_id TEXT NOT NULL REFERENCES applicants (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        content TEXT NOT NULL
      )`
      // Each action of a reviewer: read, check, clear or refuse.
      yield* sql`CREATE TABLE actions (
        applicant_id TEXT NOT NULL REFERENCES applicants (id) ON DELETE CASCADE,
        attempt INTEGER NOT NULL,
        reviewer TEXT NOT NULL,
        action TEXT NOT NULL,
        reason TEXT,
        acted_at TEXT NOT NULL
      )`
      yield* sql`CREATE INDEX actions_of_applicant ON actions (applicant_id)`
      // Two reviewers who screen again at the same time cause one attempt, because the service bills each.
      yield* sql`CREATE UNIQUE INDEX one_check ON actions (applicant_id, attempt) WHERE action = 'check'`
      yield* sql`CREATE UNIQUE INDEX one_conclusion ON actions (applicant_id, attempt, reviewer)
        WHERE action IN ('clear', 'refuse')`
      yield* sql`CREATE INDEX evidence_of_applicant ON evidence (applicant_id)`
    }),
    "0002_read_evidence": Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // As entered, because the other columns do not show the signs of damage that normalisation removes.
      yield* sql`ALTER TABLE applicants ADD COLUMN form TEXT`
      yield* sql`CREATE INDEX applicants_of_date ON applicants (date_of_birth)`
      // The number of responses that a conclusion is about: a later response reopens the case.
      yield* sql`ALTER TABLE actions ADD COLUMN evidence INTEGER NOT NULL DEFAULT 0`
      yield* sql`DROP INDEX one_conclusion`
      yield* sql`CREATE UNIQUE INDEX one_conclusion ON actions (applicant_id, attempt, evidence, reviewer)
        WHERE action IN ('clear', 'refuse')`
    }),
    "0003_tenant": Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`CREATE TABLE tenant (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL)`
    )
  })
})

/** Two tenants in one database would see each other's applicants. Two addresses of one database may differ. */
const requireOwn = Effect.gen(function*() {
  const [sql, name] = yield* Effect.all([SqlClient.SqlClient, Tenant])
  yield* sql`INSERT INTO tenant (id, name) VALUES (1, ${name}) ON CONFLICT DO NOTHING`
  const rows = yield* sql`SELECT 1 FROM tenant WHERE name = ${name}`
  if (rows.length === 0) {
    return yield* Effect.fail(ConfigError.InvalidData(["DATABASE_URL"], "should be another database for each tenant"))
  }
})

/**
 * Passes a client to `@effect/sql-libsql` 0.42, because the version that it creates itself keeps a
 * connection open after every transaction and loses a database in memory at the first one.
 */
const layerSqlite = (url: string): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.unwrapScoped(
    Effect.gen(function*() {
      const open = Effect.try(() => createClient({ url, concurrency: 1, timeout: 5000 }))
      const liveClient = yield* Effect.acquireRelease(open, (client) => Effect.sync(() => client.close()))
      yield* Effect.tryPromise(() => liveClient.execute("PRAGMA journal_mode = WAL"))
      return LibsqlClient.layer({ liveClient })
    }).pipe(
      Effect.mapError(({ error }) => new SqlError.SqlError({ cause: error, message: "SQLite could not be opened" }))
    )
  )

const layerClient = (
  location: Location
): Layer.Layer<SqlClient.SqlClient, ConfigError.ConfigError | SqlError.SqlError> => {
  switch (location.kind) {
    case "memory":
      return layerSqlite(":memory:")
    case "sqlite":
      return layerSqlite(location.url)
    case "postgres":
      return PgClient.layer({ url: location.url, connectTimeout: "5 seconds", applicationName: "onboarding-api" })
  }
}

const prepare = Effect.zipRight(migrate, requireOwn)

/** Provides the `SqlClient` after the migrations, for one tenant. */
export const layer = Layer.unwrapEffect(
  Effect.map(location, (location) =>
    Layer.provideMerge(
      Layer.effectDiscard(
        location.kind === "postgres"
          // The migrator fails for the second of two instances that start on an empty database at the same time.
          ? Effect.retry(prepare, {
            times: 5,
            schedule: Schedule.spaced("200 millis"),
            until: ConfigError.isConfigError
          })
          : Effect.mapError(prepare, (error) =>
            codeOf(error) === "SQLITE_BUSY"
              ? ConfigError.InvalidData(["DATABASE_URL"], "should be a file that no other tenant or process uses")
              : error)
      ),
      layerClient(location)
    ))
)
