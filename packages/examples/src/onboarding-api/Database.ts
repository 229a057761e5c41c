/**
 * Where things are stored, by `DATABASE_URL`: `postgres://…`, `file:…` for SQLite, or nothing for
 * SQLite in memory. The statements are the same for both.
 */
import { Migrator, SqlClient, SqlError } from "@effect/sql"
import { LibsqlClient } from "@effect/sql-libsql"
import { PgClient } from "@effect/sql-pg"
import { createClient } from "@libsql/client"
import { Config, ConfigError, Effect, Either, Layer, Option, Redacted } from "effect"

type Place =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly url: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted }

const read = (url: Redacted.Redacted): Either.Either<Place, ConfigError.ConfigError> => {
  const text = Redacted.value(url)
  if (/^postgres(ql)?:\/\//.test(text)) return Either.right({ kind: "postgres", url })
  if (/^file:./.test(text)) return Either.right({ kind: "sqlite", url: text })
  // A password may be in it.
  return Either.left(ConfigError.InvalidData(["DATABASE_URL"], "should start with postgres:// or file:"))
}

export const place = Config.option(Config.redacted("DATABASE_URL")).pipe(
  Config.mapOrFail(Option.match({
    onNone: (): Either.Either<Place, ConfigError.ConfigError> => Either.right({ kind: "memory" }),
    onSome: read
  }))
)

const migrations = Migrator.make({})({
  loader: Migrator.fromRecord({
    // Times are ISO 8601 in UTC, as text: the two have no other type in common.
    "0001_sign_ups": Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Stored before the check: whoever is here without a decision may have been screened.
      yield* sql`CREATE TABLE applicants (
        id TEXT PRIMARY KEY,
        idempotency_key TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        date_of_birth TEXT NOT NULL,
        started_at TEXT NOT NULL
      )`
      // Written once and never changed.
      yield* sql`CREATE TABLE decisions (
        applicant_id TEXT PRIMARY KEY REFERENCES applicants (id) ON DELETE CASCADE,
        outcome TEXT NOT NULL,
        reason TEXT NOT NULL,
        sent TEXT NOT NULL,
        decided_at TEXT NOT NULL
      )`
      yield* sql`CREATE TABLE evidence (
        check_id TEXT PRIMARY KEY,
        applicant_id TEXT NOT NULL REFERENCES applicants (id) ON DELETE CASCADE,
        content TEXT NOT NULL
      )`
      yield* sql`CREATE INDEX evidence_of_applicant ON evidence (applicant_id)`
    })
  })
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
    }).pipe(Effect.mapError(({ error }) => new SqlError.SqlError({ cause: error, message: "SQLite does not open" })))
  )

const layerClient = (place: Place): Layer.Layer<SqlClient.SqlClient, ConfigError.ConfigError | SqlError.SqlError> => {
  switch (place.kind) {
    case "memory":
      return layerSqlite(":memory:")
    case "sqlite":
      return layerSqlite(place.url)
    case "postgres":
      return PgClient.layer({ url: place.url, connectTimeout: "5 seconds", applicationName: "onboarding-api" })
  }
}

/** Gives the `SqlClient`, once the tables are there. */
export const layer = Layer.unwrapEffect(
  Effect.map(place, (place) => Layer.provideMerge(Layer.effectDiscard(migrations), layerClient(place)))
)
