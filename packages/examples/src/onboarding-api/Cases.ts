/** The cases for the back office, and the log of who read, screened and concluded each. */
import { AmlCheck, AmlError, Person, Violation } from "@effect-idv/core"
import { HttpApiError } from "@effect/platform"
import { SqlClient, type Statement } from "@effect/sql"
import { Array as Arr, Context, DateTime, Effect, Fiber, FiberSet, Layer, Option, Redacted, Schema } from "effect"
import { CaseChanged, type Conclusion, HistoryEntry, type Review } from "./Api.ts"
import { type People, peopleOf, Screening } from "./Screening.ts"
import * as Settings from "./Settings.ts"
import * as Store from "./Store.ts"

type Failure = HttpApiError.NotFound | Store.StoreUnavailable

export class Cases extends Context.Tag("onboarding-api/Cases")<Cases, {
  /**
   * True if another applicant with one of these names and the same date of birth has no decision yet, or is a case that
   * two reviewers have not cleared.
   */
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
  form: Schema.NullOr(Store.FormText),
  startedAt: Schema.DateTimeUtc,
  attempt: Schema.Int,
  reason: Schema.NullOr(Schema.String),
  sent: Schema.NullOr(AmlError.Sent),
  // PostgreSQL returns a sum as text.
  checks: Schema.Union(Schema.Int, Schema.NumberFromString)
})

const EvidenceRow = Schema.Struct({ applicantId: Schema.String, name: Schema.String, content: Schema.String })

const decodeRows = Store.decodeRows(Row)
const decodeNames = Store.decodeRows(Row.pick("name", "otherNames"))
const decodeStarts = Store.decodeRows(Schema.Struct({ id: Schema.String, startedAt: Schema.String }))
const decodeEvidenceRows = Store.decodeRows(EvidenceRow)
const decodeEvidence = Violation.decodeUnknown(Schema.parseJson(AmlCheck.AmlCheck))
const decodeHistory = Store.decodeRows(HistoryEntry)

type CaseRow = typeof Row.Type
type EvidenceRow = typeof EvidenceRow.Type

/**
 * `checks`: those whose evidence is as it was stored. `unscreened`: the names without one. `review`: what a reviewer
 * reads.
 */
