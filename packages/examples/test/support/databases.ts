/** Creates a separate SQLite or PostgreSQL database for each test. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Context, Effect, Layer, type Scope } from "effect"
import { join } from "node:path"
import * as Postgres from "../../../mock-server/test/support/postgres.ts"

export class Databases extends Context.Tag("test/Databases")<Databases, {
  /** Creates a database, and returns its `DATABASE_URL`. */
  readonly create: Effect.Effect<string, never, Scope.Scope>
}>() {}

export const layerSqlite = Layer.effect(
  Databases,
  Effect.map(FileSystem.FileSystem, (files) => ({
    create: Effect.map(
      Effect.orDie(files.makeTempDirectoryScoped({ prefix: "onboarding-" })),
      (directory) => `file:${join(directory, "onboarding.sqlite")}`
    )
  }))
).pipe(Layer.provide(NodeContext.layer))

export const layerPostgres = Layer.effect(
  Databases,
  Effect.map(Postgres.shared, ({ createDatabase }) => ({ create: createDatabase }))
).pipe(Layer.orDie)
