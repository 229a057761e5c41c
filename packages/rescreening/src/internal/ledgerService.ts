/** The interface of the ledger, which `Ledger` exports. */
import type { SqlError } from "@effect/sql/SqlError"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type * as LedgerRow from "../LedgerRow.ts"
import type { LedgerInUse, LedgerUnavailable, RunNotFound } from "../RescreeningError.ts"
import type * as Run from "../Run.ts"

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
  readonly people: Run.Run["people"]
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
 * A worker of a run, under one lease.
 *
 * @category models
 * @since 0.1.0
 */
export interface Worker {
  readonly run: string
  /** The token of the worker under this lease. A row has the token of its last claim. */
  readonly worker: string
}

/**
 * A row that a worker holds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim extends Worker {
  readonly line: number
  readonly id: string
  readonly person: string | null
  /** How often the row was sent before. */
  readonly timesSent: number
}

/**
 * The outcome of a row.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome {
  readonly state: Exclude<typeof Run.outcomes[number], "wrong_row">
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
 * The outcome of one row of a worker.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settlement {
  readonly line: number
  readonly outcome: Outcome
}

/**
 * Whether a worker may continue.
 *
 * @category models
 * @since 0.1.0
 */
export interface WorkerState {
  readonly state: Run.Run["state"]
  readonly reason: string | null
  /** The remaining time of the lease, in milliseconds; 0 or less if it ended. */
  readonly leaseLeft: number
  /** The remaining pause of the service, in milliseconds; 0 or less if there is none. */
  readonly pausedFor: number
  readonly failuresInRow: number
  /** The number of pauses since the service last accepted a request. */
  readonly pauses: number
}

/**
 * @category models
 * @since 0.1.0
 */
export type NewDecision = Omit<LedgerRow.Decision, "decidedAt">

/**
 * The ledger. An effect that returns a boolean returns whether it made the transition, that is, whether the row or run
 * was in the required state. Leases and pauses are in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** Keys the digests of this ledger. Without it, a digest could be looked up in a list of people. */
  readonly salt: Redacted.Redacted

  /**
   * Stores a run and all its rows, or nothing. No operation finds the run before it has all its rows. Returns `false` if
   * the name is taken. Waits while another process plans the run, and replaces that process if it is silent for 30
   * seconds. Calls `digest` last.
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
  /** Pauses an open run for all workers. */
  readonly pause: (run: string, reason: string) => Effect.Effect<boolean, Failure>
  /** Opens a paused or complete run, and resets its count of failures in a row. */
  readonly resume: (run: string) => Effect.Effect<boolean, Failure>
  /** Completes an open run if each row has an outcome, and each `unknown` row was unknown at least `unknown` times. */
  readonly complete: (run: string, options: { readonly unknown: number }) => Effect.Effect<boolean, Failure>
  /** Returns whether the rows of a shard are as `complete` requires the rows of a run. */
  readonly isShardComplete: (
    run: string,
    shard: number,
    options: { readonly unknown: number }
  ) => Effect.Effect<boolean, Failure>

  /** Registers a worker of a run, with a lease. Returns its token. */
  readonly register: (run: string, lease: number) => Effect.Effect<string, Failure>
  /** Extends a lease that has not ended. */
  readonly renew: (worker: string, lease: number) => Effect.Effect<boolean, Failure>
  readonly workerState: (run: string, worker: string, service: string) => Effect.Effect<WorkerState, Failure>
  /** `pending → claimed`, for at most `limit` rows of a shard, in the order of their lines. */
  readonly claim: (from: {
    readonly run: string
    readonly shard: number
    readonly worker: string
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<Claim>, Failure>
  /**
   * `claimed → sent` for those of the worker's rows whose transition is allowed: the lease holds, the run is open, and
   * the service is not paused. Returns their lines. The transitions survive a power failure; on another client for SQLite
   * than that of `layerSqlite`, only if its `synchronous` is `FULL`.
   */
  readonly send: (
    worker: Worker,
    lines: ReadonlyArray<number>,
    service: string
  ) => Effect.Effect<ReadonlySet<number>, Failure>
  /**
   * `sent → outcome`. For a late response also `unknown → outcome`, unless the row was claimed again. For a person who
   * cannot be sent, `claimed → not_screened`. Returns the lines of the rows that made the transition.
   */
  readonly settle: (worker: Worker, outcomes: ReadonlyArray<Settlement>) => Effect.Effect<ReadonlySet<number>, Failure>
  /** `claimed → pending` and, for a check that certainly was not performed, `sent → pending`. */
  readonly release: (claim: Claim) => Effect.Effect<boolean, Failure>
  /** `claimed → pending` for all rows of a worker. Returns their number. */
  readonly releaseClaimed: (run: string, worker: string) => Effect.Effect<number, Failure>
  /** For ended leases: `claimed → pending`, `sent → unknown`. Returns their numbers. */
  readonly expire: (
    run: string
  ) => Effect.Effect<{ readonly pending: number; readonly unknown: number }, Failure>
  /**
   * `unknown → pending` or `not_screened → pending`, for rows that were unknown less often than `maxUnknown`. Changes
   * nothing in a complete run. Returns the number of rows.
   */
  readonly rescreen: (
    run: string,
    state: "unknown" | "not_screened",
    options: { readonly maxUnknown: number }
  ) => Effect.Effect<number, Failure>

  /** Reserves `count` turns, `interval` milliseconds apart. Returns the milliseconds until the first one. */
  readonly slots: (
    service: string,
    options: { readonly count: number; readonly interval: number }
  ) => Effect.Effect<number, Failure>
  /** Pauses all workers of the service. Without a duration: for 1 second, doubled with each pause up to 60 seconds. */
  readonly pauseService: (service: string, millis: number | undefined) => Effect.Effect<void, Failure>
  /** Resets the pauses: the next one without a duration takes 1 second again. */
  readonly resetPauses: (service: string) => Effect.Effect<void, Failure>
  /** Counts a failure that concerns the service. Returns the number of failures in a row, over all workers. */
  readonly countFailure: (run: string) => Effect.Effect<number, Failure>
  /** Resets the count of failures in a row. */
  readonly resetFailures: (run: string) => Effect.Effect<void, Failure>

  /** All rows, in the order of their lines. */
  readonly byLine: (run: string) => Stream.Stream<LedgerRow.LedgerRow, Failure>
  /** All rows with an id, in the order of the UTF-8 bytes of their ids. */
  readonly byId: (run: string) => Stream.Stream<LedgerRow.LedgerRow, Failure>
  /** The number of rows that were last sent in each span of `millis`. `bucket` is the start of the span. */
  readonly sentPer: (
    run: string,
    millis: number
  ) => Effect.Effect<ReadonlyArray<{ readonly bucket: number; readonly count: number }>, Failure>
  readonly decide: (decision: NewDecision) => Effect.Effect<void, Failure>
  readonly decisions: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<LedgerRow.Decision>, Failure>
  /**
   * Deletes the rows of runs planned more than `olderThan` milliseconds ago, and the decisions about evidence that no
   * run has any more. Keeps the counts. Returns the erased runs.
   */
  readonly erase: (olderThan: number) => Effect.Effect<ReadonlyArray<string>, Failure | LedgerInUse>
}
