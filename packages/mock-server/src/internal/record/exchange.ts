/** One exchange with another service, unmasked. It exists only until it is read. */
import type * as ContractReadings from "@effect-idv/contract/Readings"
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Operation } from "../journal/entry.ts"
import type * as Request from "../wire/request.ts"
import type { Response } from "../wire/response.ts"

export interface Exchange {
  readonly operation: Operation
  /** The address of the service to which the request was sent. */
  readonly url: URL
  readonly request: Request.Request
  readonly response: Response
  /** When the response arrived, in milliseconds since 1970. */
  readonly at: number
  /** From the request to the whole response, in real milliseconds. */
  readonly millis: number
}

const decodeJson = Violation.decodeJson(Schema.Unknown)

/** A JSON object in a body, whatever its content type. */
export const objectIn = (body: Uint8Array): Option.Option<Readonly<Record<string, unknown>>> =>
  Option.filter(Either.getRight(decodeJson(body)), Predicate.isRecord)

export const isSuccess = ({ response: { status } }: Exchange): boolean => status >= 200 && status < 300

/** The response as the contract reads it. */
export const toContract = ({ at, millis, response, url }: Exchange): ContractReadings.Response => ({
  ...response,
  url,
  receivedAt: at,
  millis
})

/** The person of a check. */
export const personOf = ({ request }: Exchange): Option.Option<ContractReadings.Person> =>
  Option.flatMap(
    objectIn(request.body),
    ({ dob, name }) => typeof name === "string" && typeof dob === "string" ? Option.some({ name, dob }) : Option.none()
  )