const toCase = (evidence: ReadonlyArray<EvidenceRow>) =>
  Effect.fnUntraced(function*({ checks, form, id, reason, sent, startedAt, ...row }: CaseRow) {
    const responses = yield* Effect.forEach(
      evidence.filter(({ applicantId }) => applicantId === id),
      ({ content, name }) =>
        Effect.flatMap(decodeEvidence(content), (check) => Effect.as(AmlCheck.verify(check), check)).pipe(
          Effect.option,
          Effect.map((check) => ({ name, check }))
        )
    )
    const verified = Arr.getSomes(responses.map(({ check }) => check))
    const unscreened = Arr.difference(
      [row.name, ...row.otherNames],
      verified.map(({ request }) => Redacted.value(request.name))
    )
    const interrupted = Store.interrupted(row.attempt === 1 ? 1 + row.otherNames.length : unscreened.length)
    return {
      checks: verified,
      form: form ?? row,
      interrupted,
      isDecided: reason !== null,
      unscreened,
      review: {
        ...row,
        applicantId: id,
        since: startedAt,
        reason: reason ?? interrupted.reason,
        sent: sent ?? interrupted.sent,
        checks,
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
  const { screen } = yield* Screening
  const { lease } = yield* Settings.settings

  /**
   * The applicants that a condition selects. `outcome` is that of the sign-up, `reason` that of the latest attempt, and
   * `conclusion` that of two reviewers about what is stored now.
   */
  const applicants = (condition: Statement.Fragment) =>
    sql`(SELECT a.*, s.outcome, d.reason,
        (SELECT sent FROM decisions WHERE applicant_id = a.id ORDER BY sent = 'unknown' DESC, sent LIMIT 1) AS sent,
        (SELECT coalesce(sum(checks), 0) FROM decisions WHERE applicant_id = a.id) AS checks,
        (SELECT action FROM actions WHERE applicant_id = a.id AND attempt = a.attempt
          AND evidence = (SELECT count(*) FROM evidence WHERE applicant_id = a.id)
          AND action IN ('clear', 'refuse') GROUP BY action HAVING count(*) > 1
          ORDER BY action DESC LIMIT 1) AS conclusion
      FROM (SELECT id, name, other_names AS "otherNames", date_of_birth AS "dateOfBirth", form,
            started_at AS "startedAt", coalesce(attempt, 1) AS attempt,
            coalesce(acted_at, started_at) AS "attemptStartedAt"
          FROM applicants LEFT JOIN (SELECT applicant_id, max(attempt) AS attempt, max(acted_at) AS acted_at
            FROM actions WHERE action = 'check' GROUP BY applicant_id) checks ON applicant_id = id
          WHERE ${condition}) a
        LEFT JOIN decisions s ON s.applicant_id = a.id AND s.attempt = 1
        LEFT JOIN decisions d ON d.applicant_id = a.id AND d.attempt = a.attempt) applicants`

  /** The first 100 open cases, also of attempts without a decision whose process cannot be working on them. */
  const casesOf = Effect.fnUntraced(function*(condition: Statement.Fragment) {
    const abandonedBefore = DateTime.formatIso(DateTime.subtractDuration(yield* DateTime.now, lease))
    const rows = yield* sql`SELECT * FROM ${applicants(condition)}
      WHERE coalesce(outcome, 'review') = 'review' AND conclusion IS NULL
        AND (reason IS NOT NULL OR "attemptStartedAt" < ${abandonedBefore})
      ORDER BY "startedAt", id LIMIT 100`.pipe(Effect.flatMap(decodeRows))
    const evidence = rows.length === 0 ?
      [] :
      yield* sql`SELECT applicant_id AS "applicantId", name, content FROM evidence
      WHERE ${sql.in("applicant_id", rows.map(({ id }) => id))} ORDER BY name`.pipe(Effect.flatMap(decodeEvidenceRows))
    return yield* Effect.forEach(rows, toCase(evidence))
  })

  /** Only with stored decisions: a late decision cannot replace what a reviewer has read. */
  const openCases = Effect.fnUntraced(function*(condition: Statement.Fragment) {
    const abandoned = (yield* casesOf(condition)).filter(({ isDecided }) => !isDecided)
    if (abandoned.length > 0) {
      const decided_at = DateTime.formatIso(yield* DateTime.now)
      yield* sql`INSERT INTO decisions ${
        sql.insert(abandoned.map(({ interrupted, review: { applicantId, attempt } }) => ({
          applicant_id: applicantId,
          attempt,
          ...interrupted,
          decided_at
        })))
      } ON CONFLICT DO NOTHING`
    }
    return (yield* casesOf(condition)).filter(({ isDecided }) => isDecided)
  })

  const startOf = (applicantId: string) =>
    sql`SELECT id, started_at AS "startedAt" FROM applicants WHERE id = ${applicantId}`.pipe(
      Effect.flatMap(decodeStarts),
      Effect.flatMap(Arr.head),
      Effect.catchTag("NoSuchElementException", () => new HttpApiError.NotFound())
    )

  /** The case that a reviewer acts on. Others who act on it wait until the end of the transaction. */
  const openCase = Effect.fnUntraced(function*(applicantId: string) {
    const locked = yield* sql`UPDATE applicants SET id = id WHERE id = ${applicantId} RETURNING id`
    if (locked.length === 0) return yield* new HttpApiError.NotFound()
    return yield* Effect.flatMap(openCases(sql`id = ${applicantId}`), Arr.head).pipe(
      Effect.catchTag("NoSuchElementException", () => new CaseChanged())
    )
  })

  /** Adds an action to the log of each case. Returns false if an index does not allow one of them. */
  const log = Effect.fnUntraced(function*(
    reviewer: string,
    action: HistoryEntry["action"],
    cases: ReadonlyArray<Pick<Review, "applicantId" | "attempt">>,
    about: { readonly evidence: number; readonly reason: string | null } = { evidence: 0, reason: null }
  ) {
    if (cases.length === 0) return true
    const acted_at = DateTime.formatIso(yield* DateTime.now)
    const rows = yield* sql`INSERT INTO actions ${
      sql.insert(cases.map(({ applicantId, attempt }) => ({
        applicant_id: applicantId,
        attempt,
        reviewer,
        action,
        ...about,
        acted_at
      })))
    } ON CONFLICT DO NOTHING RETURNING attempt`
    return rows.length === cases.length
  })

  const inFlight = yield* FiberSet.make<Review, CaseChanged | Failure>()
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeoutOption(FiberSet.awaitEmpty(inFlight), lease)))

  return Cases.of({
    isInReview: (applicantId, people) =>
      Effect.gen(function*() {
        const [{ dateOfBirth }] = yield* Effect.forEach(people, (person) => Schema.encode(Person.FromInput)(person))
        const names = people.map(({ name }) => Redacted.value(name))
        const others = yield* sql`SELECT name, "otherNames"
          FROM ${applicants(sql`date_of_birth = ${dateOfBirth} AND id <> ${applicantId}`)}
          WHERE outcome IS NULL OR outcome = 'review' AND coalesce(conclusion, 'refuse') = 'refuse'`.pipe(
          Effect.flatMap(decodeNames)
        )
        return others.some(({ name, otherNames }) => Arr.intersection([name, ...otherNames], names).length > 0)
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
          const { checks, form, review, unscreened } = yield* openCase(applicantId)
          const people = (yield* peopleOf(form)).filter(({ name }) => unscreened.includes(Redacted.value(name)))
          const attempt = review.attempt + 1
          if (people.length === 0 || !(yield* log(reviewer, "check", [{ applicantId, attempt }]))) {
            return yield* new CaseChanged()
          }
          return { attempt, people, checks }
        }).pipe(sql.withTransaction, Store.withoutValues("check"))
        yield* screen({ applicantId, attempt: begun.attempt }, begun.people, begun.checks)
        return yield* Effect.map(openCase(applicantId), ({ review }) => review).pipe(Store.withoutValues("read"))
      }).pipe(
        // The service may bill the checks, so a reviewer who disconnects does not interrupt them.
        (check) => FiberSet.run(inFlight, check),
        Effect.flatMap(Fiber.join)
      ),

    conclude: (reviewer, applicantId, { attempt, conclusion, evidence, reason }) =>
      Effect.gen(function*() {
        const { review, unscreened } = yield* openCase(applicantId)
        const isRead = review.attempt === attempt && review.evidence.length === evidence
        if (!isRead || conclusion === "clear" && unscreened.length > 0) return yield* new CaseChanged()
        if (!(yield* log(reviewer, conclusion, [review], { evidence, reason }))) return yield* new CaseChanged()
        const { length } = yield* openCases(sql`id = ${applicantId}`)
        return { status: length > 0 ? "open" as const : "closed" as const }
      }).pipe(sql.withTransaction, Store.withoutValues("conclude"))
  })
})

export const layer = Layer.scoped(Cases, make)
