/** Screens a sign-up once and stores the decision, for the recipes of Fastify, Express, NestJS and Next.js. */
import { AmlCheck, AmlClient, AmlError, Failure, Person } from "@effect-idv/core"
import { Context, Effect, Either, Equal, Layer, Option, Predicate, Schedule, Schema } from "effect"

/** What to store about a screening. */
export const Decision = Schema.Struct({
  outcome: Schema.Literal("clear", "review"),
  /** The result of the check, the tag of its error, `Interrupted`, or `InReview` for a second form. */
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

/** The person has an open review, so no check was sent. */
const inReview: Decision = { outcome: "review", reason: "InReview", sent: "no" }

/** A table of your database. An error of the database is a defect. */
export class Decisions extends Context.Tag("recipes/Decisions")<Decisions, {
  /**
   * Inserts a row with the person as entered and without a decision, and commits. If the row exists, it stays, and the
   * result is its person.
   */
  readonly begin: (id: string, person: Person.Input) => Effect.Effect<Option.Option<Person.Input>>
  /** Deletes a row without a decision. */
  readonly release: (id: string) => Effect.Effect<void>
  /** Whether this person has an open review. Compare the names as {@link Person.make} normalises them. */
  readonly isInReview: (person: Person.Person) => Effect.Effect<boolean>
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

const isSame = (input: Person.Input, person: Person.Person) =>
  Effect.match(Person.make(input), { onFailure: () => false, onSuccess: Equal.equals(person) })

/** Returns the layer of a table in memory, for a first try. */
export const decisionsInMemory = (rows = new Map<string, Row>()): Layer.Layer<Decisions> => {
  const decode = (row: Row | undefined) =>
    Effect.orDie(
      Effect.suspend(() => Effect.transposeMapOption(Option.fromNullable(row?.decision), Schema.decode(DecisionText)))
    )
  return Layer.succeed(Decisions, {
    begin: (id, person) =>
      Effect.sync(() => {
        const row = rows.get(id)
        if (row === undefined) {
          rows.set(id, { person })
        }
        return Option.fromNullable(row?.person)
      }),
    release: (id) => Effect.sync(() => void rows.delete(id)),
    isInReview: (person) =>
      Effect.filter(rows.values(), (row) => isSame(row.person, person)).pipe(
        Effect.flatMap(Effect.forEach(decode)),
        Effect.map((decisions) => decisions.some(Option.exists(({ outcome }) => outcome === "review")))
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

/** The deadline of a check in milliseconds. An applicant waits, so it is shorter than the 30 s of the client. */
const deadline = 3000

/**
 * The time of the response "received" in milliseconds. A match is known at once and an outage only at the deadline, so
 * the time of an earlier response would reveal the reason.
 */
export const receivedAfter = deadline + 500

/** Looks for the decision of another request for longer than a check may take. */
const whileAnotherChecks = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(receivedAfter / 100))

/**
 * Screens the person of a body `{ key, name, dateOfBirth }`, and stores the decision. `key` is a UUID that the page makes
 * for each sign-up. The same sign-up sent again gets the decision of the first, and sends no second check. A key that was
 * used for another person is refused with the code `key_reused`.
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
    // The key is stored before anything depends on the person, so that a refused key reveals nothing about the first.
    const first = yield* decisions.begin(key, { name, dateOfBirth })
    if (Option.isNone(first)) {
      // A second form after an outage would otherwise reveal a match: an outage ends, and a match does not.
      const decision = (yield* decisions.isInReview(person))
        ? inReview
        : decisionOf(yield* Effect.either(AmlClient.withPolicy(aml.check(person), { deadline })))
      yield* decisions.decide(key, decision)
      return decision
    }
    if (!(yield* isSame(first.value, person))) return yield* Effect.fail([{ field: "key", code: "key_reused" }])
    return yield* Effect.flatten(decisions.find(key)).pipe(
      Effect.retry(whileAnotherChecks),
      Effect.orElseSucceed(() => interrupted)
    )
  }).pipe(Effect.either)
