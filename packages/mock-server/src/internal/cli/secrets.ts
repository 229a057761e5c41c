/** What must not be in the list of processes: rather from a variable than from a flag. */
import * as Violation from "@effect-idv/core/Violation"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Given from "./parsedArguments.ts"
import * as Text from "./textField.ts"
import * as Refusal from "./usageError.ts"

export const Key = Schema.Redacted(
  Text.matching(/^[^\p{Cc}]{1,256}$/u, "1 to 256 characters, none of them a control")
)

/** It stands in a header. */
export const Token = Schema.Redacted(Text.matching(/^[\x21-\x7e]{1,256}$/, "1 to 256 visible characters of ASCII"))

/** A variable. Nothing in it is as if it were not there. */
export const variable = (name: string) =>
  Effect.map(
    Effect.orElseSucceed(Config.option(Config.nonEmptyString(name)), Option.none),
    (value) => Option.getOrUndefined(value)
  )

/** What a flag says, or else a variable. */
export const either = <A, I>(given: Given.Given, flag: string, name: string, schema: Schema.Schema<A, I>) =>
  Effect.gen(function*() {
    const ofFlag = Given.value(given, flag)
    const value = ofFlag ?? (yield* variable(name))
    return value === undefined ? undefined : yield* Effect.mapError(
      Violation.decodeUnknown(schema)(value),
      Refusal.of(() => ofFlag === undefined ? name : `--${flag}`)
    )
  })

export const controlToken = (given: Given.Given) => either(given, "control-token", "IDV_MOCK_CONTROL_TOKEN", Token)
