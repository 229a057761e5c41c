/** Accepts the bearer token in `REVIEWER_TOKEN`. Rejects every request if the variable is not set. */
import { HttpApiError } from "@effect/platform"
import { Config, ConfigError, Effect, Either, Layer, Option, Redacted } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { ReviewerAuthentication } from "./Api.ts"

const token = Config.option(Config.redacted("REVIEWER_TOKEN")).pipe(
  Config.mapOrFail((token) =>
    Option.exists(token, (token) => Redacted.value(token).length < 16)
      ? Either.left(ConfigError.InvalidData(["REVIEWER_TOKEN"], "should have at least 16 characters"))
      : Either.right(token)
  )
)

const digest = (token: Redacted.Redacted) => createHash("sha256").update(Redacted.value(token)).digest()

export const layer = Layer.effect(
  ReviewerAuthentication,
  Effect.map(token, (expected) => ({
    reviewer: (received) =>
      Option.exists(expected, (expected) => timingSafeEqual(digest(received), digest(expected)))
        ? Effect.void
        : new HttpApiError.Unauthorized()
  }))
)
