/** Stores applicants, decisions and evidence. Its errors contain the operation and a code, and no values. */
import { AmlCheck, AmlError, Person, Violation } from "@effect-idv/core"
import { HttpApiError } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import {
  Array as Arr,
  Context,
  DateTime,
  Duration,
  Effect,
  Either,
  Layer,
  Option,
  Predicate,
  Redacted,
  Schema
} from "effect"
import { randomUUID } from "node:crypto"
import type { Review } from "./Api.ts"

/** `clear` comes only from the service's "No". Every other result needs a manual review. */
export const Decision = Schema.Struct({
  outcome: Schema.Literal("clear", "review"),
  reason: Schema.String,
  sent: AmlError.Sent
})

export interface Decision extends Schema.Schema.Type<typeof Decision> {}

/** The applicant stored under an idempotency key. */
export interface Claim {
  readonly applicantId: string
  readonly startedAt: DateTime.Utc
  /** True for exactly one caller, which must screen the person. */
  readonly isNew: boolean
  /** False if the key is stored with another person. */
  readonly isSamePerson: boolean
}

export interface Page {
  /** Starts the page after the case of this applicant. */
  readonly after?: string | undefined
  /** Includes applicants without a decision who started before this time. No process works on them. */
  readonly abandonedBefore: DateTime.Utc
}

/** The timeout of each operation. */
export const timeout = Duration.seconds(5)

/** The decision for an applicant whose process ended before it stored one. The check may have been sent. */
export const interrupted: Decision = { outcome: "review", reason: "Interrupted", sent: "unknown" }

/** The database failed, or returned an unexpected row. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  code: Schema.String
}) {}

export interface Service {
  /** Stores the applicant under the key, or returns the applicant who is stored under it. */
  readonly claim: (key: string, person: Person.Person) => Effect.Effect<Claim, StoreUnavailable>
  /** Stores a decision with its evidence, unless a decision exists. Returns the stored decision. */
  readonly decide: (
    applicantId: string,
    decision: Decision,
    check: Option.Option<AmlCheck.AmlCheck>
  ) => Effect.Effect<Decision, StoreUnavailable>
  /** Returns the stored decision. */
  readonly decision: (applicantId: string) => Effect.Effect<Option.Option<Decision>, StoreUnavailable>
  /** Returns up to 100 cases, oldest first. Fails with `NotFound` if the applicant in `after` does not exist. */
  readonly reviews: (page: Page) => Effect.Effect<ReadonlyArray<Review>, HttpApiError.NotFound | StoreUnavailable>
  /** Checks that the database responds. */
  readonly ping: Effect.Effect<void, StoreUnavailable>
}

export class Store extends Context.Tag("onboarding-api/Store")<Store, Service>() {}

const EvidenceText = Schema.parseJson(AmlCheck.AmlCheck)
const decodeEvidence = Violation.decodeUnknown(EvidenceText)

const Applicant = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  dateOfBirth: Schema.String,
  startedAt: Schema.DateTimeUtc
})

const Case = Schema.Struct({
  ...Applicant.fields,
  reason: Schema.String,
  sent: AmlError.Sent,
  content: Schema.NullOr(Schema.String)
})

/** Unlike the error of `Schema.decode`, a violation does not contain the row. */
const decodeRows = <A, I>(schema: Schema.Schema<A, I>) => Violation.decodeUnknown(Schema.Array(schema))
const decodeApplicants = decodeRows(Applicant)
const decodeLastApplicants = decodeRows(Schema.Struct({ id: Schema.String, startedAt: Schema.String }))
const decodeDecisions = decodeRows(Decision)
const decodeCases = decodeRows(Case)

const codeOf = (error: unknown): string => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "cause")) return "row"
  const code = Predicate.hasProperty(error.cause, "code") ? String(error.cause.code) : ""
  return /^[A-Z\d_]{1,40}$/.test(code) ? code : "sql"
}

/**
 * Adds the timeout and a span, and replaces errors. Disables the spans of `@effect/sql`, because they
 * record database errors, which may contain the values of the statement.
 */
const withoutValues = (operation: string) => <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, StoreUnavailable> =>
  effect.pipe(
    Effect.mapError((error) => new StoreUnavailable({ operation, code: codeOf(error) })),
    // A rollback on a broken connection may never end, so the timeout does not wait for it.
    Effect.disconnect,
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => new StoreUnavailable({ operation, code: "timeout" })
    }),
    Effect.withTracerEnabled(false),
    // A tracer receives the result as the exit of the span. Wrapped in a function, it stays hidden.
    Effect.map((value) => () => value),
    Effect.withSpan(`Store.${operation}`),
    Effect.map((value) => value())
  )

