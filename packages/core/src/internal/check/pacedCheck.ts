/** A check for `Screening`, which limits the rate of many checks, pauses all after a 429, and may interrupt each. */
import * as Context from "effect/Context"
import type { Sent } from "../../AmlError.ts"
import type * as Failure from "../../Failure.ts"
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

  /**
   * `unknown` if any of the checks may have arrived, because a client that wraps another may repeat a check. Otherwise that
   * of the last check. A client that reports no progress may have sent the check as soon as it has started.
   */
  get sent(): Sent {
    return this.#progresses.some(({ sent }) => sent === "unknown")
      ? "unknown"
      : this.#progresses.at(-1)?.sent ?? (this.#isStarted ? "unknown" : "no")
  }

  /** The failure to report, by all checks: see `Progress.leastCertainOf`. */
  leastCertainOf(failure: Failure.Failure): Failure.Failure {
    return this.#progresses.reduce<Failure.Failure>((least, progress) => progress.leastCertainOf(least), failure)
  }
}

/**
 * The status of the check that `Screening` runs in this fiber. With it, the client fails at once with a 429 or a failure
 * that concerns everyone, under any retry policy: `Screening` handles both for all of its checks. It is in the context,
 * so that it reaches the client through any service that wraps it.
 */
export class Current extends Context.Reference<Current>()("@effect-idv/core/internal/PacedCheck", {
  defaultValue: (): SentStatus | undefined => undefined
}) {}
