/** What an endpoint decides about a request, and why, before a fault changes the response. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Fault from "../../Fault.ts"
import type { Facts } from "../journal/entry.ts"
import * as Request from "../wire/request.ts"
import type { Headers, Response } from "../wire/response.ts"

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

/** Makes a refusal that both endpoints have. */
type Refuse = (
  rule: "method" | "headers" | "content-encoding" | "body-too-long",
  status: 400 | 405 | 413 | 415,
  detail: string,
  options?: { readonly headers: Headers }
) => RequestRefused

/** Fails for another method than POST, and for headers that two readers could understand differently. */
export const checkHead = (
  { headersProblem, method }: Request.Request,
  refuse: Refuse
): Effect.Effect<void, RequestRefused> =>
  method === "POST"
    ? Option.match(headersProblem, {
      onNone: () => Effect.void,
      onSome: (problem) => refuse("headers", 400, problem)
    })
    : refuse("method", 405, "The method of this operation is POST", { headers: { allow: "POST" } })

/** Fails for a body with a content coding, and for one that is too long. */
export const checkBody = (request: Request.Request, refuse: Refuse): Effect.Effect<void, RequestRefused> =>
  Request.hasCoding(request)
    ? refuse("content-encoding", 415, "The body may not have a content coding", {
      headers: { "accept-encoding": "identity" }
    })
    : Request.isTooLong(request)
    ? refuse("body-too-long", 413, `A body has at most ${Request.maxBodyBytes} bytes`)
    : Effect.void

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
