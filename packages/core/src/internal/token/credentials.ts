/** The customer id and key of the onboarding pack (service document, section 2.1), and the header that contains them. */
import type * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { identity } from "effect/Function"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Options from "../schema/options.ts"

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

/** Valid credentials. Their texts are redacted. */
export interface Credentials {
  readonly customerId: Redacted.Redacted<string>
  readonly customerKey: Redacted.Redacted<string>
  readonly basicEncoding: BasicEncoding
}

/**
 * The credentials of the onboarding pack.
 *
 * @category models
 * @since 0.1.0
 */
export interface CredentialOptions {
  /**
   * The customer id. Leading and trailing spaces are rejected, because they usually come from copying. A colon is
   * rejected, because the header separates the id and the key with one. The encoding `rfc6749` allows both.
   */
  readonly customerId: string
  /** The customer key. Leading and trailing spaces are rejected as those of the id. */
  readonly customerKey: Redacted.Redacted<string>
  /**
   * How the header encodes the id and the key. The client tries no other encoding.
   *
   * @default "plain"
   */
  readonly basicEncoding?: BasicEncoding | undefined
}

/** The schema of {@link CredentialOptions}. */
export const schema = ({ basicEncoding }: { readonly basicEncoding?: unknown }) => {
  const isForm = basicEncoding === "rfc6749"
  const isSendable = (text: string): boolean =>
    text.trim() !== "" && (text === text.trim() || isForm) && !/[\p{Cc}\p{Cs}]/u.test(text)
  const textThat = (is: (text: string) => boolean, description: string) =>
    Schema.String.annotations({ description }).pipe(Schema.filter(is, { description }))
  const keyDescription =
    "the customer key of the onboarding pack: not empty, without leading or trailing spaces or line breaks"
  return Schema.Struct({
    customerId: textThat(
      (id) => isSendable(id) && (isForm || !id.includes(":")),
      "the customer id of the onboarding pack: not empty, without a colon, leading or trailing spaces or line breaks"
    ),
    customerKey: Schema.RedactedFromSelf(textThat(isSendable, keyDescription)).annotations({
      description: keyDescription
    }),
    basicEncoding: Options.withDefault(
      Schema.Literal("plain", "rfc6749").annotations({ description: "\"plain\" or \"rfc6749\"" }),
      "plain"
    )
  })
}

/** Makes credentials. `ConfigError` names every invalid field, and contains no value. */
export const make = (options: CredentialOptions): Either.Either<Credentials, ConfigError.ConfigError> =>
  Either.map(Options.decode(schema(options), options), of)

/** The credentials in checked options. */
export const of = ({ basicEncoding, customerId, customerKey }: Required<CredentialOptions>): Credentials =>
  Data.struct({ customerId: Redacted.make(customerId), customerKey, basicEncoding: basicEncoding ?? "plain" })

/**
 * Returns the `Authorization` header of a token request (service document, section 4.1): `Basic`, and the base64 of the
 * UTF-8 bytes of the id, a colon and the key.
 */
export const toBasicHeader = (credentials: Credentials): Redacted.Redacted<string> => {
  const encode = credentials.basicEncoding === "rfc6749" ? formEncode : identity
  const [id, key] = [credentials.customerId, credentials.customerKey].map((secret) => encode(Redacted.value(secret)))
  return Redacted.make(`Basic ${Encoding.encodeBase64(`${id}:${key}`)}`)
}

const formEncode = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1)

/** Whether a text contains eight characters of the secret in a row, in any case. */
export const hasPartOf = (secret: string, text: string): boolean =>
  Array.from(text, (_, start) => text.slice(start, start + 8).toLowerCase())
    .some((part) => part.length === 8 && secret.toLowerCase().includes(part))

/** Whether a text from the service contains the id, the key or a part of it, in plain or encoded form. */
export const isRevealedBy = (credentials: Credentials, text: string): boolean => {
  const secrets = [credentials.customerId, credentials.customerKey].map(Redacted.value)
  const key = Redacted.value(credentials.customerKey)
  const header = Redacted.value(toBasicHeader(credentials)).replace(/^Basic |=+$/g, "")
  const encoded = [formEncode(key), Encoding.encodeBase64(key), Encoding.encodeBase64Url(key), Encoding.encodeHex(key)]
  return [...secrets, ...secrets.map(formEncode)].some((secret) => text.toLowerCase().includes(secret.toLowerCase())) ||
    [key, header, ...encoded].some((secret) => hasPartOf(secret, text))
}
