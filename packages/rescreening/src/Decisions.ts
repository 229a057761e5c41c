/**
 * The decisions of reviewers about potential matches and doubtful "No"s, as an append-only history. A decision is bound
 * to the evidence that the reviewer saw; the library never omits a match because of it.
 *
 * @since 0.1.0
 */
import * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as History from "./History.ts"
import * as Ledger from "./Ledger.ts"
import type * as LedgerRow from "./LedgerRow.ts"
import { DecisionsRejected, RunErased, type RunNotFound } from "./RescreeningError.ts"
import type * as Run from "./Run.ts"

/**
 * A decision to store.
 *
 * @category models
 * @since 0.1.0
 */
export interface NewDecision {
  /** The key of the person. */
  readonly id: string
  /** The `digest` of the report or of `Matches`, by which the reviewer names the evidence. */
  readonly digest: string
  /** A text of your choice, such as `false_positive`: 1 to 64 letters, digits, dots, hyphens or underscores. */
  readonly decision: string
  /** A code of your choice for the reason, such as `other_birth_year`, in the same characters. */
  readonly reason: string
}

/**
 * What the history says about the evidence of a person.
 *
 * - `none`: there is no decision.
 * - `decided`: the decision counts.
 * - `awaiting_approval`: the policy requires a second person, who has not approved the decision.
 * - `review_again`: the decisions are about other evidence, or too old.
 *
 * @category models
 * @since 0.1.0
 */
export interface Standing {
  readonly status: "none" | "decided" | "awaiting_approval" | "review_again"
  /** The decision, if the status is `decided` or `awaiting_approval`. */
  readonly decision?: History.Entry | undefined
  /** Its approval by another person. */
  readonly approval?: History.Entry | undefined
}

type Evidence = Pick<LedgerRow.LedgerRow, "state" | "contentDigest" | "responseDigest" | "late">

/**
 * Returns the digest to which a decision is bound, usually derived from `contentDigest`. If the policy ignores
 * profile addresses, a potential match has the digest of its response, because another hit could have equal fields. If
 * a potential match arrived late, the digest also covers all late results, even of a row without a result.
 *
 * @category getters
 * @since 0.1.0
 */
export const digestOf = (
  { late, ...row }: Evidence,
  { profileAddress }: Pick<Run.Policy, "profileAddress">
): string | null => {
  const own = ({ contentDigest, responseDigest, state }: LedgerRow.LedgerRow["late"][number] | typeof row) =>
    (profileAddress === "ignored" && state === "potential_match" ? responseDigest : contentDigest) ?? null
  if (!late.some(({ state }) => state === "potential_match")) return own(row)
  return AmlCheck.digest(new TextEncoder().encode([row, ...late].map((result) => own(result) ?? "").join(" ")))
}

/**
 * Returns what reads the history of people for {@link standing} in this run: without the entries of runs of another
 * service or environment. A decision of version 1 of the tables names no run, so it must be made again.
 *
 * @category getters
 * @since 0.1.0
 */
export const historyFor = ({ environment, service }: Pick<Run.Run, "environment" | "service">): Effect.Effect<
  (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<History.Entry>, Ledger.Failure>,
  Ledger.Failure,
  Ledger.Ledger
> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const runs = new Set(
      (yield* ledger.runs).flatMap((run) => run.service === service && run.environment === environment ? [run.id] : [])
    )
    return (ids: ReadonlyArray<string>) =>
      Effect.map(ledger.historyOf(ids), (entries) =>
        entries.flatMap((entry) =>
          entry.run === null ? [{ ...entry, digest: null }] : runs.has(entry.run) ? [entry] : []
        ))
  })

const isSamePerson = (a: string, b: string) => normalized(a) === normalized(b)
const normalized = (name: string) => name.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase()

/**
 * Returns what the history of one person says about this evidence. Only the last decision about it can count, so a
 * second opinion needs an approval of its own.
 *
 * @category getters
 * @since 0.1.0
 */
