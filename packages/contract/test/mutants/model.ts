/** What a mutant is made of: requests, responses, and a wrapper around the mock server. */
import type * as Effect from "effect/Effect"
import type { Profile } from "../../../mock-server/src/index.ts"

export interface Request {
  readonly method: string
  /** The path with its query. */
  readonly target: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface Response {
  readonly status: number
  /** The names are in lower case. `Content-Length` is added when the response is sent. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Sends a request to the mock server behind the mutant, or to its control API. */
export type Serve = (request: Request) => Effect.Effect<Response>

export type Handler = (request: Request, serve: Serve) => Effect.Effect<Response>

/** Creates the handler of one server, with the state that it keeps between requests. */
export type Wrapper = Effect.Effect<Handler>

/** A server that violates one claim of the contract. */
export interface Mutant {
  /** The claim, a slash, and a name. */
  readonly id: string
  /** The id of the violated claim. */
  readonly claim: string
  /** What the server does wrong, as a phrase after "it". */
  readonly description: string
  readonly wrap: Wrapper
  /** The profile of a mock server of its own. Without one, mutants share a server with the default profile. */
  readonly profile?: Profile.Patch
  /** Whether only many requests show that the server is wrong, so that no case alone finds it. */
  readonly isLate?: true
}

/** The mutants of one claim, each with its name, its description and its wrapper. */
export const of = (
  claim: string,
  mutants: ReadonlyArray<readonly [name: string, description: string, wrap: Wrapper]>
): ReadonlyArray<Mutant> =>
  mutants.map(([name, description, wrap]) => ({ id: `${claim}/${name}`, claim, description, wrap }))
