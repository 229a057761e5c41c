/** Databases of both kinds, each test one of its own. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Context, Effect, Layer, type Scope } from "effect"
import { join } from "node:path"
import * as Postgres from "../../../../tools/test-services/Postgres.ts"

/** `fresh`: a `DATABASE_URL`. */
export class Databases extends Context.Tag("test/Databases")<
  Databases,
  { readonly fresh: Effect.Effect<string, never, Scope.Scope> }
>() {}

export const layerSqlite = Layer.effect(
  Databases,
  Effect.map(FileSystem.FileSystem, (files) => ({
    fresh: Effect.map(
      Effect.orDie(files.makeTempDirectoryScoped({ prefix: "onboarding-" })),
      (directory) => `file:${join(directory, "onboarding.sqlite")}`
    )
  }))
).pipe(Layer.provide(NodeContext.layer))

export const layerPostgres = Layer.scoped(
  Databases,
  Effect.map(Postgres.make, ({ createDatabase }) => ({ fresh: createDatabase }))
).pipe(Layer.orDie)
