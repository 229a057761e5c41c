/** What can be wrong with the options of the `AmlClient`. */
import * as CheckPolicy from "../CheckPolicy.ts"
import * as IdvApi from "../IdvApi.ts"
import * as Address from "./address.ts"
import * as ConfigErrors from "./configErrors.ts"

/** The options as they may come: from JavaScript, or in part from `Config`. */
interface Given extends CheckPolicy.Options {
  readonly baseUrl?: string | undefined
  readonly allowInsecure?: boolean | undefined
}

/** The checked options, or all that is wrong with them. */
export const check = (options: Given) =>
  ConfigErrors.all({
    url: Address.make("baseUrl", options.baseUrl, IdvApi.aml.path, options),
    policy: CheckPolicy.make(options)
  })
