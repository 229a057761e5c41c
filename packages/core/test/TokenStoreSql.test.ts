import * as TokenStoreSql from "@effect-idv/core/TokenStoreSql"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Duration, Effect, Layer, Option } from "effect"
import { Pool } from "pg"
import * as Postgres from "../../mock-server/test/support/postgres.ts"
import { Server, suite } from "./support/tokenStoreSuite.ts"

const layerServer = Layer.orDie(Layer.effect(Server, Postgres.shared))

/** Connects when it is used, so that a process starts without its database. */
const client = (url: string) =>
  Layer.orDie(PgClient.layerFromPool({
    acquire: Effect.acquireRelease(
      Effect.sync(() => new Pool({ connectionString: url }).on("error", () => {})),
      (pool) => Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption("1 second"))
    )
  }))
const connect = (url: string) => Effect.map(Layer.build(client(url)), Context.get(SqlClient.SqlClient))
/** With a client that is closed with the scope. */
const withClient = <A, E>(url: string, effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(Layer.build(client(url)), (client) => Effect.provide(effect, client))
const makeStore = (url: string) => withClient(url, TokenStoreSql.makeStore)

const storeOver = (sql: SqlClient.SqlClient) => Effect.provideService(TokenStoreSql.makeStore, SqlClient.SqlClient, sql)

suite("TokenStoreSql on PostgreSQL", layerServer, {
  make: (url, options) => withClient(url, TokenStoreSql.make(options)),
  makeStore,
  contents: (url) =>
    Effect.gen(function*() {
      const sql = yield* connect(url)
      const rows = yield* sql`SELECT * FROM idv_tokens`
      return rows.flatMap((row) => Object.values(row).map(String))
    })
})

layer(layerServer, { excludeTestServices: true })("TokenStoreSql.makeStore", (it) => {
  it.scoped("a table of another version is a ConfigError that names it", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Server, ({ createDatabase }) => createDatabase)
      const sql = yield* connect(url)
      yield* sql`CREATE TABLE idv_tokens (name text, canary text)`
      const error = yield* Effect.flip(makeStore(url))
      assert("_op" in error && error._op === "InvalidData", String(error))
      deepStrictEqual(error.path, ["idv_tokens"])
    }))

  it.scoped("a lead ends after its time to live, unless its process renews it", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Server, ({ createDatabase }) => createDatabase)
      const sql = yield* connect(url)
      const store = yield* storeOver(sql)
      for (const minutes of [10, 60]) {
        yield* store.tryLead(`lead-${minutes}`, Duration.minutes(minutes))
        const [row] = yield* sql<{ readonly left: number }>`
          SELECT round(extract(epoch FROM expires_at - clock_timestamp()) / 60)::int AS left
          FROM idv_tokens WHERE name = ${`lead-${minutes}-lead`}`
        strictEqual(row?.left, minutes)
      }
      // As if its process were stopped for that long.
      yield* sql`UPDATE idv_tokens SET expires_at = clock_timestamp() WHERE name = 'lead-10-lead'`
      const other = yield* storeOver(sql)
      const leads = (name: string) => Effect.scoped(other.tryLead(name, Duration.minutes(1)))
      deepStrictEqual([yield* leads("lead-10"), yield* leads("lead-60")], [true, false])
    }))

  it.scoped("does not take part in a transaction of its caller", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Server, ({ createDatabase }) => createDatabase)
      const sql = yield* connect(url)
      const store = yield* storeOver(sql)
      const put = (previous: Option.Option<string>, next: string) =>
        store.compareAndPut({ name: "name", previous, next, ttl: Duration.minutes(1) })
      yield* Effect.zipRight(put(Option.none(), "first"), Effect.fail("rollback")).pipe(
        sql.withTransaction,
        Effect.flip
      )
      deepStrictEqual(yield* store.read("name"), Option.some("first"))
      yield* sql`DROP TABLE idv_tokens`
      yield* sql`CREATE TABLE app (id int)`
      // A statement that fails in a transaction makes PostgreSQL refuse all further ones.
      yield* Effect.flip(store.read("name")).pipe(
        Effect.zipRight(Effect.flip(put(Option.none(), "second"))),
        Effect.zipRight(Effect.flip(store.compareAndDelete("name", "first"))),
        Effect.zipRight(sql`INSERT INTO app VALUES (1)`),
        sql.withTransaction
      )
      strictEqual((yield* sql`SELECT * FROM app`).length, 1)
    }))
})
