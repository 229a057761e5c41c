/**
 * The customer id and key of the onboarding pack (API document, section 2.1), and the header made
 * of them. What is checked, encoded and compared of the two, is so here and nowhere else.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
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

/**
 * Credentials, or a `ConfigError` that names each field that is wrong and never shows a value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Either.Either<Credentials, ConfigError.ConfigError> => {
  const errors = Arr.getLefts([
    checkCustomerId("customerId", options.customerId),
    checkCustomerKey("customerKey", options.customerKey)
  ])
  return Arr.isNonEmptyArray(errors)
    ? Either.left(errors.reduce(ConfigError.And))
    : Either.right(Data.struct({
      customerId: Redacted.make(options.customerId),
      customerKey: options.customerKey
    }))
}

/**
 * A customer id that can be sent, or a `ConfigError` that calls it `name`. Outer blanks and line
 * breaks are refused because they come from copying, a colon because it would be ambiguous in the
 * header.
 *
 * @category constructors
 * @since 0.1.0
 */
export const checkCustomerId = (name: string, customerId: string): Either.Either<string, ConfigError.ConfigError> =>
  isPrintable(customerId) && !customerId.includes(":")
    ? Either.right(customerId)
    : Either.left(ConfigError.InvalidData(
      [name],
      "should be the customer id of the onboarding pack: not empty, without a colon, outer blanks or line breaks"
    ))

/**
 * A customer key that can be sent, or a `ConfigError` that calls it `name`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const checkCustomerKey = (
  name: string,
  customerKey: Redacted.Redacted<string>
): Either.Either<Redacted.Redacted<string>, ConfigError.ConfigError> =>
  isPrintable(Redacted.value(customerKey))
    ? Either.right(customerKey)
    : Either.left(ConfigError.InvalidData(
      [name],
      "should be the customer key of the onboarding pack: not empty, without outer blanks or line breaks"
    ))

const isPrintable = (text: string): boolean => text !== "" && text === text.trim() && !/\p{Cc}/u.test(text)

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

/**
 * Whether a text that somebody else wrote holds the id or the key.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isRevealedBy = (credentials: Credentials, text: string): boolean =>
  text.includes(Redacted.value(credentials.customerId)) || text.includes(Redacted.value(credentials.customerKey))
