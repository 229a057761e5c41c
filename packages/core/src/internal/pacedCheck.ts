/** A check for `Screening`, which limits the rate of many checks, pauses all after a 429, and may interrupt each. */
import type * as Effect from "effect/Effect"
import type { AmlCheck } from "../AmlCheck.ts"
import type { AmlError, Sent } from "../AmlError.ts"
import type * as Failure from "../Failure.ts"
import type { Person } from "../Person.ts"
import type { TokenError } from "../TokenError.ts"
import type { Progress } from "./progress.ts"

/** Reports whether the service may have performed the checks of one person, also after an interruption. */
export class SentStatus {
  #isStarted = false
  /** One for each check, because a check is sent again after a 429. */
  readonly #progresses: Array<Progress> = []

  markStarted(): void {
    this.#isStarted = true
  }

  /** From now on, `sent` is the status of this progress. */
  attachTo(progress: Progress): void {
    this.#progresses.push(progress)
  }

  /** Of the last check. A client that reports no progress may have sent the check as soon as it has started. */
  get sent(): Sent {
    return this.#progresses.at(-1)?.sent ?? (this.#isStarted ? "unknown" : "no")
  }

  /** The failure to report, by all checks: see `Progress.leastCertainOf`. */
  leastCertainOf(failure: Failure.Failure): Failure.Failure {
    return this.#progresses.reduce<Failure.Failure>((least, progress) => progress.leastCertainOf(least), failure)
  }
}

/** Under any retry policy, it fails at once with a 429 or a failure that concerns everyone: the caller handles both. */
export type PacedCheck = (person: Person, sentStatus: SentStatus) => Effect.Effect<AmlCheck, AmlError | TokenError>

/** The paced check of each client. It is not in the public interface, so that a user's own client need not have it. */
const pacedChecks = new WeakMap<object, PacedCheck>()

export const register = (service: object, check: PacedCheck): void => {
  pacedChecks.set(service, check)
}

/** The paced check of a client of this library. Any other client, or one that wraps it, reports no progress. */
export const of = (
  service: { readonly check: (person: Person) => ReturnType<PacedCheck> }
): PacedCheck => pacedChecks.get(service) ?? ((person) => service.check(person))
