/** Applicants, decisions and evidence. Its failures hold the operation and a code, and no value. */
import { AmlError, Evidence, Person, Violation } from "@effect-idv/core"
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

/** `clear` is only ever what the service said; everything else is for a person to look at. */
export const Decision = Schema.Struct({
  outcome: Schema.Literal("clear", "review"),
  reason: Schema.String,
  sent: AmlError.Sent
})

export interface Decision extends Schema.Schema.Type<typeof Decision> {}

/**
 * - `isNew`: the key was not there; whoever gets this screens the person, and nobody else does.
 * - `isSamePerson`: the key came with this person.
 */
export interface Claim {
  readonly applicantId: string
  readonly startedAt: DateTime.Utc
  readonly isNew: boolean
  readonly isSamePerson: boolean
}

/**
 * - `after`: only the cases that come after the one of this applicant.
 * - `leftBefore`: whoever was begun before this, and has no decision, is nobody's any more.
 */
export interface Page {
  readonly after?: string | undefined
  readonly leftBefore: DateTime.Utc
}

/** When a statement is given up. */
export const timeout = Duration.seconds(5)

/** What is known of somebody who was begun and has no decision: the service may have been asked. */
export const interrupted: Decision = { outcome: "review", reason: "Interrupted", sent: "unknown" }

/** The database is not there, or says something else than it should. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  code: Schema.String
}) {}

/**
 * - `claim`: stores the applicant under the key, or finds who is there.
 * - `decide`: stores a decision with its evidence, unless there is one, and gives the one that counts.
 * - `reviews`: the oldest hundred cases of a page.
 */
export interface Service {
  readonly claim: (key: string, person: Person.Person) => Effect.Effect<Claim, StoreUnavailable>
  readonly decide: (
    applicantId: string,
    decision: Decision,
    evidence: Option.Option<Evidence.Evidence>
  ) => Effect.Effect<Decision, StoreUnavailable>
  readonly decision: (applicantId: string) => Effect.Effect<Option.Option<Decision>, StoreUnavailable>
  readonly reviews: (page: Page) => Effect.Effect<ReadonlyArray<Review>, HttpApiError.NotFound | StoreUnavailable>
  readonly ping: Effect.Effect<void, StoreUnavailable>
}

export class Store extends Context.Tag("onboarding-api/Store")<Store, Service>() {}

const EvidenceText = Schema.parseJson(Evidence.Evidence)
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

/** Not `Schema.decode`: its failure shows the row. */
const rows = <A, I>(schema: Schema.Schema<A, I>) => Violation.decodeUnknown(Schema.Array(schema))
const decodeApplicants = rows(Applicant)
const decodePlaces = rows(Schema.Struct({ id: Schema.String, startedAt: Schema.String }))
const decodeDecisions = rows(Decision)
const decodeCases = rows(Case)

const codeOf = (error: unknown): string => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "cause")) return "row"
  const code = Predicate.hasProperty(error.cause, "code") ? String(error.cause.code) : ""
  return /^[A-Z\d_]{1,40}$/.test(code) ? code : "sql"
}

/**
 * Without spans of `@effect/sql`: a database names in its errors what it could not store, and a
 * span keeps the error.
 */
const guarded = (operation: string) => <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, StoreUnavailable> =>
  effect.pipe(
    Effect.mapError((error) => new StoreUnavailable({ operation, code: codeOf(error) })),
    // A rollback on a connection that is dead may never end.
    Effect.disconnect,
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => new StoreUnavailable({ operation, code: "timeout" })
    }),
    Effect.withTracerEnabled(false),
    // A tracer gets the result as the exit of the span: in a function it is not for all to see.
    Effect.map((value) => () => value),
    Effect.withSpan(`Store.${operation}`),
    Effect.map((value) => value())
  )

const toReview = Effect.fnUntraced(function*({ content, id, startedAt, ...rest }: typeof Case.Type) {
  const review = { ...rest, applicantId: id, since: startedAt }
  if (content === null) return { ...review, evidence: "none" as const }
  const evidence = decodeEvidence(content)
  if (Either.isLeft(evidence)) return { ...review, evidence: "refuted" as const }
  const holds = yield* Effect.isSuccess(Evidence.verify(evidence.right))
  const { amlProfile } = evidence.right.credential.credentials.attributes
  return {
    ...review,
    evidence: holds ? "holds" as const : "refuted" as const,
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
      }).pipe(guarded("claim")),

    decide: (applicantId, { outcome, reason, sent }, evidence) =>
      Effect.gen(function*() {
        yield* sql`INSERT INTO decisions (applicant_id, outcome, reason, sent, decided_at)
          VALUES (${applicantId}, ${outcome}, ${reason}, ${sent}, ${yield* now})
          ON CONFLICT (applicant_id) DO NOTHING`
        // Also if somebody else decided in the meantime: it was answered, and perhaps billed.
        if (Option.isSome(evidence)) {
          const content = yield* Schema.encode(EvidenceText)(evidence.value)
          yield* sql`INSERT INTO evidence (check_id, applicant_id, content)
            VALUES (${evidence.value.checkId}, ${applicantId}, ${content}) ON CONFLICT (check_id) DO NOTHING`
        }
        return yield* Effect.flatten(decision(applicantId))
      }).pipe(sql.withTransaction, guarded("decide")),

    decision: (applicantId) => guarded("decision")(decision(applicantId)),

    reviews: ({ after, leftBefore }) =>
      Effect.gen(function*() {
        const last = after === undefined
          ? Option.some({ id: "", startedAt: "" })
          : yield* sql`SELECT id, started_at AS "startedAt" FROM applicants WHERE id = ${after}`.pipe(
            Effect.flatMap(decodePlaces),
            Effect.map(Arr.head)
          )
        if (Option.isNone(last)) return Option.none()
        const { id, startedAt } = last.value
        const { reason, sent } = interrupted
        // From the applicants, not from the decisions: whoever has none may be a match.
        return yield* sql`SELECT a.id, a.name, a.date_of_birth AS "dateOfBirth", a.started_at AS "startedAt",
            coalesce(d.reason, ${reason}) AS reason, coalesce(d.sent, ${sent}) AS sent, e.content
          FROM applicants a LEFT JOIN decisions d ON d.applicant_id = a.id
            LEFT JOIN evidence e ON e.applicant_id = a.id
          WHERE (d.outcome = 'review' OR (d.outcome IS NULL AND a.started_at < ${DateTime.formatIso(leftBefore)}))
            AND (a.started_at, a.id) > (${startedAt}, ${id})
          ORDER BY a.started_at, a.id LIMIT 100`.pipe(
          Effect.flatMap(decodeCases),
          Effect.flatMap(Effect.forEach(toReview)),
          Effect.asSome
        )
      }).pipe(
        guarded("reviews"),
        Effect.flatMap(Option.match({ onNone: () => new HttpApiError.NotFound(), onSome: Effect.succeed }))
      ),

    ping: guarded("ping")(sql`SELECT 1`)
  })
})

export const layer: Layer.Layer<Store, never, SqlClient.SqlClient> = Layer.effect(Store, make)