const toReview = Effect.fnUntraced(function*({ content, id, startedAt, ...rest }: typeof Case.Type) {
  const review = { ...rest, applicantId: id, since: startedAt }
  if (content === null) return { ...review, evidence: "none" as const }
  const evidence = decodeEvidence(content)
  if (Either.isLeft(evidence)) return { ...review, evidence: "refuted" as const }
  const isVerified = yield* Effect.isSuccess(AmlCheck.verify(evidence.right))
  const { amlProfile } = evidence.right.credential.credentials.attributes
  return {
    ...review,
    evidence: isVerified ? "verified" as const : "refuted" as const,
    amlProfile: Redacted.value(amlProfile)
  }
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = Effect.map(DateTime.now, DateTime.formatIso)

  const decision = (applicantId: string) =>
    sql`SELECT outcome, reason, sent FROM decisions WHERE applicant_id = ${applicantId}`.pipe(
      Effect.flatMap(decodeDecisions),
      Effect.map(Arr.head)
    )

  return Store.of({
    claim: (key, person) =>
      Effect.gen(function*() {
        const { dateOfBirth, name } = yield* Schema.encode(Person.FromInput)(person)
        const id = randomUUID()
        yield* sql`INSERT INTO applicants (id, idempotency_key, name, date_of_birth, started_at)
          VALUES (${id}, ${key}, ${name}, ${dateOfBirth}, ${yield* now}) ON CONFLICT (idempotency_key) DO NOTHING`
        const applicant = yield* sql`SELECT id, name, date_of_birth AS "dateOfBirth", started_at AS "startedAt"
          FROM applicants WHERE idempotency_key = ${key}`.pipe(
          Effect.flatMap(decodeApplicants),
          Effect.flatMap(Arr.head)
        )
        return {
          applicantId: applicant.id,
          startedAt: applicant.startedAt,
          isNew: applicant.id === id,
          isSamePerson: applicant.name === name && applicant.dateOfBirth === dateOfBirth
        }
      }).pipe(withoutValues("claim")),

    decide: (applicantId, { outcome, reason, sent }, check) =>
      Effect.gen(function*() {
        yield* sql`INSERT INTO decisions (applicant_id, outcome, reason, sent, decided_at)
          VALUES (${applicantId}, ${outcome}, ${reason}, ${sent}, ${yield* now})
          ON CONFLICT (applicant_id) DO NOTHING`
        // Stored even if another process has decided: the service responded, and may have billed the check.
        if (Option.isSome(check)) {
          const content = yield* Schema.encode(EvidenceText)(check.value)
          yield* sql`INSERT INTO evidence (check_id, applicant_id, content)
            VALUES (${check.value.checkId}, ${applicantId}, ${content}) ON CONFLICT (check_id) DO NOTHING`
        }
        return yield* Effect.flatten(decision(applicantId))
      }).pipe(sql.withTransaction, withoutValues("decide")),

    decision: (applicantId) => withoutValues("decision")(decision(applicantId)),

    reviews: ({ abandonedBefore, after }) =>
      Effect.gen(function*() {
        const lastRead = after === undefined
          ? Option.some({ id: "", startedAt: "" })
          : yield* sql`SELECT id, started_at AS "startedAt" FROM applicants WHERE id = ${after}`.pipe(
            Effect.flatMap(decodeLastApplicants),
            Effect.map(Arr.head)
          )
        if (Option.isNone(lastRead)) return Option.none()
        const { id, startedAt } = lastRead.value
        const { reason, sent } = interrupted
        // Selects from applicants and not from decisions, because an applicant without a decision may be a match.
        return yield* sql`SELECT a.id, a.name, a.date_of_birth AS "dateOfBirth", a.started_at AS "startedAt",
            coalesce(d.reason, ${reason}) AS reason, coalesce(d.sent, ${sent}) AS sent, e.content
          FROM applicants a LEFT JOIN decisions d ON d.applicant_id = a.id
            LEFT JOIN evidence e ON e.applicant_id = a.id
          WHERE (d.outcome = 'review' OR (d.outcome IS NULL AND a.started_at < ${DateTime.formatIso(abandonedBefore)}))
            AND (a.started_at, a.id) > (${startedAt}, ${id})
          ORDER BY a.started_at, a.id LIMIT 100`.pipe(
          Effect.flatMap(decodeCases),
          Effect.flatMap(Effect.forEach(toReview)),
          Effect.asSome
        )
      }).pipe(
        withoutValues("reviews"),
        Effect.flatMap(Option.match({ onNone: () => new HttpApiError.NotFound(), onSome: Effect.succeed }))
      ),

    ping: withoutValues("ping")(sql`SELECT 1`)
  })
})

export const layer: Layer.Layer<Store, never, SqlClient.SqlClient> = Layer.effect(Store, make)
