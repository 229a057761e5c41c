/** What an endpoint says to a request, and why: the answer before any fault changes it. */
import * as Data from "effect/Data"
import type * as Fault from "../../Fault.ts"
import type { Reply } from "../http/response.ts"

/**
 * - `rule`: which rule answered, such as `aml.token-expired`.
 * - `why`: that rule's reason here, as a sentence without anything of the person or a secret.
 * - `claims`: what the answer shows of the contract.
 * - `unexpected`: the request is one that the API document does not have.
 * - `issued`: the token that the answer gives.
 * - `fault`: what the subject of a check asks for, by its name.
 */
export interface Answer {
  readonly rule: string
  readonly why: string
  readonly claims: ReadonlyArray<string>
  readonly unexpected: boolean
  readonly reply: Reply
  readonly issued?: string
  readonly fault?: Fault.What
}

/** A request that ends here. */
export class Refused extends Data.TaggedError("Refused")<{ readonly answer: Answer }> {}
