/** Logs a failure that concerns everyone: its callers see only their own, and may treat each as a case for review. */
import * as Effect from "effect/Effect"
import * as Failure from "../../Failure.ts"
import * as Instant from "../schema/instant.ts"

/** The same failure is logged no more often than this. */
const cooldownMillis = 30_000

/** Returns a function that logs the failures of the requests to a host, with its message, which says what to check. */
export const make = (host: string) => {
  const loggedAt = new Map<Failure.Failure["_tag"], Instant.Instant>()
  return (error: Failure.Failure): Effect.Effect<void> =>
    Failure.facts(error).concerns !== "everyone" ? Effect.void : Effect.flatMap(Instant.now, (at) => {
      const last = loggedAt.get(error._tag)
      if (last !== undefined && Instant.elapsed(last, at) < cooldownMillis) return Effect.void
      loggedAt.set(error._tag, at)
      return Effect.logError(`Checks fail until this is corrected. ${error.message}`).pipe(
        Effect.annotateLogs({ host, error: error._tag })
      )
    })
}
