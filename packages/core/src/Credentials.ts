/**
 * The customer id and key of the onboarding pack (API document, section 2.1), and the header made
 * of them. What is checked, encoded and compared of the two, is so here and nowhere else.
 *
 * @since 0.1.0
 */
import * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { identity } from "effect/Function"
import * as Redacted from "effect/Redacted"
import * as ConfigErrors from "./internal/configErrors.ts"

/**
 * How id and key become the user name and password of the header:
 *
 * - `plain`: as they are (API document, section 4.1).
 * - `rfc6749`: each form-encoded first (RFC 6749, section 2.3.1), for a service that decodes them.
 *
 * The two differ only for ids and keys with other characters than letters, digits and `*-._`.
 *
 * @category models
 * @since 0.1.0
 */
export type BasicEncoding = "plain" | "rfc6749"

/**
 * Credentials that can be sent, from {@link make}. They do not print themselves.
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
 * What {@link make} takes. `basicEncoding` is `plain` unless told otherwise; nothing is ever probed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly customerId: string
  readonly customerKey: Redacted.Redacted<string>
  readonly basicEncoding?: BasicEncoding | undefined
}

/**
 * Credentials, or a `ConfigError` that names each field that is wrong and never shows a value.
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
 * A customer id that can be sent, or a `ConfigError` that calls it `name`. Outer blanks are refused
 * because they come from copying, and a colon because it would be ambiguous in the header; with
 * `rfc6749` both can be meant.
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
  customerKey: Redacted.Redacted<string>,
  basicEncoding: BasicEncoding = "plain"
): Either.Either<Redacted.Redacted<string>, ConfigError.ConfigError> =>
  Redacted.isRedacted(customerKey) && isSendable(Redacted.value(customerKey), basicEncoding)
    ? Either.right(customerKey)
    : Either.left(ConfigError.InvalidData(
      [name],
      "should be the customer key of the onboarding pack: not empty, without outer blanks or line breaks"
    ))

const checkBasicEncoding = (
  name: string,
  basicEncoding: string
): Either.Either<BasicEncoding, ConfigError.ConfigError> =>
  basicEncoding === "plain" || basicEncoding === "rfc6749"
    ? Either.right(basicEncoding)
    : Either.left(ConfigError.InvalidData([name], "should be \"plain\" or \"rfc6749\""))

/** The types are checked as well, for what comes from a vault is JSON. */
const isSendable = (text: unknown, basicEncoding: BasicEncoding): boolean =>
  typeof text === "string" && text.trim() !== "" && (text === text.trim() || basicEncoding === "rfc6749") &&
  !/[\p{Cc}\p{Cs}]/u.test(text)

/**
 * The value of the `Authorization` header of a token request (API document, section 4.1): `Basic`
 * and the base64 of the UTF-8 bytes of id, colon and key.
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
 * Whether a text that somebody else wrote holds the id or the key, as they are or as they are sent.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isRevealedBy = (credentials: Credentials, text: string): boolean => {
  const secrets = [credentials.customerId, credentials.customerKey].map(Redacted.value)
  const header = Redacted.value(toBasicHeader(credentials)).replace(/^Basic |=+$/g, "")
  return [...secrets, ...secrets.map(formEncode), header].some((secret) => text.includes(secret))
}
