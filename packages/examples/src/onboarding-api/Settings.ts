/** The settings of the sign-ups, and the times that follow from them. */
import { Config, Duration } from "effect"
import { timeout } from "./Store.ts"
import * as Variable from "./Variable.ts"

/** Retries of storing a decision, because the service performed the check and may have billed it. */
export const storeRetries = 5
export const firstPause = Duration.millis(100)

/** The longest time to store a decision: all attempts, and the pauses between them, each twice the last. */
const maxStoreTime = Duration.sum(
  Duration.times(timeout, storeRetries + 1),
  Duration.times(firstPause, 2 ** storeRetries - 1)
)

/** From `ANSWER_AFTER`, `SIGN_UPS_AT_ONCE` and `SIGN_UPS_PER_SECOND`. */
export const settings = Config.all({
  /** The time of a `received` response. At least twice the part of it that is left for the database. */
  responseAfter: Config.withDefault(Variable.duration("ANSWER_AFTER", "1 second", "1 minute"), Duration.seconds(4)),
  /** The number of sign-ups in flight. Further ones get the 503. */
  maxInFlight: Config.withDefault(Variable.integer("SIGN_UPS_AT_ONCE", 1, 10_000), 200),
  /** The number of sign-ups that may begin within a second. Further ones get the 503. */
  maxPerSecond: Config.withDefault(Variable.integer("SIGN_UPS_PER_SECOND", 1, 10_000), 50)
}).pipe(
  Config.map(({ responseAfter, ...limits }) => {
    // Longer than the claim, the search for other forms, the checks and storing can take, plus a margin for clocks that
    // differ. After it, the process that started the sign-up cannot be working on it.
    const lease = Duration.sum(
      responseAfter,
      Duration.sum(Duration.times(timeout, 2), Duration.sum(maxStoreTime, "5 seconds"))
    )
    // Longer than the lease, so that a request that waits for another process gets a decision.
    const gracePeriod = Duration.sum(lease, Duration.times(timeout, 3))
    return { ...limits, responseAfter, lease, gracePeriod }
  })
)
