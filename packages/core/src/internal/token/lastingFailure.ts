/** Logs a failure that concerns everyone: its callers see only their own, and may treat each as a case for review. */
import * as Effect from "effect/Effect"
import * as Failure from "../../Failure.ts"
import * as Instant from "../schema/instant.ts"

/** The same failure is logged no more often than this. */
const cooldownMillis = 30_000

/** Returns a function that logs the failures of the requests to a host, with its message, which says what to check. */
export const make = (host: string) => {
  let logged: { readonly tag: Failure.Failure["_tag"]; readonly at: Instant.Instant } | undefined
  return (error: Failure.Failure): Effect.Effect<void> =>
    Failure.facts(error).concerns !== "everyone" ? Effect.void : Effect.flatMap(Instant.now, (at) => {
      if (logged?.tag === error._tag && Instant.elapsed(logged.at, at) < cooldownMillis) return Effect.void
      logged = { tag: error._tag, at }
      return Effect.logError(`Every check fails until this is corrected. ${error.message}`).pipe(
        Effect.annotateLogs({ host, error: error._tag })
      )
    })
}
