/**
 * The customer id and key of the onboarding pack (API document, section 2.1), and the header made
 * of them. No other module sees the key.
 *
 * @since 0.1.0
 */
import * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"

/**
 * Credentials that can be sent, from {@link make}. They do not print themselves.
 *
 * @category models
 * @since 0.1.0
 */
export interface Credentials {
  readonly customerId: Redacted.Redacted<string>
  readonly customerKey: Redacted.Redacted<string>
}

/**
 * What {@link make} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly customerId: string
  readonly customerKey: Redacted.Redacted<string>
}

const isPrintable = (text: string): boolean => text !== "" && text === text.trim() && !/\p{Cc}/u.test(text)

/**
 * Credentials, or a `ConfigError` that names the field and never shows the value.
 *
 * Edge blanks and line breaks are refused because they come from copying and can only end in a
 * rejected key; a colon in the id is refused because it would be ambiguous in the header.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Either.Either<Credentials, ConfigError.ConfigError> => {
  const key = Redacted.value(options.customerKey)
  if (!isPrintable(options.customerId) || options.customerId.includes(":")) {
    return Either.left(ConfigError.InvalidData(
      ["customerId"],
      "should be the customer id of the onboarding pack: not empty, without a colon, outer blanks or line breaks"
    ))
  }
  if (!isPrintable(key)) {
    return Either.left(ConfigError.InvalidData(
      ["customerKey"],
      "should be the customer key of the onboarding pack: not empty, without outer blanks or line breaks"
    ))
  }
  return Either.right(Data.struct({ customerId: Redacted.make(options.customerId), customerKey: options.customerKey }))
}

/**
 * The value of the `Authorization` header of a token request (API document, section 4.1): `Basic`
 * and the base64 of the UTF-8 bytes of id, colon and key.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toBasicHeader = (credentials: Credentials): Redacted.Redacted<string> =>
  Redacted.make(
    `Basic ${
      Encoding.encodeBase64(`${Redacted.value(credentials.customerId)}:${Redacted.value(credentials.customerKey)}`)
    }`
  )
