/** The SQLite client of the ledger. */
import * as LibsqlClient from "@effect/sql-libsql/LibsqlClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { createClient } from "@libsql/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { closeSync, openSync } from "node:fs"
import { pathToFileURL } from "node:url"

const failed = (cause: unknown) => new SqlError({ cause, message: "SQLite does not open" })

/**
 * Passes a client to `@effect/sql-libsql` 0.42, because the version that it creates itself keeps a connection open
 * after every transaction. SQLite itself waits 5 s for another process, except when it changes the journal mode.
 */
export const layer = (file: string): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const open = Effect.try({
      try: () => {
        // Only the owner may read the keys and results of people.
        closeSync(openSync(file, "a", 0o600))
        return createClient({ url: pathToFileURL(file).href, concurrency: 1, timeout: 5000 })
      },
      catch: failed
    })
    const liveClient = yield* Effect.acquireRelease(open, (client) => Effect.sync(() => client.close()))
    yield* Effect.tryPromise({ try: () => liveClient.execute("PRAGMA journal_mode = WAL"), catch: failed }).pipe(
      Effect.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(100)))
    )
    return LibsqlClient.layer({ liveClient })
  }))
