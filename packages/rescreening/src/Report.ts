/**
 * Reports the outcome of each row of a run: CSV for people, JSON Lines for programs, and an HTML page with the counts.
 *
 * @since 0.1.0
 */
import { stringify } from "csv-stringify/sync"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Comparison from "./Comparison.ts"
import * as Page from "./internal/report/page.ts"
import * as Rows from "./internal/report/rows.ts"
import type * as Ledger from "./Ledger.ts"
import type * as People from "./People.ts"
import {
  type EncryptionKeyError,
  type RunErased,
  type RunIncomplete,
  type RunNotFound,
  type RunsNotComparable,
  SumsDiffer
} from "./RescreeningError.ts"
import * as Run from "./Run.ts"

export type { Row } from "./internal/report/rows.ts"

type Row = Rows.Row

type ReportFailure = Ledger.Failure | RunNotFound | RunErased | SumsDiffer

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Decrypts the evidence of matches, for the column `aml_profile`.
   *
   * @default the column shows `encrypted`
   */
  readonly people?: People.Service | undefined
}

/**
 * Returns all rows of a run, in the order of their lines. Fails at the end with `SumsDiffer` if their number is not the
 * planned one.
 *
 * @category reports
 * @since 0.1.0
 */
export const rows = (
  run: string,
  options?: Options
): Stream.Stream<Row, ReportFailure | EncryptionKeyError, Ledger.Ledger> =>
  Stream.map(Rows.all(run, options?.people), ({ row }) => row)

/** The rows in parts that are not empty: a file cannot be written from an empty text, and the last page of a run may be. */
const parts = (run: string, options?: Options) => Stream.filter(Stream.chunks(rows(run, options)), Chunk.isNonEmpty)

const cell = (value: Row[keyof Row]) => typeof value === "object" ? value.join(" ") : value

/**
 * Returns the rows as CSV in UTF-8, with a header. A cell that a spreadsheet could read as a formula starts with `'`.
 *
 * @category reports
 * @since 0.1.0
 */
export const csv = (
  run: string,
  options?: Options
): Stream.Stream<string, ReportFailure | EncryptionKeyError, Ledger.Ledger> =>
  Stream.concat(
    Stream.succeed(stringify([Rows.columns])),
    Stream.map(parts(run, options), (chunk) =>
      stringify(
        Chunk.toReadonlyArray(chunk).map((row) => Rows.columns.map((column) => cell(row[column]))),
        { escape_formulas: true }
      ))
  )

/**
 * Returns the rows as JSON Lines.
 *
 * @category reports
 * @since 0.1.0
 */
export const jsonLines = (
  run: string,
  options?: Options
): Stream.Stream<string, ReportFailure | EncryptionKeyError, Ledger.Ledger> =>
  Stream.map(
    parts(run, options),
    (chunk) => Chunk.toReadonlyArray(chunk).map((row) => `${JSON.stringify(row)}\n`).join("")
  )

/**
 * Estimates from two counters whether the row was sent again after it was unknown. It can be wrong for a row that the
 * service also rejected with a 429.
 */
const wasSentAgain = ({ outcome, times_sent, times_unknown }: Row): boolean =>
  times_sent > 1 && times_unknown > (outcome === "unknown" || outcome === "pending" || outcome === "claimed" ? 1 : 0)

/** The most keys that the page lists under one heading. The CSV has all. */
const mostListed = 1000

/** Counts the changes since an earlier run, and collects the first ones of each kind. */
const changesSince = (since: string, run: string) =>
  Effect.gen(function*() {
    const counts = {
      newly_matched: 0,
      no_longer_matched: 0,
      newly_unknown: 0,
      no_longer_unknown: 0,
      new_in_population: 0,
      gone_from_population: 0,
      evidence_changed: 0,
      unchanged: 0
    }
    const listed: Record<Page.ChangeKind, Array<Page.Changed>> = {
      newly_matched: [],
      no_longer_matched: [],
      newly_unknown: [],
      no_longer_unknown: [],
      new_in_population: [],
      gone_from_population: [],
      evidence_changed: []
    }
    yield* Stream.runForEach(Comparison.compare(since, run), ({ after, before, id, kind }) =>
      Effect.sync(() => {
        counts[kind]++
        if (kind === "unchanged" || listed[kind].length >= mostListed) return
        listed[kind].push({ id, before: before?.outcome ?? "", after: after?.outcome ?? "" })
      }))
    return { since, counts, listed, wrongRows: yield* Comparison.wrongRows(since, run) } satisfies Page.Changes
  })

