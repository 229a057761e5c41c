/**
 * The changes between two runs.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Stream from "effect/Stream"
import * as Ledger from "./Ledger.ts"
import type * as LedgerRow from "./LedgerRow.ts"
import { RunErased, RunIncomplete, type RunNotFound, RunsNotComparable } from "./RescreeningError.ts"
import type * as Run from "./Run.ts"

/**
 * The kind of change of a person between two runs.
 *
 * - `newly_matched`: a potential match now, but not before.
 * - `no_longer_matched`: a potential match before, and "No" now.
 * - `newly_unknown`: there was a result, and there is none now.
 * - `no_longer_unknown`: there was no result, and there is a "No" now.
 * - `evidence_changed`: the same result with other evidence, such as another profile address or a sign of damage.
 * - `unchanged`: the same result with the same evidence, or none both times.
 * - `new_in_population`, `gone_from_population`: in only one of the runs, with any result. Wrong rows have no key, so
 *   a person whose row is wrong in the other run has one of these kinds too. {@link wrongRows} counts them.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind =
  | "newly_matched"
  | "no_longer_matched"
  | "newly_unknown"
  | "no_longer_unknown"
  | "evidence_changed"
  | "unchanged"
  | "new_in_population"
  | "gone_from_population"

/**
 * The result of a person in one run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Side {
  readonly outcome: Run.State
  /** HMAC-SHA-256 of the SHA-256 of the response, with the salt of the ledger; `null` if there is none. */
  readonly responseDigest: string | null
  /** The `contentDigest` of the row. */
  readonly contentDigest: string | null
}

/**
 * A person in two runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  readonly id: string
  readonly kind: Kind
  readonly before: Side | null
  readonly after: Side | null
}

const toSide = ({ contentDigest, responseDigest, state }: LedgerRow.LedgerRow): Side => ({
  outcome: state,
  responseDigest,
  contentDigest
})

type Result = "match" | "no_match" | "none"

const results: Record<Run.State, Result> = {
  potential_match: "match",
  no_match: "no_match",
  no_match_doubtful: "no_match",
  control_failed: "none",
  not_screened: "none",
  unknown: "none",
  wrong_row: "none",
  erased: "none",
  pending: "none",
  claimed: "none",
  sent: "none"
}

const kinds: Record<Result, Record<Result, Kind>> = {
  match: { match: "unchanged", no_match: "no_longer_matched", none: "newly_unknown" },
  no_match: { match: "newly_matched", no_match: "unchanged", none: "newly_unknown" },
  none: { match: "newly_matched", no_match: "no_longer_unknown", none: "unchanged" }
}

const kindOf = (before: Side, after: Side): Kind => {
  const kind = kinds[results[before.outcome]][results[after.outcome]]
  return kind === "unchanged" && before.contentDigest !== after.contentDigest ? "evidence_changed" : kind
}

/** The ledger sorts keys by their UTF-8 bytes. The order of UTF-16 strings differs from that. */
const byBytes: Order.Order<string> = Order.make((a, b) =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 ? -1 : 1
)

/**
 * Compares all people of two runs, sorted by key, in constant memory. Fails with `RunErased` if a run was erased,
 * with `RunIncomplete` if a run has rows without an outcome, and with `RunsNotComparable` if the runs have different
 * classes or environments.
 *
 * @category reports
 * @since 0.1.0
 */
export const compare = (
  before: string,
  after: string
): Stream.Stream<
  Change,
  Ledger.Failure | RunNotFound | RunErased | RunIncomplete | RunsNotComparable,
  Ledger.Ledger
> =>
  Stream.unwrap(Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const runs = yield* Effect.all([ledger.run(before), ledger.run(after)])
    for (const { erasedAt, id, state } of runs) {
      if (erasedAt !== null) return yield* new RunErased({ run: id })
      if (state !== "complete") return yield* new RunIncomplete({ run: id })
    }
    for (const differs of ["class", "environment"] as const) {
      if (runs[0][differs] !== runs[1][differs]) return yield* new RunsNotComparable({ before, after, differs })
    }
    const sides = (run: string) => Stream.map(ledger.byId(run), (row) => [row.id ?? "", toSide(row)] as const)
    return Stream.zipAllSortedByKeyWith(sides(before), {
      other: sides(after),
      order: byBytes,
      onSelf: (before): Omit<Change, "id"> => ({ kind: "gone_from_population", before, after: null }),
      onOther: (after): Omit<Change, "id"> => ({ kind: "new_in_population", before: null, after }),
      onBoth: (before, after): Omit<Change, "id"> => ({
        kind: kindOf(before, after),
        before,
        after
      })
    }).pipe(Stream.map(([id, change]) => ({ id, ...change })))
  }))

/**
 * The number of wrong rows of both runs. The ledger stores no key of a wrong row, so the comparison cannot tell whose
 * row it is.
 *
 * @category reports
 * @since 0.1.0
 */
export const wrongRows = (
  before: string,
  after: string
): Effect.Effect<{ readonly before: number; readonly after: number }, Ledger.Failure, Ledger.Ledger> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const count = (run: string) => Effect.map(ledger.counts(run), (counts) => counts.wrong_row)
    return { before: yield* count(before), after: yield* count(after) }
  })
