/** Checks the options of the `AmlClient`. */
import * as CheckPolicy from "../CheckPolicy.ts"
import * as IdvApi from "../IdvApi.ts"
import * as Address from "./address.ts"
import * as ConfigErrors from "./configErrors.ts"

/** Options before the check: from JavaScript, or partly loaded from `Config`. */
interface UncheckedOptions extends CheckPolicy.Options {
  readonly baseUrl?: string | undefined
  readonly allowInsecure?: boolean | undefined
}

/** Returns the checked options, or one error with every invalid option. */
export const check = (options: UncheckedOptions) =>
  ConfigErrors.all({
    url: Address.make("baseUrl", options.baseUrl, IdvApi.aml.path, options),
    policy: CheckPolicy.make(options)
  })
