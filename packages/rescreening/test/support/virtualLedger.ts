/**
 * A ledger in memory, by the clock of the test, at a distance: each statement takes a round trip. For tests of when
 * requests leave, which would measure the machine with a real database.
 */
import { Effect, Option, Schema } from "effect"
import type { Ledger } from "../../src/index.ts"
import { Run } from "../../src/index.ts"

/** The clock of the database differs from that of the workers, by this many milliseconds. */
const skew = 3_600_000

export const make = (time: () => number, count: number, policy: typeof Run.Policy.Encoded) => {
  const now = () => time() + skew
  const rows = new Map(Array.from({ length: count }, (_, index) => [index + 1, { state: "pending", token: "" }]))
  const run = { policy: Schema.decodeSync(Run.Policy)(policy), state: "open" as Run.Run["state"] }
  const service = { nextAt: 0, resumesAt: 0, pauses: 0 }
  let tokens = 0

  const rowOf = ({ line, token }: { readonly line: number; readonly token: string }) => {
    const row = rows.get(line)
    return row?.token === token ? row : undefined
  }

  /** The ledger, for a worker with this round trip in milliseconds. */
  const at = (roundTrip: number) => {
    const statement = <A>(evaluate: () => A): Effect.Effect<A> =>
      Effect.sync(evaluate).pipe(Effect.delay(roundTrip / 2), Effect.zipLeft(Effect.sleep(roundTrip / 2)))
    const changed = (
      claims: ReadonlyArray<{ readonly line: number; readonly token: string }>,
      from: ReadonlyArray<string>,
      to: (line: number) => string
    ) =>
      claims.flatMap((claim) => {
        const row = rowOf(claim)
        if (row === undefined || !from.includes(row.state)) return []
        row.state = to(claim.line)
        return [claim.line]
      })
    return {
      claim: (
        { limit, token = `token-${++tokens}` }: { readonly limit: number; readonly token?: string | undefined }
      ) =>
        statement((): ReadonlyArray<Ledger.Claim> => {
          const pending = [...rows].filter(([, { state }]) => state === "pending").slice(0, limit)
          return pending.map(([line, row]) => {
            Object.assign(row, { state: "claimed", token })
            return { line, token, id: `K${line}`, person: null, timesSent: 0 }
          })
        }),
      send: (_: string, claims: ReadonlyArray<Ledger.Claim>) =>
        statement(() =>
          new Set(
            service.resumesAt > now() || run.state !== "open"
              ? []
              : changed(claims, ["claimed", "sent"], () => "sent")
          )
        ),
      settle: (_: string, settlements: ReadonlyArray<Ledger.Settlement>) =>
        statement(() => ({
          amended: 0,
          settled: new Set(
            changed(settlements, ["sent"], (line) =>
              settlements.find((settlement) =>
                settlement.line === line
              )?.outcome.state ?? "")
          )
        })),
      release: (_: string, releases: ReadonlyArray<Ledger.Release>) =>
        statement(() => changed(releases, ["claimed", "sent"], () => "pending").length),
      turns: (_: string, { count, interval, lead }: { count: number; interval: number; lead: number }) =>
        statement(() => {
          const first = Math.max(now() + lead, service.nextAt, service.resumesAt)
          service.nextAt = first + count * interval
          return { first, now: now() }
        }),
      pauseService: (_: string, millis = 1000) =>
        statement(() => {
          if (service.resumesAt <= now()) service.pauses++
          service.resumesAt = Math.max(service.resumesAt, now() + millis)
          return { pausedFor: service.resumesAt - now(), pauses: service.pauses }
        }),
      workerState: () =>
        statement(() =>
          Option.some({
            ...run,
            reason: null,
            pausedFor: service.resumesAt - now(),
            pauses: service.pauses,
            failuresInRow: 0,
            clockSetBack: 0
          })
        ),
      complete: () =>
        statement(() => {
          const isComplete = [...rows.values()].every(({ state }) => !["pending", "claimed", "sent"].includes(state))
          if (isComplete) run.state = "complete"
          return isComplete
        }),
      renew: (tokens: ReadonlyArray<string>) => statement(() => new Set(tokens)),
      endLeases: () => statement(() => undefined),
      releaseAll: () => statement(() => 0),
      expire: () => statement(() => ({ pending: 0, unknown: 0, voided: 0 })),
      rescreen: () => statement(() => 0),
      resetPauses: () => statement(() => undefined),
      countFailures: () => statement(() => 0),
      pause: () => statement(() => true)
    }
  }
  return { at, run, statesOf: () => [...rows.values()].map(({ state }) => state) }
}
