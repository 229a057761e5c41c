/** The interface of the ledger, which `Ledger` exports. */
import type { SqlError } from "@effect/sql/SqlError"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type * as History from "../../History.ts"
import type * as LedgerRow from "../../LedgerRow.ts"
import type { LedgerInUse, LedgerUnavailable, RunNotFound } from "../../RescreeningError.ts"
import type * as Run from "../../Run.ts"

/**
 * @category errors
 * @since 0.1.0
 */
export type Failure = LedgerUnavailable

/**
 * A run to plan.
 *
 * @category models
 * @since 0.1.0
 */
export interface NewRun {
  readonly id: string
  readonly policy: Run.Policy
  readonly service: string
  /** @default "" */
  readonly environment?: string | undefined
  /** @default "" */
  readonly class?: string | undefined
  readonly people: Run.Run["people"]
  /** @default [] */
  readonly controls?: ReadonlyArray<Control> | undefined
}

/**
 * A positive control: a person whom the service must find.
 *
 * @category models
 * @since 0.1.0
 */
export interface Control {
  /** The line of the file, or the position in the list, from 1. */
  readonly line: number
  readonly id: string
  /** The encrypted person; `null` if a lookup provides it. */
  readonly person: string | null
}

/**
 * A row to plan.
 *
 * @category models
 * @since 0.1.0
 */
export interface PlannedRow {
  /** Unique within the run, from 1. */
  readonly line: number
  /** `null` for a wrong row. If rows have the same id, the first one counts and the others become wrong rows. */
  readonly id: string | null
  /** The encrypted person; `null` if a lookup provides it. */
  readonly person: string | null
  readonly codes: ReadonlyArray<string>
}

/**
 * A row that was claimed. Each claim has its own lease, whose token its rows keep until they are claimed again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly line: number
  readonly token: string
  readonly id: string
  readonly person: string | null
  /** How often the row was sent before. */
  readonly timesSent: number
}

/**
 * How a claim of a row ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface Release {
  readonly line: number
  readonly token: string
  /** How many requests were sent under this claim: 0 if `sent` was stored and no request left, 2 after a replay. */
  readonly requests: number
}

/**
 * The outcome of a row.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome {
  readonly state: Exclude<typeof Run.outcomes[number], "wrong_row" | "erased" | "control_failed">
  /** Separated by blanks. */
  readonly codes?: string | undefined
  readonly error?: string | undefined
  readonly checkId?: string | undefined
  readonly searchedOn?: string | undefined
  readonly responseDigest?: string | undefined
  readonly contentDigest?: string | undefined
  readonly evidence?: string | undefined
}

/**
 * The outcome of a claimed row.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settlement extends Release {
  readonly outcome: Outcome
  /** When the request was sent, in milliseconds by the database's clock; without it, when the row became `sent`. */
  readonly sentAt?: number | undefined
}

/**
 * Whether workers may continue.
 *
 * @category models
 * @since 0.1.0
 */
export interface WorkerState {
  readonly state: Run.Run["state"]
  readonly reason: string | null
  readonly policy: Run.Policy
  /** The remaining pause of the service, in milliseconds; 0 or less if there is none. */
  readonly pausedFor: number
  /** The number of pauses since the service last accepted a request. */
  readonly pauses: number
  readonly failuresInRow: number
  /** How often a turn or a pause was ignored, because it was stored later than now: the clock was set back. */
  readonly clockSetBack: number
}

/**
 * An entry to append to the history.
 *
 * @category models
 * @since 0.1.0
 */
export type NewEntry = Pick<History.Entry, "kind" | "id" | "actor"> & Partial<Omit<History.Entry, "entry" | "at">>

/**
 * What the ledger has about a person in the runs that were not erased, the oldest run first. `person` is the encrypted
 * person: in a row until it has a result, and `null` if a lookup provides it.
 *
 * @category models
 * @since 0.1.0
 */
