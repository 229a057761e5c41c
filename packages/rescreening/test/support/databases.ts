/** A ledger in a database of its own, of both kinds. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import type { SqlClient } from "@effect/sql"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { join } from "node:path"
import * as Postgres from "../../../../tools/test-services/Postgres.ts"
import { shared } from "../../../mock-server/test/support/postgres.ts"
import * as PostgresClient from "../../src/internal/ledger/postgresClient.ts"
import * as SqliteClient from "../../src/internal/ledger/sqliteClient.ts"
import * as Ledger from "../../src/Ledger.ts"

/** A database as a layer that may be built several times, the directory with its files, and the log of the server. */
interface Fresh {
  readonly client: Layer.Layer<SqlClient.SqlClient>
  readonly url: string
  readonly directory: string
  readonly log: () => string
}

export class Databases extends Context.Tag("test/Databases")<Databases, {
  readonly fresh: Effect.Effect<Fresh, never, Scope.Scope>
}>() {}

const layerSqlite = Layer.effect(
  Databases,
  Effect.map(FileSystem.FileSystem, (files) => ({
    fresh: Effect.map(Effect.orDie(files.makeTempDirectoryScoped({ prefix: "ledger-" })), (directory) => {
      const url = join(directory, "ledger.sqlite")
      return { client: Layer.orDie(SqliteClient.layer({ file: url, creates: true })), url, directory, log: () => "" }
    })
  }))
).pipe(Layer.provide(NodeContext.layer))

const postgres = (
  { createDatabase, data = "", log = () => "" }: {
    readonly createDatabase: Effect.Effect<string>
    readonly data?: string
    readonly log?: () => string
  }
) => ({
  fresh: Effect.map(createDatabase, (url) => ({
    client: Layer.orDie(PostgresClient.layer(Redacted.make(url))),
    url,
    directory: data,
    log
  }))
})

const layerPostgres = Layer.orDie(Layer.effect(Databases, Effect.map(shared, postgres)))

export const kinds = [["SQLite", layerSqlite], ["PostgreSQL", layerPostgres]] as const

/** Databases with files that nothing else writes to. */
export const alone = [
  ["SQLite", layerSqlite],
  ["PostgreSQL", Layer.orDie(Layer.scoped(Databases, Effect.map(Postgres.make, postgres)))]
] as const

/** The client, and the ledger with its tables. */
export const migrated = <A extends SqlClient.SqlClient, E>(client: Layer.Layer<A | SqlClient.SqlClient, E>) =>
  Layer.provideMerge(Layer.effect(Ledger.Ledger, Effect.zipRight(Ledger.migrate, Ledger.make)), client)

/** The ledger and the client of a new database, until the scope closes. */
export const ledger = Effect.gen(function*() {
  const { client } = yield* Effect.flatMap(Databases, ({ fresh }) => fresh)
  return yield* Layer.build(migrated(client))
})
