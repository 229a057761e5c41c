/** The cases for the back office, and the log of who read, screened and concluded each. */
import { AmlCheck, AmlError, Person, Violation } from "@effect-idv/core"
import { HttpApiError } from "@effect/platform"
import { SqlClient, type Statement } from "@effect/sql"
import { Array as Arr, Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { CaseChanged, type Conclusion, HistoryEntry, type Review } from "./Api.ts"
import { type People, Screening } from "./Screening.ts"
import * as Settings from "./Settings.ts"
import * as Store from "./Store.ts"

type Failure = HttpApiError.NotFound | Store.StoreUnavailable

export class Cases extends Context.Tag("onboarding-api/Cases")<Cases, {
  /** True if another applicant with one of these names and the same date of birth is an open case. */
  readonly isInReview: (applicantId: string, people: People) => Effect.Effect<boolean, Store.StoreUnavailable>
  /**
   * Returns up to 100 open cases, oldest first, after the case of an applicant. Fails with `NotFound` if this applicant
   * does not exist. Nothing is returned unless the log says who read it.
   */
  readonly list: (reviewer: string, after?: string) => Effect.Effect<ReadonlyArray<Review>, Failure>
  /** Returns the log of an applicant, and adds that it was read. */
  readonly history: (reviewer: string, applicantId: string) => Effect.Effect<ReadonlyArray<HistoryEntry>, Failure>
  /** Screens the names without a response again, as one more attempt. */
  readonly check: (reviewer: string, applicantId: string) => Effect.Effect<Review, CaseChanged | Failure>
  /** Adds a conclusion. The case is closed by the second reviewer with the same one. */
  readonly conclude: (
    reviewer: string,
    applicantId: string,
    conclusion: Conclusion
  ) => Effect.Effect<{ readonly status: "open" | "closed" }, CaseChanged | Failure>
}>() {}

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  otherNames: Store.Names,
  dateOfBirth: Schema.String,
  startedAt: Schema.DateTimeUtc,
  attempt: Schema.Int,
  attemptStartedAt: Schema.DateTimeUtc,
  reason: Schema.NullOr(Schema.String),
  sent: Schema.NullOr(AmlError.Sent),
  // PostgreSQL returns a sum as text.
  checks: Schema.Union(Schema.Int, Schema.NumberFromString)
})

const EvidenceRow = Schema.Struct({ applicantId: Schema.String, name: Schema.String, content: Schema.String })

const decodeRows = Store.decodeRows(Row)
const decodeStarts = Store.decodeRows(Schema.Struct({ id: Schema.String, startedAt: Schema.String }))
const decodeEvidenceRows = Store.decodeRows(EvidenceRow)
const decodeEvidence = Violation.decodeUnknown(Schema.parseJson(AmlCheck.AmlCheck))
const decodeHistory = Store.decodeRows(HistoryEntry)

type CaseRow = typeof Row.Type
type EvidenceRow = typeof EvidenceRow.Type

/**
 * `isSettled`: no process works on the attempt. `checks`: those whose evidence is as it was stored. `review`: what a reviewer
 * reads.
 */
