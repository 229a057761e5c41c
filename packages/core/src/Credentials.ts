/**
 * The customer id and key of the onboarding pack (service document, section 2.1), and the header that contains them.
 *
 * @since 0.1.0
 */
import * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { identity } from "effect/Function"
import * as Redacted from "effect/Redacted"
import * as ConfigErrors from "./internal/schema/configErrors.ts"

/**
 * How the id and the key are encoded as the user name and password of the header.
 *
 * - `plain`: unchanged (service document, section 4.1).
 * - `rfc6749`: form-encoded (RFC 6749, section 2.3.1), for a service that decodes them.
 *
 * The encodings differ only for characters other than letters, digits and `*-._`.
 *
 * @category models
 * @since 0.1.0
 */
export type BasicEncoding = "plain" | "rfc6749"

/**
 * Valid credentials, made by {@link make}. Their texts are redacted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Credentials {
  readonly customerId: Redacted.Redacted<string>
  readonly customerKey: Redacted.Redacted<string>
  readonly basicEncoding: BasicEncoding
}

/**
 * The input of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly customerId: string
  readonly customerKey: Redacted.Redacted<string>
  /**
   * How the header encodes the id and the key. The client tries no other encoding.
   *
   * @default "plain"
   */
  readonly basicEncoding?: BasicEncoding | undefined
}

/**
 * Makes credentials. `ConfigError` names every invalid field, and contains no value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Either.Either<Credentials, ConfigError.ConfigError> => {
  const basicEncoding = options.basicEncoding ?? "plain"
  return Either.map(
    ConfigErrors.all({
      customerId: checkCustomerId("customerId", options.customerId, basicEncoding),
      customerKey: checkCustomerKey("customerKey", options.customerKey, basicEncoding),
      basicEncoding: checkBasicEncoding("basicEncoding", basicEncoding)
    }),
    ({ basicEncoding, customerId, customerKey }) =>
      Data.struct({ customerId: Redacted.make(customerId), customerKey, basicEncoding })
  )
}

/**
 * Returns a valid customer id, or a `ConfigError` for `name`. Leading and trailing spaces are rejected, because they
 * usually come from copying. A colon is rejected, because the header separates the id and the key with one. The
 * encoding `rfc6749` allows both.
 *
 * @category constructors
 * @since 0.1.0
 */
export const checkCustomerId = (
  name: string,
  customerId: string,
  basicEncoding: BasicEncoding = "plain"
): Either.Either<string, ConfigError.ConfigError> =>
  isSendable(customerId, basicEncoding) && (basicEncoding === "rfc6749" || !customerId.includes(":"))
    ? Either.right(customerId)
    : Either.left(ConfigError.InvalidData(
      [name],
      "should be the customer id of the onboarding pack: not empty, without a colon, leading or trailing spaces or line breaks"
    ))

/**
 * Returns a valid customer key, or a `ConfigError` for `name`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const checkCustomerKey = (
  name: string,
  customerKey: Redacted.Redacted<string>,
  basicEncoding: BasicEncoding = "plain"
): Either.Either<Redacted.Redacted<string>, ConfigError.ConfigError> =>
  Redacted.isRedacted(customerKey) && isSendable(Redacted.value(customerKey), basicEncoding)
    ? Either.right(customerKey)
    : Either.left(ConfigError.InvalidData(
      [name],
      "should be the customer key of the onboarding pack: not empty, without leading or trailing spaces or line breaks"
    ))

const checkBasicEncoding = (
  name: string,
  basicEncoding: string
): Either.Either<BasicEncoding, ConfigError.ConfigError> =>
  basicEncoding === "plain" || basicEncoding === "rfc6749"
    ? Either.right(basicEncoding)
    : Either.left(ConfigError.InvalidData([name], "should be \"plain\" or \"rfc6749\""))

/** Checks the type as well, because secrets from a vault are untyped JSON. */
const isSendable = (text: unknown, basicEncoding: BasicEncoding): boolean =>
  typeof text === "string" && text.trim() !== "" && (text === text.trim() || basicEncoding === "rfc6749") &&
  !/[\p{Cc}\p{Cs}]/u.test(text)

/**
 * Returns the `Authorization` header of a token request (service document, section 4.1): `Basic`, and the base64 of the
 * UTF-8 bytes of the id, a colon and the key.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toBasicHeader = (credentials: Credentials): Redacted.Redacted<string> => {
  const encode = credentials.basicEncoding === "rfc6749" ? formEncode : identity
  const [id, key] = [credentials.customerId, credentials.customerKey].map((secret) => encode(Redacted.value(secret)))
  return Redacted.make(`Basic ${Encoding.encodeBase64(`${id}:${key}`)}`)
}

const formEncode = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1)

/**
 * Whether a text from the service contains the id or the key, in plain or encoded form.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isRevealedBy = (credentials: Credentials, text: string): boolean => {
  const secrets = [credentials.customerId, credentials.customerKey].map(Redacted.value)
  const header = Redacted.value(toBasicHeader(credentials)).replace(/^Basic |=+$/g, "")
  return [...secrets, ...secrets.map(formEncode), header].some((secret) => text.includes(secret))
}
