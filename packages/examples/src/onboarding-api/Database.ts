/**
 * Where things are stored, by `DATABASE_URL`: `postgres://…`, `file:…` for SQLite, or nothing for
 * SQLite in memory. The statements are the same for both.
 */
import { Migrator, SqlClient, type SqlError } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { Config, ConfigError, Effect, Either, Layer, Option, Redacted } from "effect"

type Place =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly filename: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted }

const read = (url: Redacted.Redacted): Either.Either<Place, ConfigError.ConfigError> => {
  const text = Redacted.value(url)
  if (/^postgres(ql)?:\/\//.test(text)) return Either.right({ kind: "postgres", url })
  if (/^file:./.test(text)) return Either.right({ kind: "sqlite", filename: text.slice("file:".length) })
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

const layerClient = (place: Place): Layer.Layer<SqlClient.SqlClient, ConfigError.ConfigError | SqlError.SqlError> => {
  switch (place.kind) {
    case "memory":
      return SqliteClient.layer({ filename: ":memory:" })
    case "sqlite":
      return SqliteClient.layer({ filename: place.filename })
    case "postgres":
      return PgClient.layer({ url: place.url, connectTimeout: "5 seconds", applicationName: "onboarding-api" })
  }
}

/** Gives the `SqlClient`, once the tables are there. */
export const layer = Layer.unwrapEffect(
  Effect.map(place, (place) => Layer.provideMerge(Layer.effectDiscard(migrations), layerClient(place)))
)
