/**
 * Reports the outcome of each row of a run: CSV for people, JSON Lines for programs, and an HTML page with the counts.
 *
 * @since 0.1.0
 */
import { stringify } from "csv-stringify/sync"
import * as Chunk from "effect/Chunk"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Comparison from "./Comparison.ts"
import * as Page from "./internal/report/page.ts"
import * as Ledger from "./Ledger.ts"
import type * as LedgerRow from "./LedgerRow.ts"
import { RunErased, type RunIncomplete, type RunNotFound, SumsDiffer } from "./RescreeningError.ts"
import * as Run from "./Run.ts"

/**
 * A row of a report. It has no name and no date of birth.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly line: number
  /** The key of the person; empty in a wrong row. */
  readonly id: string
  /** In a run that is not complete, rows may still be `pending`, `claimed` or `sent`. */
  readonly outcome: Run.State
  /** The result as the service wrote it; empty if there is none. */
  readonly match_found: "No" | "Potential match" | ""
  /** The problems of a wrong row, or the signs of damage in the name or date. */
  readonly codes: ReadonlyArray<string>
  /** The tag of the failure, if there is no result. */
  readonly error: string
  readonly check_id: string
  readonly searched_on: string
  /** ISO 8601, by the database's clock. */
  readonly sent_at: string
  readonly settled_at: string
  /** HMAC-SHA-256 of the SHA-256 of the response, in hex, with the salt of the ledger. */
  readonly response_digest: string
  readonly times_sent: number
  /** The number of checks of this row without a response. If over 0, the row may have been billed without a result. */
  readonly times_unknown: number
  /** The reviewer's decision about the same evidence; `review_again` if the decision was about other evidence. */
  readonly decision: string
  /** The outcomes of checks whose result arrived after the row was claimed again. */
  readonly late: ReadonlyArray<Run.State>
}

const columns = [
  "line",
  "id",
  "outcome",
  "match_found",
  "codes",
  "error",
  "check_id",
  "searched_on",
  "sent_at",
  "settled_at",
  "response_digest",
  "times_sent",
  "times_unknown",
  "decision",
  "late"
] as const satisfies ReadonlyArray<keyof Row>

type ReportFailure = Ledger.Failure | RunNotFound | RunErased | SumsDiffer

const matchFound = {
  no_match: "No",
  no_match_doubtful: "No",
  potential_match: "Potential match",
  not_screened: "",
  unknown: "",
  wrong_row: "",
  pending: "",
  claimed: "",
  sent: ""
} as const satisfies Record<Run.State, Row["match_found"]>

const iso = (time: DateTime.Utc | null): string => time === null ? "" : DateTime.formatIso(time)

const toRow = (row: LedgerRow.LedgerRow, decisions: ReadonlyArray<LedgerRow.Decision>): Row => {
  const same = decisions.find(({ contentDigest }) => contentDigest === row.contentDigest)
  return {
    line: row.line,
    id: row.id ?? "",
    outcome: row.state,
    match_found: matchFound[row.state],
    codes: row.codes,
    error: row.error ?? "",
    check_id: row.checkId ?? "",
    searched_on: row.searchedOn ?? "",
    sent_at: iso(row.sentAt),
    settled_at: iso(row.settledAt),
    response_digest: row.responseDigest ?? "",
    times_sent: row.timesSent,
    times_unknown: row.timesUnknown,
    decision: same?.decision ?? (decisions.length > 0 && row.contentDigest !== null ? "review_again" : ""),
    late: row.late.map(({ state }) => state)
  }
}

/** Whether a person must review the row. */
const needsReview = ({ state }: LedgerRow.LedgerRow) => state === "potential_match" || state === "no_match_doubtful"

const findRun = (id: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = yield* ledger.run(id)
    return run.erasedAt === null ? { ledger, run } : yield* new RunErased({ run: id })
  })

/**
 * Returns all rows of a run, in the order of their lines. Fails at the end with `SumsDiffer` if their number is not the
 * planned one.
 *
 * @category reports
 * @since 0.1.0
 */
