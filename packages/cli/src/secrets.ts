/** Secrets from variables, or from flags, which everybody can see in the process list. */
import * as Violation from "@effect-idv/core/Violation"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ParsedArguments from "./parsedArguments.ts"
import * as Text from "./textField.ts"
import * as UsageError from "./usageError.ts"

export const Key = Schema.Redacted(
  Text.matching(/^[^\p{Cc}]{1,256}$/u, "1 to 256 characters, without control characters")
)

/** A control token. Only visible ASCII characters are allowed, because it is sent in a header. */
export const Token = Schema.Redacted(Text.matching(/^[\x21-\x7e]{1,256}$/, "1 to 256 visible characters of ASCII"))

/** The value of a variable. An empty one counts as missing. */
export const variable = (name: string) =>
  Effect.map(
    Effect.orElseSucceed(Config.option(Config.nonEmptyString(name)), Option.none),
    (value) => Option.getOrUndefined(value)
  )

/** The value of a flag, or else of a variable. */
export const flagOrVariable = <A, I>(
  args: ParsedArguments.ParsedArguments,
  flag: string,
  name: string,
  schema: Schema.Schema<A, I>
) =>
  Effect.gen(function*() {
    const flagValue = ParsedArguments.value(args, flag)
    const value = flagValue ?? (yield* variable(name))
    return value === undefined ? undefined : yield* Effect.mapError(
      Violation.decodeUnknown(schema)(value),
      UsageError.fromViolations(() => flagValue === undefined ? name : `--${flag}`)
    )
  })

export const controlToken = (args: ParsedArguments.ParsedArguments) =>
  flagOrVariable(args, "control-token", "IDV_MOCK_CONTROL_TOKEN", Token)
