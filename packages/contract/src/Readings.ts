/**
 * What a response of the service shows, in the words of the contract's claims. The conformance suite, recordings and
 * comparisons of servers read responses here, so that they cannot disagree.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { ServiceResponse } from "./internal/exchange.ts"
import * as CredentialReadings from "./internal/readings/credentialReadings.ts"
import * as ResponseReadings from "./internal/readings/responseReadings.ts"
import * as TokenReadings from "./internal/readings/tokenReadings.ts"
import type { NameAndDob } from "./internal/steps.ts"

export type { ServiceResponse as Response } from "./internal/exchange.ts"
export type { Grant } from "./internal/readings/tokenReadings.ts"
export type { NameAndDob as Person } from "./internal/steps.ts"

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
export const ofTokenResponse = (response: ServiceResponse): TokenWords => {
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
export const ofCheckResponse = (response: ServiceResponse, { dob, name }: NameAndDob): CheckWords => {
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
export const grantOf = (response: ServiceResponse): Option.Option<TokenReadings.Grant> =>
  TokenReadings.grantOf({ _tag: "Response", ...response })