/**
 * Returns an HTML page in one file: the counts, the changes since an earlier run, the rate over time and, if the
 * policy shows keys, the keys that a person should review.
 *
 * It lists the rows that were sent again after they were unknown. They may be billed twice. So may `not_screened` rows
 * that were sent again, if their check had a response, such as a 500; the page does not list these.
 *
 * @category reports
 * @since 0.1.0
 */
export const page = (run: string, options?: {
  /**
   * An earlier run, which is complete. If `run` is complete too, the page shows whose result changed since.
   *
   * @default no changes are shown
   */
  readonly since?: string | undefined
}): Effect.Effect<string, ReportFailure | RunIncomplete | RunsNotComparable | EncryptionKeyError, Ledger.Ledger> =>
  Effect.gen(function*() {
    const { ledger, run: { completedAt, plannedAt, policy, state, ...rest } } = yield* Rows.findRun(run)
    const counts = yield* ledger.counts(run)
    if (Run.total(counts) !== rest.total) {
      return yield* new SumsDiffer({ run, planned: rest.total, found: Run.total(counts) })
    }
    const reviews: Page.Reviews = {
      sent_again: [],
      late: [],
      potential_match: [],
      no_match_doubtful: [],
      unknown: [],
      not_screened: []
    }
    const toDo = { undecided: 0, review_again: 0, awaiting_approval: 0 }
    const reviewCounts = {
      sent_again: 0,
      late: 0,
      potential_match: 0,
      no_match_doubtful: 0,
      unknown: 0,
      not_screened: 0
    }
    let timesSent = 0
    yield* Stream.runForEachChunk(rows(run), (chunk) =>
      Effect.sync(() => {
        for (const row of chunk) {
          timesSent += row.times_sent
          const { decision, late, outcome } = row
          const task = Rows.reviewTask(row)
          if (task !== undefined) toDo[task]++
          for (
            const heading of [
              ...(wasSentAgain(row) ? ["sent_again" as const] : []),
              ...(late.length > 0 ? ["late" as const] : []),
              ...(Page.isReview(outcome) ? [outcome] : [])
            ]
          ) {
            reviewCounts[heading]++
            if (!policy.keysOnPage || reviews[heading].length >= mostListed) continue
            const note = [
              ...(heading === "late" ? [`${outcome}, late: ${late.join(" ")}`] : []),
              ...(heading === "sent_again" ? [`${outcome}, sent ${row.times_sent} times`] : []),
              ...row.codes,
              row.error
            ]
            reviews[heading].push({ id: row.id, checkId: row.check_id, decision, note: note.join(" ").trim() })
          }
        }
      }))
    const second = 1000
    const perSecond = yield* ledger.sentPer(run, second)
    return Page.render({
      run: rest.id,
      service: rest.service,
      state,
      digest: rest.digest,
      plannedAt: Rows.iso(plannedAt),
      completedAt: Rows.iso(completedAt),
      amended: rest.amended,
      counts,
      toDo,
      doubtful: (yield* ledger.doubtful(run)).map(({ count, from, to }) => ({
        count,
        from: Rows.iso(from),
        to: Rows.iso(to)
      })),
      controls: rest.controls === 0
        ? "none"
        : `${rest.controls}, found in ${rest.controlRounds} rounds, ${rest.controlRequests} requests, last at ${
          Rows.iso(rest.controlledAt)
        }`,
      undocumented: rest.undocumented,
      reviewCounts,
      timesSent,
      rate: policy.rate,
      perSecond,
      reviews,
      showsKeys: policy.keysOnPage,
      changes: options?.since === undefined || state !== "complete"
        ? undefined
        : yield* changesSince(options.since, run)
    })
  })
