/** A check whose caller paces many checks and may interrupt this one, as `Screening` does. */
import type * as Effect from "effect/Effect"
import type { AmlError, Sent } from "../AmlError.ts"
import type { Evidence } from "../Evidence.ts"
import type { Person } from "../Person.ts"
import type { TokenError } from "../TokenError.ts"
import type { Progress } from "./progress.ts"

/** Tells the caller whether the service may have performed a check that the caller has interrupted. */
export class Observation {
  #isStarted = false
  #progress: Progress | undefined

  started(): void {
    this.#isStarted = true
  }

  follow(progress: Progress): void {
    this.#progress = progress
  }

  /** A client that reports no progress may have sent the check as soon as it has started. */
  get sent(): Sent {
    return this.#progress === undefined ? (this.#isStarted ? "unknown" : "no") : this.#progress.sent
  }
}

/** Fails at once with a 429 and with what concerns everyone, whatever the retry policy: the caller handles those. */
export type PacedCheck = (person: Person, observation: Observation) => Effect.Effect<Evidence, AmlError | TokenError>

/** By service: the public interface has no such method, because a client of the user need not provide it. */
const pacedChecks = new WeakMap<object, PacedCheck>()

export const register = (service: object, check: PacedCheck): void => {
  pacedChecks.set(service, check)
}

/** The paced check of a client of this library. Any other client, or one that wraps it, reports no progress. */
export const of = (
  service: { readonly checkWithEvidence: (person: Person) => ReturnType<PacedCheck> }
): PacedCheck => pacedChecks.get(service) ?? ((person) => service.checkWithEvidence(person))
