/**
 * What a response of the service shows, in the words of the contract's claims. The conformance suite, recordings and
 * comparisons of servers read responses here, so that they cannot disagree.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as CredentialReadings from "./internal/readings/credentialReadings.ts"
import * as ResponseReadings from "./internal/readings/responseReadings.ts"
import * as TokenReadings from "./internal/readings/tokenReadings.ts"

/**
 * A complete response of the service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Response {
  /** The address of the request. */
  readonly url: URL
  readonly status: number
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** When the body was complete, in milliseconds since 1970. */
  readonly receivedAt: number
  /** From the request to the complete body, in milliseconds. */
  readonly millis: number
}

/**
 * The person whom a check was about.
 *
 * @category models
 * @since 0.1.0
 */
export interface Person {
  readonly name: string
  /** The date of birth, in the form `dd-mm-yyyy`. */
  readonly dob: string
}

/**
 * What a response grants: a token, and what the service states about it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Grant {
  /** Where the token is: the path of a field, or `text` for a body of plain text. */
  readonly field: string
  readonly token: string
  /** The value of the field for the token type, if there is one. */
  readonly type?: unknown
  /** The value of the field for the lifetime, if there is one. */
  readonly lifetime?: unknown
}

const ofToken = { ...ResponseReadings.readings, ...TokenReadings.readings }

const ofCheck = {
  ...ResponseReadings.readings,
  ...CredentialReadings.readings,
  "expiry": TokenReadings.ofApi.expiry
}

/**
 * What a response to a token request shows: one word for each reading, such as `200` for `status`. No word holds a
 * secret.
 *
 * @category models
 * @since 0.1.0
 */
export type TokenWords = Readonly<Record<keyof typeof ofToken, string>>

/**
 * What a response to a check shows: one word for each reading, such as `UUID` for `issuer_id`. No word holds a name or a
 * date of birth.
 *
 * @category models
 * @since 0.1.0
 */
export type CheckWords = Readonly<Record<keyof typeof ofCheck, string>>

/**
 * Reads a response to a token request.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ofTokenResponse = (response: Response): TokenWords => {
  const responses = [{
    step: { to: "token" as const },
    response: { _tag: "Response" as const, ...response },
    secrets: []
  }]
  return Record.map(ofToken, (read) => read(responses))
}

/**
 * Reads a response to a check of this person.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ofCheckResponse = (response: Response, { dob, name }: Person): CheckWords => {
  const step = { to: "aml" as const, body: { name, dob } }
  const responses = [{ step, person: { name, dob }, response: { _tag: "Response" as const, ...response }, secrets: [] }]
  return Record.map(ofCheck, (read) => read(responses))
}

/**
 * The token of a 2xx response, in any of the fields in which services send one, or as plain text.
 *
 * @category getters
 * @since 0.1.0
 */
export const grantOf = (response: Response): Option.Option<Grant> =>
  TokenReadings.grantOf({ _tag: "Response", ...response })
