import * as SqlClient from "@effect/sql/SqlClient"
import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as SqliteClient from "../src/internal/sqliteClient.ts"

it.live("keeps the statements of other fibers when transactions fail", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE names (name TEXT)`
    const opened = yield* Deferred.make<void>()
    const failed = sql.withTransaction(
      sql`INSERT INTO names VALUES ('inside')`.pipe(
        Effect.zipRight(Deferred.succeed(opened, undefined)),
        Effect.zipRight(Effect.sleep("5 millis")),
        Effect.zipRight(Effect.fail("rollback"))
      )
    )
    const other = Effect.zipRight(Deferred.await(opened), sql`INSERT INTO names VALUES ('outside')`)
    const pairs = Array.from({ length: 20 }, () => [other, Effect.exit(failed)]).flat()
    yield* Effect.all([Effect.exit(failed), ...pairs], { concurrency: "unbounded" })
    assert.strictEqual((yield* sql`SELECT name FROM names WHERE name = 'outside'`).length, 20)
  }).pipe(Effect.provide(SqliteClient.layer(join(mkdtempSync(join(tmpdir(), "idv-")), "ledger.sqlite")))))
