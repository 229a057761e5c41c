import * as TokenStoreSql from "@effect-idv/core/TokenStoreSql"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer } from "effect"
import { Pool } from "pg"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import { Server, suite } from "./support/tokenStoreSuite.ts"

const layerServer = Layer.orDie(Layer.scoped(Server, Postgres.make))

/** Connects when it is used, so that a process starts without its database. */
const client = (url: string) =>
  Layer.orDie(PgClient.layerFromPool({
    acquire: Effect.acquireRelease(
      Effect.sync(() => new Pool({ connectionString: url }).on("error", () => {})),
      (pool) => Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption("1 second"))
    )
  }))
const layerStore = (url: string) => Layer.provide(TokenStoreSql.layerStore, client(url))
const connect = (url: string) => Effect.map(Layer.build(client(url)), Context.get(SqlClient.SqlClient))

suite("TokenStoreSql on PostgreSQL", layerServer, {
  layer: (url, options) => Layer.provide(TokenStoreSql.layer(options), client(url)),
  layerStore,
  contents: (url) =>
    Effect.gen(function*() {
      const sql = yield* connect(url)
      const rows = yield* sql`SELECT * FROM idv_tokens`
      return rows.flatMap((row) => Object.values(row).map(String))
    })
})

layer(layerServer, { timeout: "60 seconds", excludeTestServices: true })("TokenStoreSql.layerStore", (it) => {
  it.scoped("a table of another version is a ConfigError that names it", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Server, ({ createDatabase }) => createDatabase)
      const sql = yield* connect(url)
      yield* sql`CREATE TABLE idv_tokens (name text, canary text)`
      const error = yield* Effect.flip(Layer.build(layerStore(url)))
      assert("_op" in error && error._op === "InvalidData", String(error))
      deepStrictEqual(error.path, ["idv_tokens"])
    }))
})
