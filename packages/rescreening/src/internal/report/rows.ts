/** The rows of a report. */
import * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as Chunk from "effect/Chunk"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Decisions from "../../Decisions.ts"
import type * as History from "../../History.ts"
import * as Ledger from "../../Ledger.ts"
import type * as LedgerRow from "../../LedgerRow.ts"
import type * as People from "../../People.ts"
import { type EncryptionKeyError, RunErased, SumsDiffer } from "../../RescreeningError.ts"
import type * as Run from "../../Run.ts"

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
  /**
   * The address of the profile, for rows that a person must review: `encrypted` if the report was made without a key,
   * and `not stored` if the policy keeps no evidence. The service returns one with a "No" too.
   */
  readonly aml_profile: string
  readonly searched_on: string
  /** ISO 8601, by the database's clock. */
  readonly sent_at: string
  readonly settled_at: string
  /** HMAC-SHA-256 of the SHA-256 of the response, in hex, with the salt of the ledger. */
  readonly response_digest: string
  readonly times_sent: number
  /** The number of checks of this row without a response. If over 0, the row may have been billed without a result. */
  readonly times_unknown: number
  /** The evidence that a decision names, for potential matches and doubtful "No"s. */
  readonly digest: string
  /**
   * The decision about the same evidence; `awaiting_approval` if a second person must approve it, `review_again` if the
   * decisions are about other evidence or too old.
   */
  readonly decision: string
  /** The reason, the reviewer and the time of the decision, and who approved it. */
  readonly reason: string
  readonly reviewer: string
  readonly decided_at: string
  readonly approver: string
  /** The outcomes of checks whose result arrived after the row was claimed again. */
  readonly late: ReadonlyArray<Run.State>
}

export const columns = [
  "line",
  "id",
  "outcome",
  "match_found",
  "codes",
  "error",
  "check_id",
  "aml_profile",
  "searched_on",
  "sent_at",
  "settled_at",
  "response_digest",
  "times_sent",
  "times_unknown",
  "digest",
  "decision",
  "reason",
  "reviewer",
  "decided_at",
  "approver",
  "late"
] as const satisfies ReadonlyArray<keyof Row>

const matchFound = {
  no_match: "No",
  no_match_doubtful: "No",
  potential_match: "Potential match",
  control_failed: "No",
  not_screened: "",
  unknown: "",
  wrong_row: "",
  erased: "",
  pending: "",
  claimed: "",
  sent: ""
} as const satisfies Record<Run.State, Row["match_found"]>

export const iso = (time: DateTime.Utc | null): string => time === null ? "" : DateTime.formatIso(time)

const toRow = (
  row: LedgerRow.LedgerRow,
  amlProfile: string,
  digest: string | null,
  standing: Decisions.Standing
): Row => {
  const { approval, decision, status } = standing
  return {
    line: row.line,
    id: row.id ?? "",
    outcome: row.state,
    match_found: matchFound[row.state],
    codes: row.codes,
    error: row.error ?? "",
    check_id: row.checkId ?? "",
    aml_profile: amlProfile,
    searched_on: row.searchedOn ?? "",
    sent_at: iso(row.sentAt),
    settled_at: iso(row.settledAt),
    response_digest: row.responseDigest ?? "",
    times_sent: row.timesSent,
    times_unknown: row.timesUnknown,
    digest: digest ?? "",
    decision: status === "decided" ? decision?.decision ?? "" : status === "none" ? "" : status,
    reason: decision?.reason ?? "",
    reviewer: decision?.actor ?? "",
    decided_at: iso(decision?.at ?? null),
    approver: approval?.actor ?? "",
    late: row.late.map(({ state }) => state)
  }
}

/** Whether a person must review the row. */
export const needsReview = ({ late, state }: Pick<LedgerRow.LedgerRow, "late" | "state">) =>
  state === "potential_match" || state === "no_match_doubtful" || late.some(({ state }) => state === "potential_match")

/** What a reviewer must still do about a row. */
export const reviewTask = (
  { decision, late, outcome }: Row
): "undecided" | "review_again" | "awaiting_approval" | undefined => {
  if (!needsReview({ state: outcome, late: late.map((state) => ({ state })) })) return undefined
  if (decision === "") return "undecided"
  return decision === "review_again" || decision === "awaiting_approval" ? decision : undefined
}

export const findRun = (id: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = yield* ledger.run(id)
    return run.erasedAt === null ? { ledger, run } : yield* new RunErased({ run: id })
  })

const decodeCheck = Schema.decode(Schema.parseJson(AmlCheck.AmlCheck))

/** Decrypts the evidence of a row. Text that is encrypted with the key and is not a check is a defect. */
export const checkOf = (
  people: People.Service,
  run: string,
  { id }: Pick<LedgerRow.LedgerRow, "id">,
  evidence: string
): Effect.Effect<AmlCheck.AmlCheck, EncryptionKeyError> =>
  Effect.flatMap(people.decrypt(run, id ?? "", evidence), (text) => Effect.orDie(decodeCheck(text)))

const profileOf = (people: People.Service | undefined, run: string, row: LedgerRow.LedgerRow) =>
  Effect.gen(function*() {
    if (!needsReview(row) || row.contentDigest === null) return ""
    if (row.evidence === null) return "not stored"
    if (people === undefined) return "encrypted"
    const { credential } = yield* checkOf(people, run, row, row.evidence)
    return Redacted.value(credential.credentials.attributes.amlProfile)
  })

/**
 * All rows of a run with their rows of the ledger, in the order of their lines. Fails at the end with `SumsDiffer` if
 * their number is not the planned one.
 */
export const all = (run: string, people?: People.Service) =>
  Stream.unwrap(Effect.gen(function*() {
    const { ledger, run: { id, policy, total, ...where } } = yield* findRun(run)
    const historyOf = yield* Decisions.historyFor(where)
    let count = 0
    return ledger.byLine(id).pipe(
      Stream.mapChunksEffect((chunk) =>
        Effect.gen(function*() {
          count += chunk.length
          const ids = Chunk.toReadonlyArray(chunk).filter(needsReview).flatMap(({ id }) => id === null ? [] : [id])
          const history = new Map<string, Array<History.Entry>>()
          for (const entry of yield* historyOf(ids)) {
            const id = entry.id ?? ""
            history.set(id, [...history.get(id) ?? [], entry])
          }
          const now = yield* DateTime.now
          return yield* Effect.forEach(chunk, (ledgerRow) => {
            const digest = needsReview(ledgerRow) ? Decisions.digestOf(ledgerRow, policy) : null
            const standing = Decisions.standing(history.get(ledgerRow.id ?? "") ?? [], digest, { ...policy, now })
            return Effect.map(profileOf(people, id, ledgerRow), (profile) => ({
              ledgerRow,
              row: toRow(ledgerRow, profile, digest, standing)
            }))
          }).pipe(Effect.map(Chunk.unsafeFromArray))
        })
      ),
      Stream.concat(
        Stream.suspend(() =>
          count === total ? Stream.empty : Stream.fail(new SumsDiffer({ run: id, planned: total, found: count }))
        )
      )
    )
  }))
