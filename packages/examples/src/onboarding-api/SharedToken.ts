/** Shares the access token of the service with the other instances on the same PostgreSQL, if `TOKEN_KEY` is set. */
import * as TokenStoreSql from "@effect-idv/core/TokenStoreSql"
import { Config, ConfigError, Effect, Layer, Option } from "effect"
import * as Database from "./Database.ts"

const key = Config.redacted("TOKEN_KEY")

const layerSharing = TokenStoreSql.layerConfig({
  encryptionKey: { id: Config.withDefault(Config.string("TOKEN_KEY_ID"), "1"), key }
}).pipe(Layer.provide(Database.layer))

const requirement = ConfigError.InvalidData(["TOKEN_KEY"], "requires a DATABASE_URL that starts with postgres://")

export const layer = Effect.all({ key: Config.option(key), location: Database.location }).pipe(
  Effect.flatMap(
    ({ key, location }): Effect.Effect<typeof layerSharing | typeof Layer.empty, ConfigError.ConfigError> => {
      if (Option.isNone(key)) return Effect.succeed(Layer.empty)
      return location.kind === "postgres" ? Effect.succeed(layerSharing) : Effect.fail(requirement)
    }
  ),
  Layer.unwrapEffect
)
