/**
 * The one retry budget of a worker: while the database of the ledger is unavailable, all statements are repeated, until
 * one of them has failed for two minutes. They can be repeated, see `Ledger.Service`.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Ledger from "../ledger/service.ts"

const budget = Duration.toMillis("2 minutes")
const firstDelay = 50
const longestDelay = 1000
const lineEvery = Duration.toMillis("1 minute")

/** Codes of PostgreSQL that do not change by themselves: a missing table or permission, a wrong password or database. */
const isLasting = ({ code }: Ledger.Failure) => /^(42|28|3D)/.test(code)

/** The ledger with the budget. A line says at once that a worker waits, and then one each minute. */
export const make = (ledger: Ledger.Service): Effect.Effect<Ledger.Service> =>
  Effect.map(Effect.clock, (clock) => {
    // Not the wall clock, which may be set.
    const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    let lastLineAt = -Infinity

    /** Since when the statements that are repeated now fail. Others may succeed: a full disk can be read. */
    const failing = new Set<{ readonly since: number }>()

    const sayUnavailable = ({ code, operation }: Ledger.Failure, waited: number) =>
      Effect.suspend(() => {
        if (now() - lastLineAt < lineEvery) return Effect.void
        lastLineAt = now()
        return Effect.logWarning(
          `The database of the ledger is unavailable (${operation}: ${code}), for ${
            Math.round(waited / 1000)
          } s now. This worker ends after two minutes. Rows that were sent and have no stored result then become unknown.`
        )
      })

    const repeated = <A>(effect: Effect.Effect<A, Ledger.Failure>): Effect.Effect<A, Ledger.Failure> =>
      Effect.suspend(() => {
        let own: { readonly since: number } | undefined
        const attempt = (delay: number): Effect.Effect<A, Ledger.Failure> =>
          Effect.suspend(() => {
            const from = now()
            return Effect.catchAll(effect, (error) => {
              if (isLasting(error)) return Effect.fail(error)
              if (own === undefined) failing.add(own = { since: from })
              const waited = now() - Math.min(...Array.from(failing, ({ since }) => since))
              return waited >= budget ? Effect.fail(error) : sayUnavailable(error, waited).pipe(
                Effect.zipRight(Effect.sleep(delay)),
                Effect.zipRight(attempt(Math.min(longestDelay, delay * 2)))
              )
            })
          })
        return Effect.onExit(attempt(firstDelay), (exit) => {
          // After a failure the budget stays exhausted.
          if (own === undefined || Exit.isFailure(exit) && !Exit.isInterrupted(exit)) return Effect.void
          failing.delete(own)
          if (failing.size > 0) return Effect.void
          lastLineAt = -Infinity
          return Exit.isSuccess(exit)
            ? Effect.logWarning("The database of the ledger is available again.")
            : Effect.void
        })
      })

    const patient =
      <Args extends ReadonlyArray<unknown>, A>(operation: (...args: Args) => Effect.Effect<A, Ledger.Failure>) =>
      (...args: Args) => repeated(operation(...args))

    return {
      ...ledger,
      find: patient(ledger.find),
      counts: patient(ledger.counts),
      pause: patient(ledger.pause),
      complete: patient(ledger.complete),
      workerState: patient(ledger.workerState),
      claim: patient(ledger.claim),
      renew: patient(ledger.renew),
      endLeases: patient(ledger.endLeases),
      reserve: patient(ledger.reserve),
      allow: patient(ledger.allow),
      beginRound: patient(ledger.beginRound),
      countControlRequest: patient(ledger.countControlRequest),
      endRound: patient(ledger.endRound),
      controls: patient(ledger.controls),
      noteUndocumented: patient(ledger.noteUndocumented),
      send: patient(ledger.send),
      settle: patient(ledger.settle),
      release: patient(ledger.release),
      releaseAll: patient(ledger.releaseAll),
      expire: patient(ledger.expire),
      rescreen: patient(ledger.rescreen),
      turns: patient(ledger.turns),
      pauseService: patient(ledger.pauseService),
      resetPauses: patient(ledger.resetPauses),
      countFailures: patient(ledger.countFailures)
    }
  })
