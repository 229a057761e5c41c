/** The client, which shares its access token with the other instances on the same PostgreSQL, if `TOKEN_KEY` is set. */
import { Idv } from "@effect-idv/core"
import * as TokenStoreSql from "@effect-idv/core/TokenStoreSql"
import { Config, ConfigError, Effect, Layer, Option } from "effect"
import * as Database from "./Database.ts"

const key = Config.redacted("TOKEN_KEY")

const layerShared = Idv.layerEnv({
  sharing: TokenStoreSql.makeConfig({
    encryptionKey: { id: Config.withDefault(Config.string("TOKEN_KEY_ID"), "1"), key }
  })
}).pipe(Layer.provide(Database.layer))

const requirement = ConfigError.InvalidData(["TOKEN_KEY"], "requires a DATABASE_URL that starts with postgres://")

export const layerIdv = Effect.all({ key: Config.option(key), location: Database.location }).pipe(
  Effect.flatMap(({ key, location }): Effect.Effect<typeof layerShared, ConfigError.ConfigError> => {
    if (Option.isNone(key)) return Effect.succeed(Idv.layerEnv())
    return location.kind === "postgres" ? Effect.succeed(layerShared) : Effect.fail(requirement)
  }),
  Layer.unwrapEffect
)
