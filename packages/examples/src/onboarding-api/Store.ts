/** Stores applicants, decisions and evidence. `Cases` reads them. Its errors contain the operation and a code, and no values. */
import { AmlCheck, Person, Violation } from "@effect-idv/core"
import { HttpApiError } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import type { Option } from "effect"
import { Array as Arr, Context, DateTime, Duration, Effect, Layer, Predicate, Redacted, Schema } from "effect"
import { randomUUID } from "node:crypto"
import * as Recipe from "../recipes/screening.ts"
import { CaseChanged, SignUpForm } from "./Api.ts"

/** The decision on all names: `reason` is that of the worst result, and `sent` the least certain. */
export const Decision = Schema.Struct({
  ...Recipe.Decision.pick("outcome", "reason", "sent").fields,
  /** How many checks the service may have performed. */
  checks: Schema.Int
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

/** The timeout of each operation. */
export const timeout = Duration.seconds(5)

/** The decision for an applicant whose process ended before it stored one. The checks may have been sent. */
export const interrupted = (checks: number): Decision => ({ ...Recipe.interrupted, checks })

/** The database failed, or returned an unexpected row. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  code: Schema.String
}) {}

export class Store extends Context.Tag("onboarding-api/Store")<Store, {
  /** Stores the applicant under the key, or returns the applicant who is stored under it. */
  readonly claim: (
    key: string,
    people: Arr.NonEmptyReadonlyArray<Person.Person>,
    form: typeof SignUpForm.Type
  ) => Effect.Effect<Claim, StoreUnavailable>
  /** Stores the decision of an attempt with its evidence, unless it has a decision. Returns the stored decision. */
  readonly decide: (
    applicantId: string,
    attempt: number,
    decision: Decision,
    checks?: ReadonlyArray<AmlCheck.AmlCheck>
  ) => Effect.Effect<Decision, StoreUnavailable>
  /** Returns the stored decision on the sign-up. */
  readonly decision: (applicantId: string) => Effect.Effect<Option.Option<Decision>, StoreUnavailable>
  /** Checks that the database responds. */
  readonly ping: Effect.Effect<void, StoreUnavailable>
}>() {}

const EvidenceText = Schema.parseJson(AmlCheck.AmlCheck)
export const FormText = Schema.parseJson(SignUpForm)
export const Names = Schema.parseJson(Schema.Array(Schema.String))

const Applicant = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  otherNames: Schema.String,
  dateOfBirth: Schema.String,
  startedAt: Schema.DateTimeUtc
})

/** Unlike the error of `Schema.decode`, a violation does not contain the row. */
export const decodeRows = <A, I>(schema: Schema.Schema<A, I>) => Violation.decodeUnknown(Schema.Array(schema))
const decodeApplicants = decodeRows(Applicant)
const decodeDecisions = decodeRows(Decision)

/** The code of an error of the database, without values. */
export const codeOf = (error: unknown): string => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "cause")) return "row"
  const code = Predicate.hasProperty(error.cause, "code") ? String(error.cause.code) : ""
  return /^[A-Z\d_]{1,40}$/.test(code) ? code : "sql"
}

/**
 * Adds the timeout and a span, and replaces errors of the database. Disables the spans of `@effect/sql`, because they
 * record database errors, which may contain the values of the statement.
 */
export const withoutValues = (operation: string) =>
<A, E>(
  effect: Effect.Effect<A, E>
): Effect.Effect<A, StoreUnavailable | Extract<E, CaseChanged | HttpApiError.NotFound>> =>
  effect.pipe(
    Effect.mapError((error) => isExpected<E>(error) ? error : new StoreUnavailable({ operation, code: codeOf(error) })),
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

const isExpected = <E>(error: E): error is Extract<E, CaseChanged | HttpApiError.NotFound> =>
  error instanceof CaseChanged || error instanceof HttpApiError.NotFound

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = Effect.map(DateTime.now, DateTime.formatIso)

  const decision = (applicantId: string, attempt = 1) =>
    sql`SELECT outcome, reason, sent, checks FROM decisions
      WHERE applicant_id = ${applicantId} AND attempt = ${attempt}`.pipe(
      Effect.flatMap(decodeDecisions),
      Effect.map(Arr.head)
    )

  return Store.of({
    claim: (key, people, form) =>
      Effect.gen(function*() {
        const [{ dateOfBirth, name }, ...others] = yield* Effect.forEach(people, (person) =>
          Schema.encode(Person.FromInput)(person))
        const otherNames = yield* Schema.encode(Names)(others.map(({ name }) =>
          name
        ))
        const formText = yield* Schema.encode(FormText)(form)
        const id = randomUUID()
        yield* sql`INSERT INTO applicants (id, idempotency_key, name, other_names, date_of_birth, form, started_at)
          VALUES (${id}, ${key}, ${name}, ${otherNames}, ${dateOfBirth}, ${formText}, ${yield* now})
          ON CONFLICT (idempotency_key) DO NOTHING`
        const applicant = yield* sql`SELECT id, name, other_names AS "otherNames", date_of_birth AS "dateOfBirth",
            started_at AS "startedAt"
          FROM applicants WHERE idempotency_key = ${key}`.pipe(
          Effect.flatMap(decodeApplicants),
          Effect.flatMap(Arr.head)
        )
        return {
          applicantId: applicant.id,
          startedAt: applicant.startedAt,
          isNew: applicant.id === id,
          isSamePerson: applicant.name === name && applicant.otherNames === otherNames &&
            applicant.dateOfBirth === dateOfBirth
        }
      }).pipe(withoutValues("claim")),

    decide: (applicantId, attempt, { checks, outcome, reason, sent }, evidence = []) =>
      Effect.gen(function*() {
        yield* sql`INSERT INTO decisions (applicant_id, attempt, outcome, reason, sent, checks, decided_at)
          VALUES (${applicantId}, ${attempt}, ${outcome}, ${reason}, ${sent}, ${checks}, ${yield* now})
          ON CONFLICT (applicant_id, attempt) DO NOTHING`
        // Stored even if another process has decided: the service responded, and may have billed the check.
        for (const check of evidence) {
          const content = yield* Schema.encode(EvidenceText)(check)
          yield* sql`INSERT INTO evidence (check_id, applicant_id, name, content)
            VALUES (${check.checkId}, ${applicantId}, ${Redacted.value(check.request.name)}, ${content})
            ON CONFLICT (check_id) DO NOTHING`
        }
        return yield* Effect.flatten(decision(applicantId, attempt))
      }).pipe(sql.withTransaction, withoutValues("decide")),

    decision: (applicantId) => withoutValues("decision")(decision(applicantId)),

    ping: withoutValues("ping")(sql`SELECT 1`)
  })
})

export const layer: Layer.Layer<Store, never, SqlClient.SqlClient> = Layer.effect(Store, make)
