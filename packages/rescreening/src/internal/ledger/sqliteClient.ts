/**
 * The SQLite client of the ledger, on the synchronous driver `libsql`. `@effect/sql-libsql` 0.42 prepares every
 * statement again, which takes longer than the statement.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import Database from "libsql"
import { closeSync, openSync } from "node:fs"

/** How long a statement waits for another process, in milliseconds. The whole process waits. */
const defaultTimeout = 5000

/** The statements that stay prepared. The ledger has fewer, but some depend on a number of values. */
const mostPrepared = 100

/**
 * A statement that begins with this comment is on the disk when it ends, so that it survives a power failure. The
 * others survive the end of the process.
 */
export const durable = "/* durable */"

const attempt = <A>(evaluate: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({ try: evaluate, catch: (cause) => new SqlError({ cause, message: "SQLite fails" }) })

const makeConnection = (database: Database.Database): Connection => {
  const prepared = new Map<string, Database.Statement>()

  const statementOf = (text: string) => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const statement = database.prepare(text)
    if (prepared.size < mostPrepared) prepared.set(text, statement)
    return statement
  }

  /**
   * Executes a statement. If it fails because another process writes, libsql (as of 0.5.29) does not reset it, and until
   * it is reset, SQLite commits nothing on this connection: https://github.com/tursodatabase/libsql-client-ts/issues/352
   * Executing it once more resets it. `query_only` makes this second execution fail instead of writing. Only the PRAGMA
   * may run in between.
   */
  const all = (statement: Database.Statement, values: ReadonlyArray<unknown>) => {
    const execute = () => Either.try(() => statement.all(...values))
    const result = execute()
    if (Either.isLeft(result)) {
      database.exec("PRAGMA query_only = TRUE")
      execute()
      database.exec("PRAGMA query_only = FALSE")
    }
    return Either.getOrThrowWith(result, (error) => error)
  }

  let isDurable = false

  const rows = (text: string, values: ReadonlyArray<unknown>) => {
    const statement = statementOf(text)
    const shouldBeDurable = text.startsWith(durable)
    if (shouldBeDurable !== isDurable) {
      database.exec(`PRAGMA synchronous = ${shouldBeDurable ? "FULL" : "NORMAL"}`)
      isDurable = shouldBeDurable
    }
    return all(statement, values)
  }

  const execute = (text: string, values: ReadonlyArray<unknown>) => attempt(() => rows(text, values))

  return {
    execute,
    executeRaw: execute,
    executeUnprepared: execute,
    executeStream: (text, values) => Stream.fromIterableEffect(execute(text, values)),
    executeValues: (text, values) => attempt(() => all(database.prepare(text).raw(), values) as Array<Array<unknown>>)
  }
}

/** The connection, each of whose statements waits until no transaction is open. */
const exclusive = (connection: Connection, one: Effect.Semaphore): Connection => {
  const permit = one.withPermits(1)
  return {
    execute: (...args) => permit(connection.execute(...args)),
    executeRaw: (...args) => permit(connection.executeRaw(...args)),
    executeUnprepared: (...args) => permit(connection.executeUnprepared(...args)),
    executeStream: (...args) =>
      Stream.unwrapScoped(
        Effect.as(Effect.acquireRelease(one.take(1), () => one.release(1)), connection.executeStream(...args))
      ),
    executeValues: (...args) => permit(connection.executeValues(...args))
  }
}

export interface Options {
  readonly file: string
  /** Whether a missing file is created. */
  readonly creates: boolean
  readonly timeout?: number
}

/** Opens the file, creating it readable by its owner only, because it holds the keys and results of people. */
const open = ({ creates, file, timeout = defaultTimeout }: Options) =>
  attempt(() => {
    closeSync(openSync(file, creates ? "a" : "r+", 0o600))
    return new Database(file, { timeout })
  })

/**
 * Writes the log into the file and empties it, so that the file alone is a copy of the ledger, and deleted values are
 * nowhere. If another process uses the file, this does nothing; that process does it when it closes.
 */
export const checkpoint = (sql: SqlClient.SqlClient) =>
  sql`PRAGMA busy_timeout = 0`.pipe(
    Effect.zipRight(Effect.ignore(sql`PRAGMA wal_checkpoint(TRUNCATE)`)),
    Effect.zipRight(sql.unsafe(`PRAGMA busy_timeout = ${defaultTimeout}`))
  )

const close = (database: Database.Database) =>
  Effect.sync(() => {
    Either.try(() => database.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)"))
    database.close()
  })

export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.scoped(
    SqlClient.SqlClient,
    Effect.gen(function*() {
      const database = yield* Effect.acquireRelease(open(options), close)
      const settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON"
      yield* attempt(() => database.exec(settings)).pipe(
        // SQLite does not wait for another process when it changes the journal mode.
        Effect.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(100)))
      )
      const connection = makeConnection(database)
      // No other fiber may execute a statement during a transaction.
      const one = yield* Effect.makeSemaphore(1)
      return yield* SqlClient.make({
        acquirer: Effect.succeed(exclusive(connection, one)),
        transactionAcquirer: Effect.uninterruptibleMask((restore) =>
          restore(one.take(1)).pipe(
            Effect.zipRight(Effect.addFinalizer(() => one.release(1))),
            Effect.as(connection)
          )
        ),
        compiler: Statement.makeCompilerSqlite(),
        beginTransaction: "BEGIN IMMEDIATE",
        spanAttributes: []
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
