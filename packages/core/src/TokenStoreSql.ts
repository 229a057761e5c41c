/**
 * Stores the shared token in a table of PostgreSQL, over `@effect/sql`. The process that leads has a row, which it
 * renews. If the process is stopped or dies, the row expires after 2 seconds, and another process leads.
 *
 * It takes no part in a transaction of the caller, and keeps no connection. It works through a connection pooler, even in
 * transaction mode.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type * as SqlError from "@effect/sql/SqlError"
import type * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Lead from "./internal/tokenStore/lead.ts"
import * as TokenSharing from "./TokenSharing.ts"
import type { TokenStore } from "./TokenStore.ts"

/**
 * The table of this version of the module. The layer creates it if the database role has the right to. Otherwise create
 * it beforehand.
 *
 * @category schemas
 * @since 0.1.0
 */
export const createTable = `CREATE TABLE IF NOT EXISTS idv_tokens (
  name text PRIMARY KEY,
  value text NOT NULL,
  expires_at timestamptz NOT NULL
)`

const Rows = Schema.Array(Schema.Struct({ value: Schema.String }))

const isChanged = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0

/** The error code of PostgreSQL, if the error or its cause has one. */
const codeOf = (error: unknown): string | undefined => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : error
  return Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined
}

/**
 * The error codes of PostgreSQL if the table is missing or not the one that this module creates: undefined table,
 * undefined column, wrong data type, wrong object type, and undefined function.
 */
const otherSchema = ["42P01", "42703", "42804", "42809", "42883"]

/**
 * Runs statements of the store outside of a transaction of the caller, which may even be one of another database.
 * Within it, a failed statement would abort the transaction, and a rollback would remove the stored token.
 */
const outsideTransaction = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.mapInputContext(
    effect,
    (context: Context.Context<never>) => Context.omit(SqlClient.TransactionConnection)(context)
  )

/** A database that is down does not prevent the start. A table of another version does. */
const checkTable = (sql: SqlClient.SqlClient): Effect.Effect<void, ConfigError.ConfigError | SqlError.SqlError> =>
  sql.unsafe(createTable).pipe(
    // The role may have the right to use the table without the right to create it.
    Effect.ignore,
    Effect.zipRight(sql`SELECT name, value, expires_at FROM idv_tokens WHERE false`),
    Effect.mapError((error) =>
      otherSchema.includes(codeOf(error) ?? "")
        ? ConfigError.InvalidData(
          ["idv_tokens"],
          "should be the table of TokenStoreSql.createTable: create it, or drop the one of another version"
        )
        : error
    ),
    Effect.asVoid
  )

const warnUnavailable = (code: string | undefined) =>
  Effect.logWarning("The database of the token store is not available yet", { code })

/**
 * Makes the store. It requires the `SqlClient` of PostgreSQL, such as `PgClient.layer`, and creates the table if it
 * does not exist. It does not fail if the database is down. It fails with `ConfigError` if the table is missing and cannot
 * be created, or is not the one of this version.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeStore: Effect.Effect<TokenStore, ConfigError.ConfigError, SqlClient.SqlClient> = Effect.gen(
  function*() {
    const sql = yield* SqlClient.SqlClient

    const read: TokenStore["read"] = (name) =>
      sql`SELECT value FROM idv_tokens WHERE name = ${name}`.pipe(
        Effect.flatMap(Schema.decodeUnknown(Rows)),
        Effect.map(([row]) => Option.map(Option.fromNullable(row), ({ value }) => value)),
        outsideTransaction
      )

    const compareAndPut: TokenStore["compareAndPut"] = ({ name, next, previous, ttl }) => {
      const seconds = Duration.toSeconds(ttl)
      const changed = Option.match(previous, {
        onNone: () =>
          sql`INSERT INTO idv_tokens (name, value, expires_at)
          VALUES (${name}, ${next}, now() + ${seconds}::float8 * interval '1 second')
          ON CONFLICT (name) DO NOTHING RETURNING value`,
        onSome: (previous) =>
          sql`UPDATE idv_tokens SET value = ${next}, expires_at = now() + ${seconds}::float8 * interval '1 second'
          WHERE name = ${name} AND value = ${previous} RETURNING value`
      })
      return outsideTransaction(Effect.map(changed, isChanged))
    }

    const compareAndDelete: TokenStore["compareAndDelete"] = (name, value) =>
      sql`DELETE FROM idv_tokens WHERE name = ${name} AND value = ${value} RETURNING value`.pipe(
        Effect.map(isChanged),
        outsideTransaction
      )

    /** A lead is a row. It ends after `ttl`, by the clock of the database, unless its process renews it. */
    const tryLead: TokenStore["tryLead"] = (name, ttl) =>
      Lead.hold(ttl, (owner) => {
        const lead = `${name}-lead`
        const expiresAt = sql`clock_timestamp() + ${Duration.toSeconds(ttl)}::float8 * interval '1 second'`
        const run = (statement: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
          outsideTransaction(Effect.map(statement, isChanged))
        return {
          begin: run(
            sql`INSERT INTO idv_tokens (name, value, expires_at) VALUES (${lead}, ${owner}, ${expiresAt})
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
            WHERE idv_tokens.expires_at <= clock_timestamp() RETURNING name`
          ),
          renew: run(
            sql`UPDATE idv_tokens SET expires_at = ${expiresAt}
            WHERE name = ${lead} AND value = ${owner} RETURNING name`
          ),
          end: compareAndDelete(lead, owner)
        }
      })

    const store = { read, compareAndPut, compareAndDelete, tryLead } satisfies TokenStore

    yield* Lead.warmUp(
      outsideTransaction(checkTable(sql)),
      store,
      (error) => ConfigError.isConfigError(error) ? Effect.fail(error) : warnUnavailable(codeOf(error))
    )

    return store
  }
)

/**
 * Shares tokens in the table: the option `sharing` of the client. Provide the `SqlClient` to the layer of the client, and
 * not to this effect, after which a provided database would be closed.
 *
 * @example
 * import { Idv } from "@effect-idv/core"
 * import * as TokenStoreSql from "@effect-idv/core/TokenStoreSql"
 * import { PgClient } from "@effect/sql-pg"
 * import { Config, Layer } from "effect"
 *
 * Idv.layerEnv({
 *   sharing: TokenStoreSql.makeConfig({
 *     encryptionKey: { id: Config.string("TOKEN_KEY_ID"), key: Config.redacted("TOKEN_KEY") }
 *   })
 * }).pipe(Layer.provide(PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") })))
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: TokenSharing.Options
): Effect.Effect<TokenSharing.Sharing, ConfigError.ConfigError, SqlClient.SqlClient> =>
  Effect.flatMap(makeStore, (store) => TokenSharing.make(store, options))

/**
 * {@link make} with options from `Config`. `ConfigError` names every missing or invalid option, and contains no value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeConfig = (
  config: Config.Config.Wrap<TokenSharing.Options>
): Effect.Effect<TokenSharing.Sharing, ConfigError.ConfigError, SqlClient.SqlClient> =>
  Effect.flatMap(makeStore, (store) => TokenSharing.makeConfig(store, config))