export const rows = (run: string): Stream.Stream<Row, ReportFailure, Ledger.Ledger> =>
  Stream.unwrap(Effect.map(findRun(run), ({ ledger, run: { id, total } }) => {
    let count = 0
    return ledger.byLine(id).pipe(
      Stream.mapChunksEffect((chunk) =>
        Effect.gen(function*() {
          count += chunk.length
          const ids = Chunk.toReadonlyArray(chunk).filter(needsReview).flatMap(({ id }) => id === null ? [] : [id])
          const decisions = new Map<string, Array<LedgerRow.Decision>>()
          for (const decision of yield* ledger.decisions(ids)) {
            const others = decisions.get(decision.id) ?? []
            others.push(decision)
            decisions.set(decision.id, others)
          }
          return Chunk.map(chunk, (row) => toRow(row, decisions.get(row.id ?? "") ?? []))
        })
      ),
      Stream.concat(
        Stream.suspend(() =>
          count === total ? Stream.empty : Stream.fail(new SumsDiffer({ run: id, planned: total, found: count }))
        )
      )
    )
  }))

/** The rows in parts that are not empty: a file cannot be written from an empty text, and the last page of a run may be. */
const parts = (run: string) => Stream.filter(Stream.chunks(rows(run)), Chunk.isNonEmpty)

const cell = (value: Row[keyof Row]) => typeof value === "object" ? value.join(" ") : value

/**
 * Returns the rows as CSV in UTF-8, with a header. A cell that a spreadsheet could read as a formula starts with `'`.
 *
 * @category reports
 * @since 0.1.0
 */
export const csv = (run: string): Stream.Stream<string, ReportFailure, Ledger.Ledger> =>
  Stream.concat(
    Stream.succeed(stringify([columns])),
    Stream.map(parts(run), (chunk) =>
      stringify(
        Chunk.toReadonlyArray(chunk).map((row) => columns.map((column) => cell(row[column]))),
        { escape_formulas: true }
      ))
  )

/**
 * Returns the rows as JSON Lines.
 *
 * @category reports
 * @since 0.1.0
 */
export const jsonLines = (run: string): Stream.Stream<string, ReportFailure, Ledger.Ledger> =>
  Stream.map(
    parts(run),
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
 * It counts the rows that were sent again after they were unknown. They may be billed twice. So may `not_screened` rows
 * that were sent again, if their check had a response, such as a 500; the page does not count these.
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
}): Effect.Effect<string, ReportFailure | RunIncomplete, Ledger.Ledger> =>
  Effect.gen(function*() {
    const { ledger, run: { completedAt, plannedAt, policy, state, ...rest } } = yield* findRun(run)
    const counts = yield* ledger.counts(run)
    if (Run.total(counts) !== rest.total) {
      return yield* new SumsDiffer({ run, planned: rest.total, found: Run.total(counts) })
    }
    const reviews: Page.Reviews = {
      late: [],
      potential_match: [],
      no_match_doubtful: [],
      unknown: [],
      not_screened: []
    }
    let lateResults = 0
    let timesSent = 0
    let sentAgain = 0
    yield* Stream.runForEachChunk(rows(run), (chunk) =>
      Effect.sync(() => {
        for (const row of chunk) {
          timesSent += row.times_sent
          if (wasSentAgain(row)) sentAgain++
          const { late, outcome } = row
          if (late.length > 0) lateResults++
          for (
            const heading of [
              ...(late.length > 0 ? ["late" as const] : []),
              ...(Page.isReview(outcome) ? [outcome] : [])
            ]
          ) {
            if (!policy.keysOnPage || reviews[heading].length >= mostListed) continue
            const note = [
              ...(heading === "late" ? [`${outcome}, late: ${late.join(" ")}`] : []),
              ...row.codes,
              row.error
            ]
            reviews[heading].push({ id: row.id, decision: row.decision, note: note.join(" ").trim() })
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
      plannedAt: iso(plannedAt),
      completedAt: iso(completedAt),
      amended: rest.amended,
      counts,
      reviewCounts: { ...counts, late: lateResults },
      timesSent,
      sentAgain,
      rate: policy.rate,
      perSecond,
      reviews,
      showsKeys: policy.keysOnPage,
      changes: options?.since === undefined || state !== "complete"
        ? undefined
        : yield* changesSince(options.since, run)
    })
  })
