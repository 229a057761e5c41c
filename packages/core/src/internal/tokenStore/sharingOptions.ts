/** The options of `TokenSharing`. Those of a store are checked together with them. */
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as DurationInput from "../schema/durationInput.ts"
import * as Options from "../schema/options.ts"
import * as TokenEncryption from "./tokenEncryption.ts"

const schema = Schema.Struct({
  encryptionKey: TokenEncryption.Key,
  decryptionKey: Schema.optional(TokenEncryption.Key),
  deadline: Options.withDefault(DurationInput.Positive, Duration.millis(200))
})

/** Returns the checked options, or one error with every invalid field. */
export const check = (options: object) =>
  Either.filterOrLeft(
    Options.decode(schema, options),
    ({ decryptionKey, encryptionKey }) => decryptionKey?.id !== encryptionKey.id,
    () => ConfigError.InvalidData(["decryptionKey", "id"], "should differ from the id of encryptionKey")
  )