export const standing = (
  history: ReadonlyArray<History.Entry>,
  digest: string | null,
  { decisionsValidDays, fourEyes, now }: Pick<Run.Policy, "fourEyes" | "decisionsValidDays"> & {
    readonly now: DateTime.Utc
  }
): Standing => {
  const decided = history.filter(({ kind }) => kind === "decided")
  if (digest === null || decided.length === 0) return { status: "none" }
  const decision = decided.findLast((entry) => entry.digest === digest)
  if (decision === undefined) return { status: "review_again" }
  const validUntil = decisionsValidDays === undefined
    ? undefined
    : DateTime.addDuration(decision.at, Duration.days(decisionsValidDays))
  if (validUntil !== undefined && DateTime.greaterThanOrEqualTo(now, validUntil)) return { status: "review_again" }
  const approval = history.find(({ actor, approves, digest: approved, kind }) =>
    kind === "approved" && approves === decision.entry && approved === digest && !isSamePerson(actor, decision.actor)
  )
  return fourEyes && approval === undefined
    ? { status: "awaiting_approval", decision }
    : { status: "decided", decision, approval }
}

const code = /^[\w.-]{1,64}$/
const reserved: ReadonlySet<string> = new Set<Standing["status"]>(["none", "awaiting_approval", "review_again"])

/** The current digests of these people in a run. */
const digestsOf = (run: string, ids: ReadonlySet<string>) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { erasedAt, policy } = yield* ledger.run(run)
    if (erasedAt !== null) return yield* new RunErased({ run })
    const digests = new Map<string, string | null>()
    yield* Stream.runForEach(ledger.byId(run), (row) =>
      Effect.sync(() => {
        if (row.id !== null && ids.has(row.id)) digests.set(row.id, digestOf(row, policy))
      }))
    return digests
  })

/**
 * Appends decisions, or the approvals of decisions, about results of a run: all, or none if one cannot be accepted.
 * Fails with `DecisionsRejected` if a person has no result in the run, if the evidence is not the one that the reviewer
 * saw, and, for approvals, if there is no such decision or the same person made it.
 *
 * @category reviewing
 * @since 0.1.0
 */
export const store = (run: string, decisions: ReadonlyArray<NewDecision>, options: {
  /** Who decides or approves. The ledger compares names without regard to case and blanks. */
  readonly reviewer: string
  /**
   * Whether these approve decisions that another person stored, with the same text about the same evidence.
   *
   * @default false
   */
  readonly approves?: boolean | undefined
}): Effect.Effect<
  void,
  Ledger.Failure | RunNotFound | RunErased | DecisionsRejected,
  Ledger.Ledger
> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { approves = false, reviewer } = options
    const refuseIf = (reason: DecisionsRejected["reason"], isWrong: (decision: NewDecision) => boolean) => {
      const positions = decisions.flatMap((decision, index) => isWrong(decision) ? [index + 1] : [])
      return positions.length === 0 ? Effect.void : Effect.fail(new DecisionsRejected({ run, reason, positions }))
    }
    yield* refuseIf(
      "malformed",
      ({ decision, reason }) => !code.test(decision) || !code.test(reason) || reserved.has(decision)
    )
    const ids = new Set(decisions.map(({ id }) => id))
    const digests = yield* digestsOf(run, ids)
    yield* refuseIf("no_result", ({ id }) => (digests.get(id) ?? null) === null)
    yield* refuseIf("evidence_changed", ({ digest, id }) => digests.get(id) !== digest)
    const historyOf = yield* historyFor(yield* ledger.run(run))
    const history = approves ? yield* historyOf([...ids]) : []
    const decided = ({ digest, id }: NewDecision) =>
      history.findLast((entry) => entry.kind === "decided" && entry.id === id && entry.digest === digest)
    if (approves) {
      yield* refuseIf("nothing_to_approve", (decision) => {
        const found = decided(decision)
        return found?.decision !== decision.decision || found.reason !== decision.reason
      })
      yield* refuseIf("same_reviewer", (decision) => isSamePerson(decided(decision)?.actor ?? "", reviewer))
    }
    yield* ledger.append(decisions.map((decision) => ({
      ...decision,
      kind: approves ? "approved" as const : "decided" as const,
      actor: reviewer,
      run,
      approves: decided(decision)?.entry ?? null
    })))
  })
