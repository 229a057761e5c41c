/** Accepts the bearer tokens in `REVIEWERS`, and provides the name of the reviewer. Rejects every request if the variable is not set. */
import { HttpApiError } from "@effect/platform"
import { Array as Arr, Config, ConfigError, Effect, Either, Layer, Option, Redacted } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { ReviewerAuthentication } from "./Api.ts"

const digest = (token: string) => createHash("sha256").update(token).digest()

const expectation =
  "should be names with a token each, such as alice:…,bob:…. A token has at least 16 characters, and " +
  "no two reviewers have the same name, in upper or lower case, or the same token"

const hasDuplicates = (texts: ReadonlyArray<string>) => new Set(texts).size < texts.length

const reviewers = Config.withDefault(Config.redacted("REVIEWERS"), Redacted.make("")).pipe(
  Config.mapOrFail((text) => {
    const entries = Redacted.value(text).split(",").filter((entry) => entry.trim() !== "")
    const pairs = entries.map((entry) => /^\s*([\w.@-]{1,60}):(\S{16,})\s*$/.exec(entry)?.slice(1) ?? [])
    const [names, tokens] = [pairs.map(([name = ""]) => name), pairs.map(([, token = ""]) => token)]
    return tokens.includes("") || hasDuplicates(names.map((name) => name.toLowerCase())) || hasDuplicates(tokens)
      ? Either.left(ConfigError.InvalidData(["REVIEWERS"], expectation))
      : Either.right(Arr.zip(names, tokens.map(digest)))
  })
)

export const layer = Layer.effect(
  ReviewerAuthentication,
  Effect.map(reviewers, (reviewers) => ({
    reviewer: (received) => {
      const expected = digest(Redacted.value(received))
      return Option.match(Arr.findFirst(reviewers, ([, digest]) => timingSafeEqual(digest, expected)), {
        onNone: () => new HttpApiError.Unauthorized(),
        onSome: ([name]) => Effect.succeed(name)
      })
    }
  }))
)
