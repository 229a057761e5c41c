/** Checks the options of the `AmlClient`. */
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Schema from "effect/Schema"
import * as CheckPolicy from "../../CheckPolicy.ts"
import * as IdvApi from "../../IdvApi.ts"
import * as Violation from "../../Violation.ts"
import * as Address from "../schema/address.ts"
import * as ConfigErrors from "../schema/configErrors.ts"

/** Options before the check: from JavaScript, or partly loaded from `Config`. */
interface UncheckedOptions extends CheckPolicy.Options {
  readonly baseUrl?: string | undefined
  readonly allowInsecure?: boolean | undefined
  readonly concurrency?: number | undefined
}

const decodeConcurrency = Violation.decodeUnknown(Schema.Struct({
  concurrency: Schema.optionalWith(
    Schema.Int.pipe(Schema.positive(), Schema.annotations({ description: "an integer over 0" })),
    { default: constant(128) }
  )
}))

/** Returns the checked options, or one error with every invalid option. */
export const check = (options: UncheckedOptions) =>
  ConfigErrors.all({
    url: Address.make("baseUrl", options.baseUrl, IdvApi.aml.path, options),
    policy: CheckPolicy.make(options),
    concurrency: Either.mapBoth(decodeConcurrency({ concurrency: options.concurrency }), {
      onLeft: ConfigErrors.fromViolations([]),
      onRight: ({ concurrency }) => concurrency
    })
  })
