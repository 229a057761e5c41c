/** Screens a sign-up once and stores the decision, for the recipes of Fastify, Express, NestJS and Next.js. */
import { AmlCheck, AmlClient, AmlError, Failure, Person } from "@effect-idv/core"
import { Context, Effect, Either, Equal, Layer, Option, Predicate, Schedule, Schema } from "effect"
import { createHash } from "node:crypto"

/** What to store about a screening. */
export const Decision = Schema.Struct({
  outcome: Schema.Literal("clear", "review"),
  /** The result of the check, the tag of its error, or `Interrupted`. */
  reason: Schema.String,
  /** Whether the service may have performed and billed the check. */
  sent: AmlError.Sent,
  /** What a reviewer needs: the id of the check, its warnings, the address of the profile, and the response. */
  check: Schema.optionalWith(AmlCheck.AmlCheck, { exact: true })
})

export interface Decision extends Schema.Schema.Type<typeof Decision> {}

const decideAs = (outcome: Decision["outcome"]) => (check: AmlCheck.AmlCheck): Decision => ({
  outcome,
  reason: check.result,
  sent: "answered",
  check
})

/** Decides on a screening: only a "No" is clear. A doubtful "No" and every error are cases for review. */
export const decisionOf: (result: Either.Either<AmlCheck.AmlCheck, Failure.Failure>) => Decision = Either.match({
  onLeft: (failure): Decision => ({ outcome: "review", reason: failure._tag, sent: Failure.facts(failure).sent }),
  onRight: AmlCheck.match({
    onNo: decideAs("clear"),
    onDoubtfulNo: decideAs("review"),
    onPotentialMatch: decideAs("review")
  })
})

/** A check began and its decision was not stored: the service may have performed and billed it. */
export const interrupted: Decision = { outcome: "review", reason: "Interrupted", sent: "unknown" }

/** A table of your database. An error of the database is a defect. */
export class Decisions extends Context.Tag("recipes/Decisions")<Decisions, {
  /** Inserts a row with the person as entered and without a decision, and commits. Returns false if the row exists. */
  readonly begin: (id: string, person: Person.Input) => Effect.Effect<boolean>
  /** Deletes a row without a decision. */
  readonly release: (id: string) => Effect.Effect<void>
  /** The decision of an open review of this person. Compare the names as {@link Person.make} normalises them. */
  readonly review: (person: Person.Person) => Effect.Effect<Option.Option<Decision>>
  readonly find: (id: string) => Effect.Effect<Option.Option<Decision>>
  /** Writes the decision, unless the row has one: the first stays. */
  readonly decide: (id: string, decision: Decision) => Effect.Effect<void>
}>() {}

const DecisionText = Schema.parseJson(Decision)

/** A row without a decision for longer than a check may take is a case for review, as if it were `interrupted`. */
export interface Row {
  readonly person: Person.Input
  /** As JSON. It contains personal data. */
  readonly decision?: string
}

/** The table in memory, for a first try. */
export const decisionsInMemory = (rows = new Map<string, Row>()): Layer.Layer<Decisions> => {
  const decode = (row: Row | undefined) =>
    Effect.orDie(
      Effect.suspend(() => Effect.transposeMapOption(Option.fromNullable(row?.decision), Schema.decode(DecisionText)))
    )
  return Layer.succeed(Decisions, {
    begin: (id, person) => Effect.sync(() => !rows.has(id) && rows.set(id, { person }) === rows),
    release: (id) => Effect.sync(() => void rows.delete(id)),
    review: (person) =>
      Effect.filter(
        rows.values(),
        (row) => Effect.match(Person.make(row.person), { onFailure: () => false, onSuccess: Equal.equals(person) })
      ).pipe(
        Effect.flatMap(Effect.forEach(decode)),
        Effect.map((decisions) =>
          Option.firstSomeOf(decisions.map(Option.filter(({ outcome }) => outcome === "review")))
        )
      ),
    find: (id) => Effect.suspend(() => decode(rows.get(id))),
    decide: (id, decision) =>
      Effect.map(Effect.orDie(Schema.encode(DecisionText)(decision)), (text) => {
        const row = rows.get(id)
        if (row !== undefined) {
          rows.set(id, { decision: text, ...row })
        }
      })
  })
}

/** A field of a form or of a JSON body. Anything but a text becomes the empty text, which is rejected. */
const text = (body: unknown, field: string): string =>
  Predicate.hasProperty(body, field) && Predicate.isString(body[field]) ? body[field] : ""

/** What to correct in the body, without its values. */
export type Issues = ReadonlyArray<{ readonly field: string; readonly code: string }>

/** Looks for the decision of another request for longer than a check may take. */
const whileAnotherChecks = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(35))

/**
 * Screens the person of a body `{ key, name, dateOfBirth }`, and stores the decision. `key` is a UUID that the page makes
 * for each sign-up. The same sign-up sent again gets the decision of the first, and sends no second check.
 */
export const signUp = (
  body: unknown
): Effect.Effect<Either.Either<Decision, Issues>, never, AmlClient.AmlClient | Decisions> =>
  Effect.gen(function*() {
    const [key, name, dateOfBirth] = [text(body, "key"), text(body, "name"), text(body, "dateOfBirth")]
    if (!Schema.is(Schema.UUID)(key)) return yield* Effect.fail([{ field: "key", code: "no_uuid" }])
    const person = yield* Effect.mapError(Person.make({ name, dateOfBirth }), ({ issues }) => issues)
    const aml = yield* AmlClient.AmlClient
    const decisions = yield* Decisions
    // A second form after an outage would otherwise reveal a match: an outage ends, and a match does not.
    const review = yield* decisions.review(person)
    if (Option.isSome(review)) return review.value
    // A key that is used for another person begins another check: it must not return a decision about somebody else.
    const normalised = yield* Effect.orDie(Schema.encode(Person.FromInput)(person))
    const id = createHash("sha256").update(JSON.stringify([key, normalised])).digest("hex")
    if (yield* decisions.begin(id, { name, dateOfBirth })) {
      const check = AmlClient.withPolicy(aml.check(person), { deadline: "3 seconds" })
      const decision = decisionOf(yield* Effect.either(check))
      yield* decisions.decide(id, decision)
      return decision
    }
    return yield* Effect.flatten(decisions.find(id)).pipe(
      Effect.retry(whileAnotherChecks),
      Effect.orElseSucceed(() => interrupted)
    )
  }).pipe(Effect.either)