const toCase = (abandonedBefore: DateTime.Utc, evidence: ReadonlyArray<EvidenceRow>) =>
  Effect.fnUntraced(function*({ attemptStartedAt, checks, id, reason, sent, startedAt, ...row }: CaseRow) {
    const responses = yield* Effect.forEach(
      evidence.filter(({ applicantId }) => applicantId === id),
      ({ content, name }) =>
        Effect.flatMap(decodeEvidence(content), (check) => Effect.as(AmlCheck.verify(check), check)).pipe(
          Effect.option,
          Effect.map((check) => ({ name, check }))
        )
    )
    const interrupted = Store.interrupted(1 + row.otherNames.length)
    return {
      isSettled: reason !== null || DateTime.lessThan(attemptStartedAt, abandonedBefore),
      checks: Arr.getSomes(responses.map(({ check }) => check)),
      review: {
        ...row,
        applicantId: id,
        since: startedAt,
        reason: reason ?? interrupted.reason,
        sent: sent ?? interrupted.sent,
        checks: checks + (reason === null ? interrupted.checks : 0),
        evidence: responses.map(({ check, name }) =>
          Option.match(check, {
            onNone: () => ({ name, state: "refuted" as const }),
            onSome: ({ credential, result }) => ({
              name,
              state: "verified" as const,
              result,
              amlProfile: Redacted.value(credential.credentials.attributes.amlProfile)
            })
          })
        )
      }
    }
  })

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const store = yield* Store.Store
  const { screen } = yield* Screening
  const { lease } = yield* Settings.settings

  /** The first 100 open cases that a condition selects. */
  const openCases = Effect.fnUntraced(function*(condition: Statement.Fragment) {
    const abandonedBefore = DateTime.subtractDuration(yield* DateTime.now, lease)
    // Selects from applicants and not from decisions, because an applicant without a decision may be a match.
    const rows = yield* sql`SELECT a.*, d.reason, d.sent,
        (SELECT coalesce(sum(checks), 0) FROM decisions WHERE applicant_id = a.id) AS checks
      FROM (SELECT id, name, other_names AS "otherNames", date_of_birth AS "dateOfBirth", started_at AS "startedAt",
            coalesce(attempt, 1) AS attempt, coalesce(acted_at, started_at) AS "attemptStartedAt"
          FROM applicants LEFT JOIN (SELECT applicant_id, max(attempt) AS attempt, max(acted_at) AS acted_at
            FROM actions WHERE action = 'check' GROUP BY applicant_id) checks ON applicant_id = id
          WHERE ${condition}) a
        LEFT JOIN decisions s ON s.applicant_id = a.id AND s.attempt = 1
        LEFT JOIN decisions d ON d.applicant_id = a.id AND d.attempt = a.attempt
      WHERE (s.outcome = 'review' OR s.outcome IS NULL AND a."startedAt" < ${DateTime.formatIso(abandonedBefore)})
        AND NOT EXISTS (SELECT 1 FROM actions WHERE applicant_id = a.id AND attempt = a.attempt
          AND action IN ('clear', 'refuse') GROUP BY action HAVING count(*) > 1)
      ORDER BY a."startedAt", a.id LIMIT 100`.pipe(Effect.flatMap(decodeRows))
    const evidence = rows.length === 0 ?
      [] :
      yield* sql`SELECT applicant_id AS "applicantId", name, content FROM evidence
      WHERE ${sql.in("applicant_id", rows.map(({ id }) => id))} ORDER BY name`.pipe(Effect.flatMap(decodeEvidenceRows))
    return yield* Effect.forEach(rows, toCase(abandonedBefore, evidence))
  })

  const startOf = (applicantId: string) =>
    sql`SELECT id, started_at AS "startedAt" FROM applicants WHERE id = ${applicantId}`.pipe(
      Effect.flatMap(decodeStarts),
      Effect.flatMap(Arr.head),
      Effect.catchTag("NoSuchElementException", () => new HttpApiError.NotFound())
    )

  /** The case that a reviewer acts on. */
  const openCase = Effect.fnUntraced(function*(applicantId: string) {
    yield* startOf(applicantId)
    return yield* Effect.flatMap(openCases(sql`id = ${applicantId}`), Arr.head).pipe(
      Effect.catchTag("NoSuchElementException", () => new CaseChanged()),
      Effect.filterOrFail(({ isSettled }) => isSettled, () => new CaseChanged())
    )
  })

  /** Adds an action to the log of each case. Returns false if an index does not allow the last of them. */
  const log = Effect.fnUntraced(function*(
    reviewer: string,
    action: HistoryEntry["action"],
    cases: ReadonlyArray<Pick<Review, "applicantId" | "attempt">>,
    reason: string | null = null
  ) {
    const acted_at = DateTime.formatIso(yield* DateTime.now)
    let isAdded = true
    for (const { applicantId: applicant_id, attempt } of cases) {
      const rows = yield* sql`INSERT INTO actions ${
        sql.insert({ applicant_id, attempt, reviewer, action, reason, acted_at })
      } ON CONFLICT DO NOTHING RETURNING attempt`
      isAdded = rows.length > 0
    }
    return isAdded
  })

  return Cases.of({
    isInReview: (applicantId, people) =>
      Effect.gen(function*() {
        const [{ dateOfBirth }] = yield* Effect.forEach(people, (person) => Schema.encode(Person.FromInput)(person))
        const names = people.map(({ name }) => Redacted.value(name))
        const cases = yield* openCases(sql`date_of_birth = ${dateOfBirth} AND id <> ${applicantId}`)
        return cases.some(({ review: { name, otherNames } }) =>
          Arr.intersection([name, ...otherNames], names).length > 0
        )
      }).pipe(Store.withoutValues("isInReview")),

    list: (reviewer, after) =>
      Effect.gen(function*() {
        const { id, startedAt } = after === undefined ? { id: "", startedAt: "" } : yield* startOf(after)
        const cases = yield* openCases(sql`(started_at, id) > (${startedAt}, ${id})`)
        const reviews = cases.map(({ review }) => review)
        yield* log(reviewer, "read", reviews)
        return reviews
      }).pipe(sql.withTransaction, Store.withoutValues("list")),

    history: (reviewer, applicantId) =>
      Effect.gen(function*() {
        yield* startOf(applicantId)
        const entries = yield* sql`SELECT acted_at AS at, attempt, action, reviewer, reason FROM actions
            WHERE applicant_id = ${applicantId}
          UNION ALL SELECT decided_at, attempt, 'decision', NULL, reason FROM decisions
            WHERE applicant_id = ${applicantId}
          ORDER BY 1`.pipe(Effect.flatMap(decodeHistory))
        yield* log(reviewer, "read", [{ applicantId, attempt: Math.max(...entries.map(({ attempt }) => attempt), 1) }])
        return entries
      }).pipe(sql.withTransaction, Store.withoutValues("history")),

    check: (reviewer, applicantId) =>
      Effect.gen(function*() {
        const begun = yield* Effect.gen(function*() {
          const { checks, review } = yield* openCase(applicantId)
          const { attempt, dateOfBirth, name, otherNames } = { ...review, attempt: review.attempt + 1 }
          const screened = checks.map(({ request }) => Redacted.value(request.name))
          const people = yield* Effect.forEach(
            [name, ...otherNames].filter((name) => !screened.includes(name)),
            (name) => Person.make({ name, dateOfBirth })
          )
          if (people.length === 0 || !(yield* log(reviewer, "check", [{ applicantId, attempt }]))) {
            return yield* new CaseChanged()
          }
          return { attempt, people, checks }
        }).pipe(sql.withTransaction, Store.withoutValues("check"))
        yield* screen({ applicantId, attempt: begun.attempt }, begun.people, begun.checks)
        return yield* Effect.map(openCase(applicantId), ({ review }) => review).pipe(Store.withoutValues("read"))
        // The service may bill the checks, so a reviewer who disconnects does not interrupt them.
      }).pipe(Effect.uninterruptible),

    conclude: (reviewer, applicantId, { attempt, conclusion, reason }) =>
      Effect.gen(function*() {
        const { review } = yield* openCase(applicantId)
        if (review.attempt !== attempt) return yield* new CaseChanged()
        // A decision that is stored later than the lease must not replace what the reviewer has read.
        yield* store.decide(applicantId, attempt, Store.interrupted(1 + review.otherNames.length))
        if (!(yield* log(reviewer, conclusion, [review], reason))) return yield* new CaseChanged()
      }).pipe(
        sql.withTransaction,
        // After the commit: two reviewers may come to the same conclusion at the same time.
        Effect.zipRight(openCases(sql`id = ${applicantId}`)),
        Effect.map((cases) => ({ status: cases.length > 0 ? "open" as const : "closed" as const })),
        Store.withoutValues("conclude")
      )
  })
})

export const layer = Layer.effect(Cases, make)
