/** What an endpoint decides about a request, and why, before a fault changes the response. */
import * as Data from "effect/Data"
import type * as Fault from "../../Fault.ts"
import type { Facts } from "../journal/entry.ts"
import type { Response } from "../wire/response.ts"

export interface Decision {
  /** The rule that decided, such as `aml.token-expired`. */
  readonly rule: string
  /** The reason, without personal data and secrets. */
  readonly facts: Facts
  /** The ids of the contract's claims that the response shows. */
  readonly claims: ReadonlyArray<string>
  /** Whether the request breaks the service document. */
  readonly unexpected: boolean
  readonly response: Response
  /** The token that the response issues. */
  readonly issuedToken?: string
  /** The fault of a test person. */
  readonly fault?: Fault.What
}

/** Ends the handling of a request with a refusal. */
export class RequestRefused extends Data.TaggedError("RequestRefused")<{ readonly decision: Decision }> {}

/** A redirect that the profile selects. */
export const redirectDecision = (operation: "token" | "aml", response: Response): Decision => ({
  rule: `${operation}.redirected`,
  facts: { kind: "other", what: "The profile redirects: a client must not follow with its credentials or its token" },
  claims: ["redirects"],
  unexpected: false,
  response
})

/** The facts about a request that is wrong as a whole. */
export const refused = (problem: string): Facts => ({ kind: "refused", problem, violations: [] })
