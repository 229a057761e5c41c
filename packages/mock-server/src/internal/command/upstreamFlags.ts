/** The flags of `record` and `diff` that select the upstream. */
import * as FlagValues from "@effect-idv/cli/flagValues"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import { UsageError } from "@effect-idv/cli/usageError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Upstream } from "../record/upstream.ts"
import { PositiveWaitText } from "../schema/durationText.ts"
import { numberOrText, optional, withDefault } from "../schema/fields.ts"

const Flags = Schema.Struct({
  upstreamAuth: optional(FlagValues.Address),
  upstreamBase: optional(FlagValues.Address),
  deadline: withDefault(PositiveWaitText, Duration.seconds(10))
})

const fail = (text: string) => new UsageError({ text })

/** Reads the upstream. If only one of the two addresses is set, it is used for both. */
export const read = (args: ParsedArguments.ParsedArguments): Effect.Effect<Upstream, UsageError> =>
  Effect.gen(function*() {
    const { deadline, upstreamAuth, upstreamBase } = yield* ParsedArguments.read(args, Flags, numberOrText)
    const auth = upstreamAuth ?? upstreamBase
    const base = upstreamBase ?? upstreamAuth
    if (auth === undefined || base === undefined) {
      return yield* fail(
        "--upstream-auth is missing: expected the address of the token endpoint without /oauth/service"
      )
    }
    for (const [flag, url] of [["upstream-auth", auth], ["upstream-base", base]] as const) {
      if (FlagValues.isUnencrypted(url) && !ParsedArguments.isOn(args, "allow-insecure")) {
        return yield* fail(
          `--${flag} is invalid: expected an https: address, or --allow-insecure: http: is for loopback`
        )
      }
    }
    return { auth, base, deadline }
  })
