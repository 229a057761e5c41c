/** What a mutant is made of: a request, an answer, and what stands between the two. */
import type * as Effect from "effect/Effect"

/** `target`: the path with its query. Header names are in lower case. */
export interface Request {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** `Content-Length` is not among the headers: whoever sends it, adds it. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The right server, with its control plane. */
export type Serve = (request: Request) => Effect.Effect<Answer>

export type Handler = (request: Request, serve: Serve) => Effect.Effect<Answer>

/** What it keeps between requests begins with it, once for a server. */
export type Wrapper = Effect.Effect<Handler>

/** `isLate`: it is as the right server for the first requests, and shows only in a whole run. */
export interface Mutant {
  readonly id: string
  readonly claim: string
  readonly breaks: string
  readonly wrap: Wrapper
  readonly isLate?: true
}

/** Each of a claim's mutants: its name, what it does wrong, and how. */
export const of = (
  claim: string,
  mutants: ReadonlyArray<readonly [name: string, breaks: string, wrap: Wrapper]>
): ReadonlyArray<Mutant> => mutants.map(([name, breaks, wrap]) => ({ id: `${claim}/${name}`, claim, breaks, wrap }))