export interface OfPerson {
  readonly rows: ReadonlyArray<{
    readonly run: string
    readonly row: LedgerRow.LedgerRow
    readonly person: string | null
  }>
  /** The runs in which the person is a control, until it is deleted. */
  readonly controls: ReadonlyArray<{ readonly run: string; readonly person: string | null }>
}

/**
 * The ledger. An effect that returns a boolean returns whether it made the transition, that is, whether the row or run
 * was in the required state. Each statement can be repeated, also if it was performed and its response was lost: the
 * token of a claim shows whether a row still belongs to it. Times are in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** Keys the digests of this ledger. Without it, a digest could be looked up in a list of people. */
  readonly salt: Redacted.Redacted

  /**
   * Stores all rows, and then the run, by one statement. No operation finds the rows before. Returns `false` if the name
   * is taken. Calls `digest` last. It also deletes plans that were begun more than a day ago and not completed.
   */
  readonly plan: <E, R>(
    run: NewRun,
    rows: Stream.Stream<PlannedRow, E, R>,
    digest: () => string
  ) => Effect.Effect<boolean, Exclude<E, SqlError> | Failure, R>
  readonly find: (run: string) => Effect.Effect<Option.Option<Run.Run>, Failure>
  readonly run: (run: string) => Effect.Effect<Run.Run, RunNotFound | Failure>
  /** The newest first. */
  readonly runs: Effect.Effect<ReadonlyArray<Run.Run>, Failure>
  readonly counts: (run: string) => Effect.Effect<Run.Counts, Failure>
  /** Changes the policy of a run. Returns `false` if the policy is no longer `from`. */
  readonly setPolicy: (run: string, from: Run.Policy, to: Run.Policy) => Effect.Effect<boolean, Failure>
  /** Pauses an open run for all workers. */
  readonly pause: (run: string, reason: string) => Effect.Effect<boolean, Failure>
  /** Opens a paused run, and resets its count of failures in a row. */
  readonly resume: (run: string) => Effect.Effect<boolean, Failure>
  /** Completes an open run if each row has an outcome, and each `unknown` row was unknown at least `unknown` times. */
  readonly complete: (run: string, options: { readonly unknown: number }) => Effect.Effect<boolean, Failure>
  readonly workerState: (run: string, service: string) => Effect.Effect<Option.Option<WorkerState>, Failure>

  /** `pending → claimed`, for at most `limit` rows in the order of their lines, with a new lease. */
  readonly claim: (from: {
    readonly run: string
    readonly limit: number
    readonly lease: number
    /**
     * The token of the claim. With a token of its own, the worker can release the rows although it never received them.
     *
     * @default a new token
     */
    readonly token?: string | undefined
  }) => Effect.Effect<ReadonlyArray<Claim>, Failure>
  /** Extends the leases that have not ended. Returns their tokens. */
  readonly renew: (tokens: ReadonlyArray<string>, lease: number) => Effect.Effect<ReadonlySet<string>, Failure>
  /** Ends leases. Their rows, if they have any, are lost. */
  readonly endLeases: (tokens: ReadonlyArray<string>) => Effect.Effect<void, Failure>
  /**
   * `claimed → sent` for those rows whose transition is allowed: the lease holds, the run is open, and the service is not
   * paused. Returns their lines. The transitions survive a power failure; on another client for SQLite than that of
   * `layerSqlite`, only if its `synchronous` is `FULL`.
   */
  readonly send: (
    run: string,
    claims: ReadonlyArray<Claim>,
    service: string
  ) => Effect.Effect<ReadonlySet<number>, Failure>
  /**
   * `sent → outcome`. For a person who cannot be sent, `claimed → not_screened`. A result that arrives when the row is
   * `unknown`, or pending again, becomes its outcome too; if the row was claimed again, it is kept beside the outcome.
   * If the run was complete, or the row was claimed again, the result amends the run. Returns the lines of the rows
   * whose outcome was stored, and the number of amendments.
   */
  readonly settle: (run: string, outcomes: ReadonlyArray<Settlement>) => Effect.Effect<
    { readonly settled: ReadonlySet<number>; readonly amended: number },
    Failure
  >
  /** `claimed → pending` and, for a check that certainly was not performed, `sent → pending`. Returns their number. */
  readonly release: (run: string, rows: ReadonlyArray<Release>) => Effect.Effect<number, Failure>
  /** {@link release} of all rows of these claims, none of which has a request in flight. */
  readonly releaseAll: (run: string, tokens: ReadonlyArray<string>) => Effect.Effect<number, Failure>
  /**
   * For ended leases: `claimed → pending`, `sent → unknown`. `voided`: how many leases were ignored because they were
   * stored later than now. Returns the numbers.
   */
  readonly expire: (
    run: string
  ) => Effect.Effect<{ readonly pending: number; readonly unknown: number; readonly voided: number }, Failure>
  /**
   * `unknown → pending` or `not_screened → pending`, for rows that were unknown less often than `maxUnknown`. Opens a
   * complete run if `reopens`; otherwise it changes nothing in a complete run. Returns the number of rows.
   */
  readonly rescreen: (
    run: string,
    state: "unknown" | "not_screened",
    options: { readonly maxUnknown: number; readonly reopens: boolean }
  ) => Effect.Effect<number, Failure>

  /** Reserves up to `count` requests, so that all workers of the run together reserve at most `max`. Returns how many. */
  readonly reserve: (run: string, count: number, max: number) => Effect.Effect<number, Failure>
  /**
   * Sets the reserved requests of a run to those that were sent, unless a worker still has rows. Returns the reserved
   * requests.
   */
  readonly recount: (run: string) => Effect.Effect<number, Failure>
  /**
   * Reserves `count` turns, `interval` apart and not sooner than in `lead`. Returns the time of the first one, and now, by
   * the database's clock.
   */
  readonly turns: (
    service: string,
    options: { readonly count: number; readonly interval: number; readonly lead: number }
  ) => Effect.Effect<{ readonly first: number; readonly now: number }, Failure>
  /**
   * Pauses all workers of the service. Without a duration: for 1 second, doubled with each pause up to 60 seconds.
   * Returns the remaining pause, and the number of pauses since the service last accepted a request.
   */
  readonly pauseService: (
    service: string,
    millis: number | undefined
  ) => Effect.Effect<{ readonly pausedFor: number; readonly pauses: number }, Failure>
  /** Resets the pauses: the next one without a duration takes 1 second again. */
  readonly resetPauses: (service: string) => Effect.Effect<void, Failure>
  /** Counts failures in a row that concern the service, over all workers, after a reset if `resets`. Returns the sum. */
  readonly countFailures: (
    run: string,
    options: { readonly resets: boolean; readonly count: number }
  ) => Effect.Effect<number, Failure>

  /**
   * Allows up to `count` rows of a run with controls to be sent: at most `every` after the last good round began, and
   * none before the first one. Returns how many, and whether a round is due: then, or after half of them.
   */
  readonly allow: (
    run: string,
    count: number,
    every: number
  ) => Effect.Effect<{ readonly allowed: number; readonly isRoundDue: boolean }, Failure>
  /**
   * Begins a round, if the run is open, a round is due and no other worker has one whose lease holds. The last one is due
   * if no row is left and a row was sent since the last good round began. Returns when the last good round began, in
   * milliseconds of the database's clock, or `undefined` if no round may begin.
   */
  readonly beginRound: (run: string, options: {
    readonly token: string
    readonly every: number
    readonly lease: number
    readonly isLast: boolean
  }) => Effect.Effect<{ readonly goodAt: number | null } | undefined, Failure>
  /** Counts a request before it is sent, and extends the lease. `false`: the round is over, or the run is not open. */
  readonly countControlRequest: (run: string, token: string, lease: number) => Effect.Effect<boolean, Failure>
  /**
   * Ends a round. `found`: rows sent before it are confirmed. `missed`: pauses the run with this reason; each "No"
   * between the good round before it, which began at `since`, and the next one is doubtful, also if another worker has
   * the round meanwhile. `inconclusive`: changes nothing.
   */
  readonly endRound: (
    run: string,
    token: string,
    outcome: "found" | "inconclusive" | { readonly missed: string; readonly since: number | null }
  ) => Effect.Effect<void, Failure>
  /** The controls of a run; none once they are deleted. */
  readonly controls: (run: string) => Effect.Effect<ReadonlyArray<Control>, Failure>
  /** The rows in state `control_failed`, by failure of the controls: how many, and when they were sent. */
  readonly doubtful: (
    run: string
  ) => Effect.Effect<
    ReadonlyArray<{ readonly from: DateTime.Utc; readonly to: DateTime.Utc; readonly count: number }>,
    Failure
  >
  /** Adds an undocumented change of the responses to the run, once. */
  readonly noteUndocumented: (run: string, change: string) => Effect.Effect<void, Failure>

  /** All rows, in the order of their lines. */
  readonly byLine: (run: string) => Stream.Stream<LedgerRow.LedgerRow, Failure>
  /** All rows with an id, in the order of the UTF-8 bytes of their ids. */
  readonly byId: (run: string) => Stream.Stream<LedgerRow.LedgerRow, Failure>
  /** The number of rows that were last sent in each span of `millis`. `bucket` is the start of the span. */
  readonly sentPer: (
    run: string,
    millis: number
  ) => Effect.Effect<ReadonlyArray<{ readonly bucket: number; readonly count: number }>, Failure>
  /**
   * The people of a run in the order of their ids, and when the check of their last result was sent, in any run of the
   * same service and environment.
   */
  readonly lastResults: (
    run: string
  ) => Stream.Stream<{ readonly id: string; readonly lastResultAt: DateTime.Utc | null }, Failure>
  /** The ids of the people to whom a check was last sent in this span, in milliseconds, in any run of the service. */
  readonly sentBetween: (
    where: { readonly service: string; readonly environment: string },
    span: { readonly from: number; readonly to: number }
  ) => Effect.Effect<ReadonlyArray<string>, Failure>
  /** Appends entries to the history, all or none. */
  readonly append: (entries: ReadonlyArray<NewEntry>) => Effect.Effect<void, Failure>
  /** The entries about these people, the oldest first. */
  readonly historyOf: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<History.Entry>, Failure>
  /** All entries, the oldest first. */
  readonly history: Stream.Stream<History.Entry, Failure>
  /** Whether nothing of this person may be erased. */
  readonly isOnHold: (id: string) => Effect.Effect<boolean, Failure>
  readonly ofPerson: (id: string) => Effect.Effect<OfPerson, Failure>
  /**
   * Deletes the rows of runs planned more than `olderThan` ago, plans that were begun more than a day ago and not
   * completed, and the history before `historyOlderThan`, except those of people on hold. Keeps the counts. Returns the
   * erased runs.
   */
  readonly erase: (ages: {
    readonly olderThan: number
    readonly historyOlderThan?: number | undefined
  }) => Effect.Effect<ReadonlyArray<string>, Failure | LedgerInUse>
  /**
   * Empties the rows of one person in all runs, which become `erased`, deletes the person's history unless
   * `keepsHistory`, and appends that `actor` erased somebody. Deletes the person from the controls, too. Returns the number
   * of runs, or `undefined` if the person is on hold.
   */
  readonly erasePerson: (
    id: string,
    options: { readonly actor: string; readonly keepsHistory: boolean }
  ) => Effect.Effect<number | undefined, Failure | LedgerInUse>
}
